#!/usr/bin/env python3
# Faults are planted behind passes (faulty.cpp); tfc_reduce.py finds each, names the
# pass and makes the spec small. With a seed one of them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
SPECS = os.path.join(ROOT, "..", "..", "examples", "specs")
MOST_LINES = 30

# (spec, fault, whether the pass can be left out, so that it is named alone).
FAULTS = [
    ("tiny-gpt2.json",
     "tfc-fuse-projections#1 alter transformer.slice_columns first 0", True),
    ("tiny-gpt2.json", "canonicalize#5 replace arith.mulf arith.addf 1", True),
    ("tiny-bert.json", "tfc-expand-math#1 skip arith.mulf 2", True),
    ("tiny-gpt2.json", "tfc-expand-cpu-kernels#1 erase vector.store 1", False),
]


def check(args, spec, fault, is_alone):
    """What is wrong with the answer, a line each."""
    name = fault.split()[0]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(ROOT, "tfc_reduce.py"),
             "--tfc", args.tfc, "-o", folder, os.path.join(SPECS, spec)],
            env=dict(os.environ, TFC_FAULT=fault), capture_output=True,
            text=True)
        path = os.path.join(folder, "spec.json")
        if done.returncode or not os.path.exists(path):
            return [f"expected it to be found: {done.stdout}{done.stderr}"]
        with open(path) as stream:
            lines = len(stream.read().splitlines())
        has_input = os.path.exists(os.path.join(folder, "before.mlir"))
    print(f"{fault}: {lines} lines", flush=True)
    wrong = []
    if lines > MOST_LINES:
        wrong.append(f"expected at most {MOST_LINES} lines, got {lines}")
    found = re.search(r"^pass: (\S+)", done.stdout, re.M).group(1)
    others = re.search(r"^or one behind it.*: (.*)", done.stdout, re.M)
    names = others.group(1).split(", ") if others else []
    if (found != name) if is_alone else (name not in [found, *names]):
        wrong.append(f"expected the pass {name}, got {found} or {names}")
    if found.endswith("#1") and not has_input:
        wrong.append("expected the pass's input, got none")
    return wrong + [done.stdout] if wrong else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfc", required=True, help="tfc-faulty")
    args = parser.parse_args()
    faults = FAULTS
    seed = os.environ.get("TFC_SEED")
    if seed:
        faults = [random.Random(int(seed)).choice(FAULTS)]
    failed = 0
    for spec, fault, is_alone in faults:
        wrong = check(args, spec, fault, is_alone)
        failed += bool(wrong)
        if wrong:
            print("\n".join([fault, *wrong]), flush=True)
    print(f"{len(faults) - failed} of {len(faults)} planted faults are found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
