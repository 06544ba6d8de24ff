#!/usr/bin/env python3
# Runs the commands of the documents as they are written (of some, those that
# have to do with text), and compares what they print with what is written below
# them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A block (lines indented by four) counts when a command in it is `tfc run` or
hello_text, or has --text; in the pages of users every one does that has a
command. A block of C between fences is a file, whose name is its first comment.
A line in a block is a command behind "$ ", or, in a block
without such lines, when it begins with a program. The blocks of a document
share a shell's variables and a folder."""
import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                    "..", ".."))
DOCUMENTS = ["README.md", "docs/text.md", "examples/README.md"]
PAGES = ["docs/command-line.md", "docs/c.md"]
C_FILE = re.compile(r"^```c\n(/\* (\w+\.c) \*/\n.*?)^```", re.M | re.S)
TEXT = re.compile(r"\btfc run\b|--text\b|\bhello_text\b")
PROGRAM = re.compile(r"(build/dev/bin/)?(tfc|tfc-run|tfc-bench|hello_\w+) ")


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


def write_inputs(path):
    """Token ids of an encoder-decoder, as safetensors."""
    rows = {"input_ids": [50, 59, 1], "decoder_input_ids": [2, 50]}
    header, data = {}, b""
    for name, row in rows.items():
        ids = struct.pack(f"<{len(row)}q", *row)
        header[name] = {"dtype": "I64", "shape": [1, len(row)],
                        "data_offsets": [len(data), len(data) + len(ids)]}
        data += ids
    text = json.dumps(header).encode()
    with open(path, "wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text + data)


def prepare(scratch, tools):
    """The folder that the commands are run in: the repository's, a built one,
    models called DIR and HF_DIR, some lines and inputs. The headers and the library are
    found as if they were installed."""
    os.makedirs(os.path.join(scratch, "build", "dev"))
    os.symlink(tools, os.path.join(scratch, "build", "dev", "bin"))
    for name in ("examples", "test"):
        os.symlink(os.path.join(ROOT, name), os.path.join(scratch, name))
    os.symlink(os.path.join(ROOT, "examples", "models", "dates-iso"),
               os.path.join(scratch, "DIR"))
    os.symlink(os.path.join(ROOT, "examples", "models", "stories-tiny"),
               os.path.join(scratch, "HF_DIR"))
    with open(os.path.join(scratch, "lines.txt"), "w") as stream:
        stream.write("24.12.1901\n3-Mar-94\n")
    write_inputs(os.path.join(scratch, "inputs.safetensors"))
    library = os.path.join(os.path.dirname(tools), "lib")
    return {**os.environ, "LIBRARY_PATH": library, "LD_LIBRARY_PATH": library,
            "CPATH": os.path.join(ROOT, "runtime", "include"), "XDG_CACHE_HOME": os.path.join(scratch, "cache"),
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


def write_programs(document, scratch):
    with open(os.path.join(ROOT, document), encoding="utf-8") as stream:
        for text, name in C_FILE.findall(stream.read()):
            with open(os.path.join(scratch, name), "w") as to:
                to.write(text)


def check(document, tools):
    """How many commands were run, and the faults."""
    count, variables, faults = 0, "", []
    wanted = PROGRAM if document in PAGES else TEXT
    with tempfile.TemporaryDirectory(prefix="tfc-documents-") as scratch:
        environment = prepare(scratch, tools)
        write_programs(document, scratch)
        for number, block in blocks_of(document):
            commands = commands_of(block)
            if any(wanted.search(command) for command, _ in commands):
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
    parser.add_argument("--skip", action="append", default=[],
                        help="a document")
    options = parser.parse_args()
    tools = os.path.abspath(options.bin)
    count, faults = 0, []
    for document in DOCUMENTS + PAGES:
        if document in options.skip:
            continue
        number, found = check(document, tools)
        count, faults = count + number, faults + found
    print("\n".join(faults) or f"{count} commands as written")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
