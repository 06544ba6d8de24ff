#!/usr/bin/env python3
# gpt-nano-sort, a real GPT-2 that sorts six letters: tfc against the
# activations that its author published, and all 729 inputs.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import itertools
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "..", "golden"))
SKIPPED = 77
LETTERS, LENGTH = 3, 6

import tensors
from compare import check_floats
from tool import Failure, Tool


def check_logits(run, folder):
    golden = tensors.read(os.path.join(folder, "goldens.safetensors"))
    # The file has the token ids as floats.
    ids = [int(value) for value in golden["idx"].data]
    got = run({"input_ids": tensors.Tensor("I64", golden["idx"].shape, ids)})
    return check_floats("logits", golden["lm_head"], got["logits"])


def check_sorting(run):
    """One forward pass over input and answer: what follows each prefix?"""
    inputs = list(itertools.product(range(LETTERS), repeat=LENGTH))
    rows = [list(row) + sorted(row)[:-1] for row in inputs]
    width = 2 * LENGTH - 1
    got = run({"input_ids": tensors.Tensor("I64", [len(rows), width],
                                           sum(rows, []))})["logits"]
    wrong = 0
    for row, scores in zip(inputs, got.rows()):
        steps = [scores[i * LETTERS:(i + 1) * LETTERS]
                 for i in range(LENGTH - 1, width)]
        chosen = [max(range(LETTERS), key=step.__getitem__) for step in steps]
        wrong += chosen != sorted(row)
    return [f"expected {len(inputs)} of {len(inputs)} inputs sorted, got "
            f"{len(inputs) - wrong}"] if wrong else []


def check_decoding(generate):
    """The same by generation, as far as the positions reach."""
    inputs = list(itertools.product(range(LETTERS), repeat=LENGTH))
    ids = tensors.Tensor("I64", [len(inputs), LENGTH],
                         [token for row in inputs for token in row])
    got = generate({"input_ids": ids})["sequences"]
    wrong = sum(list(out[LENGTH:]) != sorted(row)[:-1]
                for row, out in zip(inputs, got.rows()))
    return [f"generation: {wrong} of {len(inputs)} inputs sorted wrong"] \
        if wrong else []


def main():
    parser = argparse.ArgumentParser(
        description="compares gpt-nano-sort with its author's activations")
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", required=True)
    parser.add_argument("--model", default=os.path.join(
        ROOT, "..", "..", "..", "shared", "models", "gpt-nano-sort"))
    options = parser.parse_args()
    folder = os.path.normpath(options.model)
    if not os.path.isdir(folder):
        print(f"skipped: no folder {folder}")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="tfc-nano-") as scratch:
        tool = Tool(options.tfc, options.tfc_run, scratch)
        try:
            _, library = tool.build(folder, "nano")

            def run(inputs):
                return tool.run(library, folder, inputs)

            def generate(inputs):
                return tool.generate(library, folder, inputs, LENGTH - 1)

            faults = (check_logits(run, folder) + check_sorting(run) +
                      check_decoding(generate))
        except Failure as failure:
            faults = [str(failure)]
    print("\n".join(faults) or "ok: the author's logits, 729 of 729 sorted")
    return 1 if faults else 0


sys.exit(main())
