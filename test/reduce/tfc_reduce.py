#!/usr/bin/env python3
# From a spec and a command that fails to the smallest spec that fails so, the pass
# or option whose absence heals it, and the IR that this pass gets.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   tfc_reduce.py --tfc build/dev/bin/tfc model.json -o found
#   tfc_reduce.py --tfc build/dev/bin/tfc model.json -o found -- \
#       sh -c 'tfc compile {spec} -o m.so $1 && ./check m.so {weights}' - {passes}
#
# Without a command it is `tfc verify`. The spec gets tfc's own names of weights,
# and random ones ({weights} is their folder), unless --weights names a folder:
# then sizes stay as they are.
import argparse
import json
import os
import subprocess
import sys
import tempfile

import failure
import find_pass
import random_weights
import shrink_spec


class Reduction:
    def __init__(self, args, scratch, command):
        self.args, self.scratch, self.command = args, scratch, command
        self.spec_path = os.path.join(scratch, "spec.json")
        self.weights = args.weights or scratch
        self.failure = None

    def fails(self, spec):
        """Whether a spec fails as the first one did."""
        with open(self.spec_path, "w") as stream:
            json.dump(spec, stream)
        if not self.args.weights and not random_weights.write(
                self.args.tfc, self.spec_path, self.scratch):
            return False
        found = self.command.run(self.spec_path, self.weights)
        if self.failure is None:
            self.failure = found
        return found is not None and failure.is_same(found, self.failure)

    def begin(self):
        """The spec in its canonical form, which has no other files, and without a
        map of weights where they are drawn."""
        done = subprocess.run([self.args.tfc, "spec", "--canonical",
                               self.args.spec], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        with open(self.args.spec) as stream:
            own = json.load(stream)
        canonical = json.loads(done.stdout)
        specs = [canonical] if "extends" in own else [own, canonical]
        for spec in specs:
            if not self.args.weights:
                spec.pop("weights", None)
            if self.fails(spec):
                return spec
        sys.exit("error: expected a command that fails on this spec"
                 f"{'' if self.args.weights else ' with random weights'}, got "
                 "one that succeeds")

    def explain(self, spec):
        """The lines of the answer."""
        self.fails(spec)
        # Words of the smallest spec's own.
        self.failure = self.command.run(self.spec_path, self.weights)
        text = shrink_spec.to_text(spec)
        lines = [f"{len(text.splitlines())} lines of spec, after "
                 f"{self.command.runs} runs:", text,
                 "fails with: " + failure.first_error(self.failure[2])]
        for option, what in find_pass.list_healing_options(
                self.command, self.spec_path, self.weights):
            lines.append(f"heals: {option} ({what})")
        if "{passes}" not in self.command.words:
            return lines
        names = find_pass.list_passes(self.args.tfc, self.spec_path,
                                      self.command.options())
        found = find_pass.find(self.command, self.spec_path, self.weights,
                               self.failure, names)
        if found.name:
            lines += [f"pass: {found.name} (heals: --leave-out={found.way})"]
            lines += self.write_input(found.name)
        else:
            lines.append("pass: none of those that can be left out")
        if found.untried:
            lines.append("or one behind it without which nothing is compiled: "
                         + ", ".join(found.untried))
        return lines

    def write_input(self, name):
        if not self.args.output:
            return []
        path = os.path.join(self.args.output, "before.mlir")
        done = subprocess.run([self.args.tfc, "compile", self.spec_path,
                               f"--stop-before={name}", "-o", path, "--force",
                               *self.command.options()], capture_output=True,
                              text=True)
        return [f"its input: {path}"] if done.returncode == 0 else \
            ["its input: " + done.stderr.strip()]

    def run(self):
        spec = self.begin()
        spec = shrink_spec.shrink(spec, self.fails, self.args.tries)
        lines = self.explain(spec)
        if self.args.output:
            with open(os.path.join(self.args.output, "spec.json"), "w") as out:
                out.write(shrink_spec.to_text(spec) + "\n")
        print("\n".join(lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--weights", help="a folder with the spec's own weights")
    parser.add_argument("-o", dest="output", help="a folder for what is found")
    parser.add_argument("--tries", type=int, default=400)
    parser.add_argument("--seconds", type=int, default=120,
                        help="after which a command counts as one that hangs")
    parser.add_argument("spec")
    parser.add_argument("command", nargs="*")
    args = parser.parse_args()
    words = args.command or [args.tfc, "verify", "{spec}", "--weights",
                             "{weights}", "--target=cpu"]
    if args.output:
        os.makedirs(args.output, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        Reduction(args, scratch, failure.Command(words, args.seconds)).run()


if __name__ == "__main__":
    main()
