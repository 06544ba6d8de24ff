#!/usr/bin/env python3
# Every pass on the IR of every stage and on the inputs of all lit tests, and a
# drawn pass on what it leaves: each works or reports an error with a location. A
# fault is narrowed to its module, which is printed with what was run.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import concurrent.futures
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.join(ROOT, "..", "..")
MARKER = "// -----"
STAGES = {
    "cpu:x86-64-v4": ["model", "fused", "linalg", "tiled", "vector", "buffer",
                      "llvm"],
    "cuda:sm_80": ["fused", "linalg", "buffer", "kernel", "image", "llvm"],
}
# A pass spelled with options in the RUN line of a test.
SPELLED = re.compile(r"\b(tfc-[a-z-]+)(?:\{([^}]*)\}|=\"([^\"]*)\"|"
                     r"=([^\s\"{}$]+))")


class Module:
    """One piece of a file, or what passes left of it."""

    def __init__(self, place, text):
        self.place, self.text = place, text


def read_modules(path, place):
    """The pieces of a file, with where in it they begin."""
    with open(path) as stream:
        text = stream.read()
    line = 1
    for piece in re.split(r"^// ?---.*\n", text, flags=re.M):
        yield Module(f"{place}:{line}", piece)
        line += piece.count("\n") + 1


def make_stages(args, scratch):
    """The IR of every stage of a model."""
    modules = []
    for target, stages in STAGES.items():
        for stage in stages:
            path = os.path.join(scratch, "stage.mlir")
            subprocess.run([args.tfc, "compile", args.spec, "--target", target,
                            f"--stop-after={stage}", "-o", path, "--force"],
                           check=True, stderr=subprocess.DEVNULL)
            modules += read_modules(path, f"{target} --stop-after={stage}")
    return modules


def list_tests():
    pattern = os.path.join(REPOSITORY, "test", "{}", "**", "*.mlir")
    return sorted(path for folder in ("compiler", "dialect") for path in
                  glob.glob(pattern.format(folder), recursive=True))


def list_passes(args, files):
    """Every pass and arrow as it is, and with the options that tests give it,
    those that it refuses excepted."""
    words = subprocess.run([args.tfc_opt, "--help"], capture_output=True,
                           text=True, check=True).stdout
    passes = {(name, "") for name in
              re.findall(r"^ +--(tfc-[a-z-]+)", words, re.M)}
    for path in files:
        with open(path) as stream:
            for line in stream:
                if "RUN: tfc-opt" in line:
                    passes |= {(name, a or b or c) for name, a, b, c
                               in SPELLED.findall(line)}
    return sorted(f"--{name}={options}" if options else f"--{name}"
                  for name, options in passes)


class Run:
    """One process: a pass, or none, on modules."""

    def __init__(self, args, modules, passes):
        self.modules = modules
        text = "\n".join(module.text + MARKER + "\n" for module in modules)
        command = [args.tfc_opt, "--split-input-file", "--verify-each=false",
                   f"--output-split-marker={MARKER}",
                   "--allow-unregistered-dialect", *passes]
        try:
            done = subprocess.run(command, input=text, capture_output=True,
                                  text=True, errors="replace",
                                  timeout=args.seconds)
            self.code, self.errors = done.returncode, done.stderr
            self.outputs = done.stdout.split(MARKER)
        except subprocess.TimeoutExpired:
            self.code, self.errors, self.outputs = None, "", []

    def left(self):
        """What the pass left of the modules with which it worked."""
        return [Module(module.place, output) for module, output
                in zip(self.modules, self.outputs) if output.strip()]

    def fault(self):
        """What a user should not see, or nothing."""
        if self.code is None:
            return "does not end"
        if self.code not in (0, 1):
            return f"ends with {self.code}"
        failed = len(self.modules) - len(self.left())
        if len(re.findall(r"\berror: ", self.errors)) < failed:
            return "fails and does not say why"
        lost = re.search(r"^(<unknown>.*|error): .*", self.errors, re.M)
        return f"an error without a location: {lost.group()}" if lost else ""


def find_faults(args, modules, passes):
    """What the passes leave, and (place, fault) of all that is wrong."""
    run = Run(args, modules, passes)
    if run.fault():
        if len(modules) > 1:
            halves = [modules[:len(modules) // 2], modules[len(modules) // 2:]]
            found = [find_faults(args, half, passes) for half in halves]
            return [sum(both, []) for both in zip(*found)]
        return [], [(modules[0], f"{run.fault()}\n{run.errors[-2000:]}")]
    left = run.left()
    again = Run(args, left, [])
    if again.code == 0:
        return left, []
    good = {module.place for module in again.left()}
    return again.left(), [(module, "leaves what does not verify\n" +
                           Run(args, [module], []).errors[-2000:])
                          for module in left if module.place not in good]


def check(args, modules, first, then):
    """Faults of a pass on the modules, and of the next on what it leaves."""
    left, faults = find_faults(args, modules, [first])
    _, others = find_faults(args, left, [then]) if left else ([], [])
    for name, found in ((first, faults), (f"{then} after {first}", others)):
        for module, text in found:
            print(f"{name} on {module.place}: {text}", flush=True)
    return not faults and not others


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-opt", required=True)
    parser.add_argument("--spec", default=os.path.join(
        REPOSITORY, "examples", "specs", "tiny-gpt2.json"))
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("TFC_SEED", 0)) or
                        random.randrange(1 << 31))
    parser.add_argument("--count", type=int, default=12,
                        help="so many passes, drawn; 0: all")
    parser.add_argument("--only", default="",
                        help="passes whose spelling has this")
    parser.add_argument("--seconds", type=int, default=300)
    args = parser.parse_args()
    source = random.Random(args.seed)
    files = list_tests()
    passes = list_passes(args, files)
    pairs = [(first, source.choice(passes)) for first in passes]
    pairs = [pair for pair in pairs if args.only in pair[0]]
    if 0 < args.count < len(pairs):
        pairs = source.sample(pairs, args.count)
    print(f"seed {args.seed} (--seed {args.seed} or TFC_SEED repeats the run)",
          flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        modules = make_stages(args, scratch)
    for path in files:
        modules += read_modules(path, os.path.relpath(path, REPOSITORY))
    # Without those that a test of the verifier breaks, which are nobody's input,
    # and without the names that are their locations: errors give lines.
    modules = Run(args, modules, []).left()
    print(f"{len(pairs)} of {len(passes)} passes, {len(modules)} modules",
          flush=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        whole = list(pool.map(lambda pair: check(args, modules, *pair), pairs))
    print(f"{sum(whole)} of {len(whole)} passes work or say why not")
    return 0 if all(whole) else 1


if __name__ == "__main__":
    sys.exit(main())
