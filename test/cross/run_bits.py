#!/usr/bin/env python3
# A golden model's libraries for another machine, run by qemu, give the bits of
# those for x86-64, run here: outputs of forward passes, generated tokens and
# packed weights, by every program that there is (cross.py). Nothing is compared
# within a tolerance.
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


class Libraries:
    """One model's, and the commands that run them."""

    def __init__(self, args, scratch):
        self.args = args
        self.scratch = scratch
        self.weights = os.path.join(MODELS, args.model)
        self.spec = self.path("spec.json")
        must(args.tfc, "import", self.weights, "-o", self.spec)
        # By what runs it, x86-64's first: its command, its library and the name
        # of the run whose bits it has.
        self.runs = {}
        for target in ["x86-64-v3"] + [each.same for each in args.programs]:
            self.runs[target] = ([args.tfc_run], target, target)
        for each in args.programs:
            runner = cross.runner(args.machine, args.cross, each.cpu)
            self.runs[f"{each.target} on {each.cpu}"] = (runner, each.target,
                                                         each.same)
            if each.emulates:
                target = each.target + "-emulated"
                self.runs[target] = ([args.tfc_run], target, each.same)
        for target in {target for _, target, _ in self.runs.values()}:
            self.compile(target, [target])

    def compile(self, name, targets):
        must(self.args.tfc, "compile", self.spec, "-o", self.library(name),
             "--target=" + ",".join("cpu:" + each for each in targets),
             *self.args.options)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def library(self, target):
        return self.path(target + ".so")

    def run(self, name, case, *options):
        """What is written, or the last line of why nothing is."""
        runner, target, _ = self.runs[name]
        library = self.library(target)
        output = self.path("out.safetensors")
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


def check_refusals(args, libraries, case):
    """Each machine names the other, and what to do."""
    first = args.programs[0]
    lowest = args.machine.lowest
    other = cross.runner(args.machine, args.cross, first.cpu)
    for runner, target, names in (
            ([args.tfc_run], first.target,
             ("x86-64", args.machine.name, "cpu:x86-64-v3")),
            (other, "x86-64-v3", (args.machine.name, "x86-64", lowest))):
        library = libraries.library(target)
        done = call(*runner, library, "--weights", libraries.weights,
                    "--inputs", case, "--outputs", libraries.path("none"))
        expected = (f"{library}: expected a compiled model for {names[0]} (this "
                    f"machine), got one for {names[1]}; compile it with "
                    f"--target={names[2]}")
        if done.returncode != 1 or expected not in done.stderr:
            sys.exit(f"expected exit code 1 and \"{expected}\", got "
                     f"{done.returncode} and {done.stderr}")


def check_lacking(args, libraries, case):
    """What has not the instructions of the last program says so."""
    for cpu, lacked in args.machine.lacking.items():
        runner = cross.runner(args.machine, args.cross, cpu)
        done = call(*runner, libraries.library(args.programs[-1].target),
                    "--weights", libraries.weights, "--inputs", case,
                    "--outputs", libraries.path("none"))
        expected = f"the machine lacks {lacked}\n"
        if done.returncode != 1 or expected not in done.stderr:
            sys.exit(f"expected exit code 1 and \"{expected}\", got "
                     f"{done.returncode} and {done.stderr}")


def check_passed_over(args, libraries, case):
    """Of a library of all programs it takes those that it has all of."""
    libraries.compile("all", dict.fromkeys(each.target
                                           for each in args.programs))
    expected = libraries.run("x86-64-v3", case)
    for cpu in args.machine.lacking:
        runner = cross.runner(args.machine, args.cross, cpu)
        libraries.runs["all"] = (runner, "all", "x86-64-v3")
        got = libraries.run("all", case)
        if got != expected:
            sys.exit(f"expected the bits of x86-64-v3 of all programs on {cpu}"
                     f", got {got if isinstance(got, str) else 'others'}")
    del libraries.runs["all"]


def check_packed(args, libraries, case):
    """All programs of the same bits have the same file; but of bytes without
    groups words are of two columns there, and of four or eight here."""
    files = {}
    words = {each.target: each.words for each in args.programs}
    for number, (name, (_, target, same)) in enumerate(libraries.runs.items()):
        if args.integers and target.startswith("x86-64"):
            continue
        own = libraries.path(f"{number}.packed")
        libraries.run(name, case, "--packed", own)
        key = same, words.get(target.removesuffix("-emulated"), 4)
        first = files.setdefault(key, own)
        if not filecmp.cmp(first, own, shallow=False):
            sys.exit(f"expected packed files equal to {first}, {own} of {name} "
                     "differs")


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
    parser.add_argument("--machine", required=True, type=cross.find_machine,
                        help="the preset that is cross-built")
    parser.add_argument("--cross", required=True, help="its build folder")
    parser.add_argument("--seed", default=os.environ.get("TFC_SEED", ""),
                        help="draws two cases of each kind; all without it")
    parser.add_argument("options", nargs="*", help="of tfc compile")
    args = parser.parse_args()
    args.integers = any(option.startswith("--dtype=int")
                        for option in args.options)
    args.programs = (args.machine.integers if args.integers
                     else args.machine.programs)
    cross.skip_without_tools(args.machine)
    if platform.machine() != "x86_64":
        cross.skip("expected a machine of x86-64, whose bits are the ones to "
                   "have, got " + platform.machine())
    cases = sorted(glob.glob(os.path.join(MODELS, args.model, "inputs-*")))
    if args.seed:
        cases = draw(cases, 2, args.seed)
        print(f"seed {args.seed}: run_bits.py --seed {args.seed} (or TFC_SEED)")
    with tempfile.TemporaryDirectory() as scratch:
        libraries = Libraries(args, scratch)
        for program in args.programs:
            check_symbols(args.nm, libraries.library(program.target))
        check_refusals(args, libraries, cases[0])
        check_packed(args, libraries, cases[0])
        if len(args.programs) > 1:
            check_lacking(args, libraries, cases[0])
            check_passed_over(args, libraries, cases[0])
        numbers = 0
        for case in cases:
            outputs = {}
            for name, (_, _, same) in libraries.runs.items():
                outputs[name] = libraries.run(name, case, *options_of(case))
                if outputs[name] != outputs[same]:
                    sys.exit(f"{case}: expected the bits of {same} of {name}, "
                             "got others")
            numbers += isinstance(outputs["x86-64-v3"], bytes)
        if numbers == 0:
            sys.exit("expected cases with outputs, got none")
        print(f"{args.model}: {numbers} of {len(cases)} cases have outputs, "
              "equal to the bit")


if __name__ == "__main__":
    main()
