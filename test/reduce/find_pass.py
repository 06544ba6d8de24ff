# The last pass without which a failure is gone. What is behind it and cannot be
# left out was not tried, and is told.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import subprocess

from failure import is_same

CHECK = "tfc-verify-stage"
# What a command may be given instead, by what it is then.
OPTIONS = (("--opt=none", "plain loops"),
           ("--target=cpu:x86-64-v3", "the program of x86-64-v3"))


def list_passes(tfc, spec, options):
    """The passes of the program that these options ask for, in order."""
    done = subprocess.run([tfc, "compile", spec, "--list-passes", "-o", "-",
                           *options], capture_output=True, text=True,
                          check=True)
    return [name for name in done.stdout.split()
            if not name.startswith(CHECK)]


def ways(name):
    """How to do without a pass: not at all, then though a stage is not what it
    promises, then as it is without its options."""
    return name, f"{name},{CHECK}", f"{name}:plain"


class Found:
    """`name`: the pass, or None; `way` of leaving it out; `untried`: those behind
    it without which nothing is compiled."""

    def __init__(self, name, way, untried):
        self.name, self.way, self.untried = name, way, untried


def find(command, spec, weights, failure, names):
    """From the last pass to the first: what comes before a fault changes what is
    made wrong, and so may seem to mend it; what comes behind does not."""
    untried = []
    for name in reversed(names):
        is_tried = False
        for way in ways(name):
            other = command.run(spec, weights, way)
            if other is None:
                return Found(name, way, list(reversed(untried)))
            # As wrong as before: the pass was not needed, nor is it to blame.
            if is_same(other, failure):
                is_tried = True
                break
        if not is_tried:
            untried.append(name)
    return Found(None, None, list(reversed(untried)))


def list_healing_options(command, spec, weights):
    """Which options make it succeed, with what they are."""
    taken = {option.split("=")[0] for option in command.options()}
    found = []
    for option, text in OPTIONS:
        if option.split("=")[0] not in taken or option.startswith("--target"):
            if command.run(spec, weights, "", [option]) is None:
                found.append((option, text))
    return found
