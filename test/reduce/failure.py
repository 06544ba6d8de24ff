# A command that fails, and what is the same failure: its exit code and the first
# error without its numbers and names.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re
import subprocess

HANGS = "does not end"
# What is wrong is found in the values of ops or in those of outputs: of one fault
# now these and now those.
DIFFERS = re.compile(r"expected .* to be .* \(the interpreter")


def first_error(text):
    found = re.search(r"^.*error: .*", text, re.M)
    return found.group() if found else text.strip().split("\n")[0]


def gist(text):
    """The words of the first error that do not depend on sizes and places."""
    line = first_error(text)
    if DIFFERS.search(line):
        return "differs from the interpreter"
    return " ".join(word for word in line.split("error: ")[-1].split()
                    if re.fullmatch(r"[a-zA-Z'`(),:;]+", word))


class Command:
    """Words of a command line, in which {spec}, {weights} and {passes} stand for
    the files and for the option that leaves passes out."""

    def __init__(self, words, seconds=120):
        self.words, self.seconds = list(words), seconds
        if "{passes}" not in self.words and len(self.words) > 1 and \
                self.words[1] in ("compile", "verify"):
            self.words.append("{passes}")
        self.runs = 0

    def run(self, spec, weights, left_out="", more=()):
        """Nothing where it succeeds; else what it fails with, as (exit code, gist,
        all that it printed)."""
        self.runs += 1
        words = [word.replace("{spec}", spec).replace("{weights}", weights)
                 for word in self.words if word != "{passes}" or left_out]
        if left_out:
            words[words.index("{passes}")] = "--leave-out=" + left_out
        try:
            done = subprocess.run([*words, *more], capture_output=True,
                                  text=True, errors="replace",
                                  timeout=self.seconds)
        except subprocess.TimeoutExpired:
            return 124, HANGS, HANGS
        if done.returncode == 0:
            return None
        text = done.stdout + done.stderr
        return done.returncode, gist(text), text

    def options(self):
        """Those of the words that choose what is compiled."""
        names = ("--target", "--opt", "--dtype", "--cache", "--emulate")
        return [word for word in self.words if word.split("=")[0] in names]


def is_same(one, other):
    """Whether two failures of Command.run are one."""
    return one[:2] == other[:2]
