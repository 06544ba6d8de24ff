# What the tests of real models share: where the models are, and what tfc-run
# says to the cases of their golden.json.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "..", "golden"))
# What ctest takes for "skipped".
SKIPPED = 77

import tensors
from compare import check_floats
from tool import Failure, Tool


def as_row(values, dtype="I64"):
    return tensors.Tensor(dtype, [1, len(values)], values)


def as_batch(rows, pad):
    """Rows of different lengths, padded on the right."""
    width = max(map(len, rows))
    shape = [len(rows), width]
    return {"input_ids": tensors.Tensor("I64", shape, sum(
                (row + [pad] * (width - len(row)) for row in rows), [])),
            "attention_mask": tensors.Tensor("I64", shape, sum(
                ([1] * len(row) + [0] * (width - len(row)) for row in rows),
                []))}


def check_head(label, wanted, logits):
    """The first logits of the last token."""
    vocab = logits.shape[-1]
    last = logits.data[len(logits.data) - vocab:]
    return check_floats(label, as_row(wanted, "F32"),
                        as_row(last[:len(wanted)], "F32"))


def main(name, check):
    """`check(tool, library, folder, golden)` returns the faults and a line to
    print where there are none."""
    parser = argparse.ArgumentParser(
        description=f"compares {name} with its golden.json")
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", required=True)
    parser.add_argument("--opt", default="full", help="tfc compile's --opt")
    parser.add_argument("--model", default=os.path.join(
        ROOT, "..", "..", "..", "shared", "models", name))
    options = parser.parse_args()
    folder = os.path.normpath(options.model)
    if not os.path.isdir(folder):
        print(f"skipped: no folder {folder}")
        return SKIPPED
    with open(os.path.join(folder, "golden.json")) as stream:
        golden = json.load(stream)
    with tempfile.TemporaryDirectory(prefix="tfc-real-") as scratch:
        tool = Tool(options.tfc, options.tfc_run, scratch,
                    [f"--opt={options.opt}"])
        try:
            _, library = tool.build(folder, "model")
            faults, line = check(tool, library, folder, golden)
        except Failure as failure:
            faults, line = [str(failure)], ""
    print("\n".join(faults) or "ok: " + line)
    return 1 if faults else 0
