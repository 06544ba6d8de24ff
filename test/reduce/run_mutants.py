#!/usr/bin/env python3
# Mutants of what passes make, drawn: after one pass of a model's program one op
# becomes another, is left out or gets another number. `tfc verify` notices, or the
# mutant is printed as one that nobody notices (some compute the same).
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import find_pass
import random_weights

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, ".."))
import ledger  # noqa: E402

SPECS = os.path.join(ROOT, "..", "..", "examples", "specs")
OTHERS = {"arith.addf": "arith.subf", "arith.subf": "arith.addf",
          "arith.mulf": "arith.addf", "arith.divf": "arith.mulf",
          "arith.maximumf": "arith.minimumf", "llvm.fadd": "llvm.fsub",
          "llvm.fsub": "llvm.fadd", "llvm.fmul": "llvm.fadd",
          "arith.addi": "arith.subi", "arith.muli": "arith.addi"}
ERASED = ("vector.store", "memref.store", "llvm.store")
ALTERED = (("arith.constant", "value"), ("llvm.mlir.constant", "value"),
           ("transformer.slice_columns", "first"))


def compile_text(tfc, spec, *options):
    return subprocess.run([tfc, "compile", spec, "--target=cpu", "-o", "-",
                           *options], capture_output=True, text=True,
                          check=True).stdout


def list_mutants(tfc, spec, names, source):
    """Endless: a pass, and a change of an op that is there behind it."""
    texts = {}
    while True:
        at = source.randrange(len(names) - 1)
        if at not in texts:
            text = compile_text(tfc, spec, "--stop-before=" + names[at + 1])
            texts[at] = collections.Counter(
                re.findall(r"(?:= |^ *)\"?([a-z]+\.[a-z_.]+)\"?[ (<%]", text,
                           re.M))
        counts = texts[at]
        choices = [f"replace {op} {other}" for op, other in OTHERS.items()
                   if counts[op]]
        choices += [f"erase {op}" for op in ERASED if counts[op]]
        choices += [f"alter {op} {name}" for op, name in ALTERED
                    if counts[op]]
        if choices:
            choice = source.choice(choices)
            number = source.randrange(counts[choice.split()[1]])
            yield f"{names[at]} {choice} {number}"


def try_mutant(args, spec, weights, mutant):
    """Whether it is noticed; nothing where there was nothing to change."""
    try:
        done = subprocess.run(
            [args.tfc, "verify", spec, "--weights", weights, "--target=cpu"],
            env=dict(os.environ, TFC_FAULT=mutant), capture_output=True,
            text=True, errors="replace", timeout=args.seconds)
    except subprocess.TimeoutExpired:
        return True
    if "fault: done" not in done.stderr:
        return None
    return done.returncode != 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfc", required=True, help="tfc-faulty")
    parser.add_argument("--spec",
                        default=os.path.join(SPECS, "tiny-gpt2.json"))
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("TFC_SEED", 0)) or
                        random.randrange(1 << 31))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--ledger", help="a file that gets a row")
    args = parser.parse_args()
    source, begun = random.Random(args.seed), time.monotonic()
    print(f"seed {args.seed}", flush=True)
    tried, noticed = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as weights:
        if not random_weights.write(args.tfc, args.spec, weights):
            sys.exit(f"expected a spec, got {args.spec}")
        names = find_pass.list_passes(args.tfc, args.spec, ["--target=cpu"])
        for mutant in list_mutants(args.tfc, args.spec, names, source):
            is_noticed = try_mutant(args, args.spec, weights, mutant)
            if is_noticed is None:
                continue
            name = mutant.split("#")[0]
            tried[name] += 1
            noticed[name] += is_noticed
            if not is_noticed:
                print(f"nobody notices: {mutant}", flush=True)
            if sum(tried.values()) >= args.count:
                break
    for name in sorted(tried):
        print(f"  {name}: {noticed[name]} of {tried[name]}")
    all_noticed, all_tried = sum(noticed.values()), sum(tried.values())
    print(f"{all_noticed} of {all_tried} mutants are noticed")
    if args.ledger:
        ledger.append(args.ledger, ledger.row(
            "mutants", time.monotonic() - begun, seed=args.seed,
            tried=all_tried, noticed=all_noticed))


if __name__ == "__main__":
    main()
