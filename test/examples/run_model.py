#!/usr/bin/env python3
# Compiles a model of examples/models with tfc and compares what it answers to
# the prompts of its golden.json with what transformers answered.
#   run_model.py --tfc TFC --tfc-run TFC_RUN NAME
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXAMPLES = os.path.join(ROOT, "examples")
sys.path[:0] = [os.path.join(ROOT, "test", "golden"),
                os.path.join(EXAMPLES, "train")]

import text
from tensors import Tensor
from tool import Failure, Tool


def as_tensor(rows):
    return Tensor("I64", [len(rows), len(rows[0])], sum(rows, []))


def check_rows(what, prompts, expected, got):
    """Rows of tokens; says which prompt is answered otherwise, in text."""
    rows = [list(row) for row in got.rows()]
    if len(rows) != len(expected):
        return [f"{what}: expected {len(expected)} rows, got {len(rows)}"]
    each = len(expected) // len(prompts)
    return [f"{what}: {prompts[i // each]!r}: expected "
            f"{text.to_text(want)!r} {want}, got {text.to_text(have)!r} {have}"
            for i, (want, have) in enumerate(zip(expected, rows))
            if want != have]


def check_model(tool, folder):
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    with open(os.path.join(folder, "golden.json"), encoding="utf-8") as file:
        golden = json.load(file)
    prompts, greedy = golden["prompts"], golden["greedy"]
    is_encoder_decoder = config.get("is_encoder_decoder", False)
    inputs = {name: as_tensor(rows) for name, rows in
              text.make_inputs(prompts, is_encoder_decoder).items()}
    # What is new: a decoder's sequences begin with the prompt, those of an
    # encoder-decoder with its start token.
    before = 1 if is_encoder_decoder else inputs["input_ids"].shape[1]
    count = len(greedy[0]) - before
    _, library = tool.build(folder, "model")

    def answer(*options):
        return tool.generate(library, folder, inputs, count, None,
                             *options)["sequences"]

    faults = check_rows("greedy", prompts, greedy, answer())
    if "beams" in golden:
        faults += check_rows(
            "beams", prompts, golden["beams"],
            answer("--beams", "4", "--return-sequences", "2"))
    return faults


def main():
    parser = argparse.ArgumentParser(
        description="compares an example's answers with those of transformers")
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", required=True)
    parser.add_argument("name")
    options = parser.parse_args()
    folder = os.path.join(EXAMPLES, "models", options.name)
    with tempfile.TemporaryDirectory(prefix="tfc-example-") as scratch:
        try:
            faults = check_model(Tool(options.tfc, options.tfc_run, scratch),
                                 folder)
        except Failure as failure:
            faults = [str(failure)]
    print("\n".join(faults) or "ok")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
