#!/usr/bin/env python3
# Runs the commands of the documents that have to do with text as they are
# written, and compares what they print with what is written below them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A block (lines indented by four) counts when a command in it is `tfc run` or
hello_text, or has --text. A line in it is a command behind "$ ", or, in a block
without such lines, when it begins with a program. The blocks of a document
share a shell's variables and a folder."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                    "..", ".."))
DOCUMENTS = ["README.md", "docs/text.md", "examples/README.md"]
TEXT = re.compile(r"\btfc run\b|--text\b|\bhello_text\b")
PROGRAM = re.compile(r"(build/dev/bin/)?(tfc|tfc-run|hello_\w+) ")


def blocks_of(document):
    """(line number, lines) of every block of code."""
    found, block = [], []
    with open(os.path.join(ROOT, document), encoding="utf-8") as stream:
        lines = stream.read().splitlines() + [""]
    for number, line in enumerate(lines, 1):
        if line.startswith("    ") and line.strip():
            block.append(line[4:])
        elif block:
            found.append((number - len(block), block))
            block = []
    return found


def commands_of(block):
    """[[command, lines that it prints or None]] of a block."""
    commands = []
    has_prompts = any(line.startswith("$ ") for line in block)
    for line in block:
        if has_prompts and line.startswith("$ "):
            commands.append([line[2:], []])
        elif commands and commands[-1][0].endswith("\\"):
            commands[-1][0] = commands[-1][0][:-1] + line.strip()
        elif has_prompts:
            commands[-1][1].append(line)
        elif PROGRAM.match(line):
            commands.append([line, None])
    return commands


def prepare(scratch, tools):
    """The folder that the commands are run in: the repository's, a built one,
    a model called DIR, some lines."""
    os.makedirs(os.path.join(scratch, "build", "dev"))
    os.symlink(tools, os.path.join(scratch, "build", "dev", "bin"))
    for name in ("examples", "test"):
        os.symlink(os.path.join(ROOT, name), os.path.join(scratch, name))
    os.symlink(os.path.join(ROOT, "examples", "models", "dates-iso"),
               os.path.join(scratch, "DIR"))
    with open(os.path.join(scratch, "lines.txt"), "w") as stream:
        stream.write("24.12.1901\n3-Mar-94\n")
    return {**os.environ, "XDG_CACHE_HOME": os.path.join(scratch, "cache"),
            "PATH": tools + os.pathsep + os.environ["PATH"]}


def variables_of(command):
    """The assignment that a command is, for the blocks behind it."""
    return command + "\n" if re.fullmatch(r"\w+=\S+", command) else ""


def run(where, before, commands, scratch, environment):
    """The faults of a block; `before`: what its shell begins with."""
    mark, faults = "-- end of command --", []
    script = "set -e\n" + before + "".join(
        f"{command}\necho '{mark}'\n" for command, _ in commands)
    done = subprocess.run(["bash", "-o", "pipefail", "-c", script],
                          cwd=scratch, env=environment, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, timeout=300)
    printed = done.stdout.split(mark + "\n")
    for (command, wanted), got in zip(commands, printed):
        if wanted is not None and got.splitlines() != wanted:
            faults.append(f"{where}: {command}: expected {wanted}, got "
                          f"{got.splitlines()}")
    if done.returncode != 0:
        command = commands[min(len(printed), len(commands)) - 1][0]
        faults.append(f"{where}: {command}: expected exit status 0, got "
                      f"{done.returncode}\n{done.stderr}")
    return faults


def check(document, tools):
    """How many commands were run, and the faults."""
    count, variables, faults = 0, "", []
    with tempfile.TemporaryDirectory(prefix="tfc-documents-") as scratch:
        environment = prepare(scratch, tools)
        for number, block in blocks_of(document):
            commands = commands_of(block)
            if any(TEXT.search(command) for command, _ in commands):
                count += len(commands)
                faults += run(f"{document}:{number}", variables, commands,
                              scratch, environment)
                variables += "".join(variables_of(command)
                                     for command, _ in commands)
    if not count:
        faults.append(f"{document}: expected commands, got none")
    return count, faults


def main():
    parser = argparse.ArgumentParser(description="runs commands of documents")
    parser.add_argument("--bin", required=True, help="the folder of the tools")
    tools = os.path.abspath(parser.parse_args().bin)
    count, faults = 0, []
    for document in DOCUMENTS:
        number, found = check(document, tools)
        count, faults = count + number, faults + found
    print("\n".join(faults) or f"{count} commands as written")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
