#!/usr/bin/env python3
# A golden model's library for aarch64, run by qemu, gives the bits of that for
# x86-64-v3, run here: outputs of forward passes, generated tokens and packed
# weights; of products of integers both programs that there are. Nothing is
# compared within a tolerance.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import filecmp
import glob
import os
import platform
import random
import subprocess
import sys
import tempfile

import cross

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "golden", "models")
NEW_TOKENS = "8"
# Of every kind: both programs refuse a case, or none, alike.
FORWARD, GENERATE = "forward", "generate"


def call(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def must(*command):
    done = call(*command)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def options_of(path):
    name = os.path.basename(path)[len("inputs-"):]
    if name.startswith("generate"):
        return ["--generate", "--max-new-tokens", NEW_TOKENS]
    if name.startswith("beams"):
        return ["--generate", "--max-new-tokens", NEW_TOKENS, "--beams", "3"]
    return []


class Pair:
    """One model's libraries and the commands that run them."""

    def __init__(self, args, scratch):
        self.scratch = scratch
        self.weights = os.path.join(MODELS, args.model)
        spec = self.path("spec.json")
        must(args.tfc, "import", self.weights, "-o", spec)
        self.runs = {}
        arm = cross.runner(args.cross)
        runners = {"x86-64-v3": [args.tfc_run], "armv8-a": arm,
                   "armv8-a-emulated": [args.tfc_run]}
        if args.integers:
            # Every Arm runs the one, and what has the instruction the other.
            runners["armv8-a"] = cross.runner(args.cross, cross.OLDEST)
            runners["armv8-a+dotprod"] = arm
        for target, runner in runners.items():
            library = self.path(target + ".so")
            must(args.tfc, "compile", spec, "-o", library,
                 "--target=cpu:" + target, *args.options)
            self.runs[target] = (runner, library)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def run(self, target, case, *options):
        """What is written, or the last line of why nothing is."""
        runner, library = self.runs[target]
        output = self.path(target + ".safetensors")
        done = call(*runner, library, "--weights", self.weights, "--inputs",
                    case, "--outputs", output, *options)
        if done.returncode:
            return done.stderr.replace(library, "LIBRARY").strip()[-200:]
        with open(output, "rb") as stream:
            return stream.read()


def check_symbols(nm, library):
    """The query alone is shown, and nothing is asked for."""
    shown = must(nm, "--dynamic", "--defined-only", library).split()
    asked = must(nm, "--dynamic", "--undefined-only", library).split()
    if shown[2:] != ["tfc_module_query"] or asked:
        sys.exit(f"{library}: expected tfc_module_query alone, got {shown} "
                 f"and, undefined, {asked}")


def check_refusals(pair, case):
    """Each machine names the other, and what to do."""
    for mine, other, names in (("x86-64-v3", "armv8-a",
                                ("x86-64", "aarch64", "cpu:x86-64-v3")),
                               ("armv8-a", "x86-64-v3",
                                ("aarch64", "x86-64", "cpu:armv8-a"))):
        runner, library = pair.runs[mine][0], pair.runs[other][1]
        done = call(*runner, library, "--weights", pair.weights, "--inputs",
                    case, "--outputs", pair.path("none"))
        expected = (f"{library}: expected a compiled model for {names[0]} (this "
                    f"machine), got one for {names[1]}; compile it with "
                    f"--target={names[2]}")
        if done.returncode != 1 or expected not in done.stderr:
            sys.exit(f"expected exit code 1 and \"{expected}\", got "
                     f"{done.returncode} and {done.stderr}")


def check_lacking(pair, case, oldest):
    """What has not the instruction says so."""
    library = pair.runs["armv8-a+dotprod"][1]
    done = call(*oldest, library, "--weights", pair.weights, "--inputs", case,
                "--outputs", pair.path("none"))
    if done.returncode != 1 or "the machine lacks dotprod" not in done.stderr:
        sys.exit("expected exit code 1 and \"the machine lacks dotprod\", got "
                 f"{done.returncode} and {done.stderr}")


def check_packed(pair, case, targets):
    files = []
    for target in targets:
        files.append(pair.path(target + ".packed"))
        pair.run(target, case, "--packed", files[-1])
    for other in files[1:]:
        if not filecmp.cmp(files[0], other, shallow=False):
            sys.exit(f"expected equal packed files, {files[0]} and {other} "
                     "differ")


def draw(cases, count, seed):
    """Some of them, always forward passes and, where there are any, tokens."""
    rng = random.Random(f"{seed} {cases[0]}")
    kinds = {FORWARD: [], GENERATE: []}
    for case in cases:
        kinds[GENERATE if options_of(case) else FORWARD].append(case)
    drawn = []
    for kind in kinds.values():
        drawn += rng.sample(kind, min(count, len(kind)))
    return sorted(drawn)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", required=True)
    parser.add_argument("--nm", required=True, help="LLVM's, for any machine")
    parser.add_argument("--cross", required=True,
                        help="the build folder of the preset aarch64")
    parser.add_argument("--seed", default=os.environ.get("TFC_SEED", ""),
                        help="draws two cases of each kind; all without it")
    parser.add_argument("options", nargs="*", help="of tfc compile")
    args = parser.parse_args()
    args.integers = any(option.startswith("--dtype=int")
                        for option in args.options)
    cross.skip_without_tools()
    if platform.machine() != "x86_64":
        cross.skip("expected a machine of x86-64, whose bits are those of "
                   "x86-64-v3, got " + platform.machine())
    cases = sorted(glob.glob(os.path.join(MODELS, args.model, "inputs-*")))
    if args.seed:
        cases = draw(cases, 2, args.seed)
        print(f"seed {args.seed}: run_bits.py --seed {args.seed} (or TFC_SEED)")
    with tempfile.TemporaryDirectory() as scratch:
        pair = Pair(args, scratch)
        check_symbols(args.nm, pair.runs["armv8-a"][1])
        check_refusals(pair, cases[0])
        # Words of bytes without groups are of two there, and of four here.
        check_packed(pair, cases[0],
                     [target for target in pair.runs
                      if not (args.integers and target == "x86-64-v3")])
        if args.integers:
            check_lacking(pair, cases[0],
                          cross.runner(args.cross, cross.OLDEST))
        numbers = 0
        for case in cases:
            outputs = {target: pair.run(target, case, *options_of(case))
                       for target in pair.runs}
            expected = outputs["x86-64-v3"]
            numbers += isinstance(expected, bytes)
            for target, got in outputs.items():
                if got != expected:
                    sys.exit(f"{case}: expected the bits of x86-64-v3 of "
                             f"{target}, got others")
        if numbers == 0:
            sys.exit("expected cases with outputs, got none")
        print(f"{args.model}: {numbers} of {len(cases)} cases have outputs, "
              "equal to the bit")


if __name__ == "__main__":
    main()
