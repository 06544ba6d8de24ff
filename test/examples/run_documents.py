#!/usr/bin/env python3
# Runs the commands of the documents as they are written, and compares what they
# print, on either output, with what is written below them. Which are run where:
# plan.py.
#   run_documents.py --bin build/dev/bin [--skip DOCUMENT]     those of seconds
#   run_documents.py --slow [DOCUMENT...]     those that install or build, here
#   run_documents.py --bin build/dev/bin --rewrite DOCUMENT...   writes the rest
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of a document share a shell and a folder. A line that ends in
"..." stands for what begins so; who is to say "error:" is to fail."""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile

import blocks
import plan

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                    "..", ".."))
MARK = "-- end of command --"
# What examples/README.md says in words: a BERT with three faults.
BAD_SPEC = """{
  "tfc": 1,
  "extends": "preset:bert",
  "dims": {"hidden": 100, "vocab": 97, "max_positions": 64},
  "encoder": {
    "layers": {"repeat": 2,
      "block":                         {"attn": { "num_head": 3 }, \
"ffn": { "width": "wide" } } }
  }
}
"""


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


def prepare(document, scratch, tools):
    """The folder that the commands are run in: the repository's, a built one,
    models called DIR and HF_DIR, some lines and inputs. The headers and the
    library are found as if they were installed."""
    build = os.path.dirname(tools)
    os.makedirs(os.path.join(scratch, "build"))
    os.symlink(build, os.path.join(scratch, "build", "dev"))
    for name in ("examples", "test", "python", "benchmarks", "docs"):
        os.symlink(os.path.join(ROOT, name), os.path.join(scratch, name))
    folder = plan.MODELS.get(document)
    model = os.path.join(ROOT, folder or "examples/models/dates-iso")
    os.symlink(model, os.path.join(scratch, "DIR"))
    if folder:
        os.symlink(os.path.join(model, "inputs-one.safetensors"),
                   os.path.join(scratch, "in.safetensors"))
    with open(os.path.join(scratch, "lines.txt"), "w") as stream:
        stream.write("24.12.1901\n3-Mar-94\n")
    with open(os.path.join(scratch, "bad.json"), "w") as stream:
        stream.write(BAD_SPEC)
    write_inputs(os.path.join(scratch, "inputs.safetensors"))
    library = os.path.join(build, "lib")
    return {**os.environ, "LIBRARY_PATH": library, "LD_LIBRARY_PATH": library,
            "CPATH": os.path.join(ROOT, "runtime", "include"),
            "XDG_CACHE_HOME": os.path.join(scratch, "cache"),
            "TFC_CUDA_DRIVER": os.path.join(build, "test", "emulator",
                                            "libtfc_fakecuda.so"),
            "TFC_FAKECUDA_CACHE": os.path.join(build, "test", "emulator",
                                               "kernels"),
            "PATH": tools + os.pathsep + os.environ["PATH"]}


def agrees(wanted, got):
    """Spaces at the end of a line are not seen in a document."""
    return len(wanted) == len(got) and all(
        line.startswith(want[:-3]) if want.endswith("...") else
        line.rstrip() == want.rstrip() for want, line in zip(wanted, got))


def is_to_fail(wanted):
    return any("error:" in line for line in wanted or [])


def as_script(command, wanted):
    if is_to_fail(wanted):
        return f"! {command}\n"
    # What head has read enough of may end by SIGPIPE.
    return f"{command} || [ $? = 141 ]\n" if "| head" in command else (
        f"{command}\n")


def start(commands, where, environment, limit):
    """Commands [(line, command, lines or None)] in one shell: the exit status,
    and what each of them that was begun printed."""
    script = "set -e\n" + "".join(
        as_script(command, wanted) + f"echo '{MARK}'\n"
        for _, command, wanted in commands)
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script], cwd=where, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        stdin=subprocess.DEVNULL, timeout=limit)
    return done.returncode, done.stdout.split(MARK + "\n")


def run(document, commands, where, environment, limit):
    """The faults of commands [(line, command, lines or None)] in one shell."""
    status, printed = start(commands, where, environment, limit)
    faults = [f"{document}:{line}: {command}: expected {wanted}, got "
              f"{got.splitlines()}"
              for (line, command, wanted), got in zip(commands, printed)
              if wanted is not None and not agrees(wanted, got.splitlines())]
    if status != 0:
        line, command, _ = commands[min(len(printed), len(commands)) - 1]
        faults.append(f"{document}:{line}: {command}: expected exit status 0, "
                      f"got {status}\n{printed[-1][-4000:]}")
    return faults


def list_commands(document, kind, scratch=None):
    """[(line, command, lines or None)] that are run so; C files are written."""
    with open(os.path.join(ROOT, document), encoding="utf-8") as stream:
        found = blocks.read_blocks(stream.read())
    commands = []
    for block in found:
        if block.kind == "c" and scratch:
            name = blocks.C_FILE.match(block.lines[0])[1]
            with open(os.path.join(scratch, name), "w") as stream:
                stream.write("\n".join(block.lines) + "\n")
        elif block.kind == "shell" and not blocks.is_text(document, block):
            commands += [(block.line, command, wanted)
                         for command, wanted in blocks.commands_of(block)
                         if blocks.how(document, command) == kind]
    return commands


def rewrite_block(document, block, printed):
    """The block's lines with what its commands printed, where what is below
    them does not agree; takes of `printed` what is its own."""
    made, command = [], ""
    wanted = iter(blocks.commands_of(block))
    for line in block.lines:
        if line.startswith("$ ") or command.endswith("\\"):
            made.append(line)
            command = line
            if not command.endswith("\\"):
                whole, old = next(wanted)
                is_run = blocks.how(document, whole) == "run"
                got = next(printed) if is_run else old
                made += old if agrees(old, got) else got
    return made


def rewrite(document, printed):
    """Puts what its commands with a "$ " printed, in order, into a document."""
    path = os.path.join(ROOT, document)
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    lines, edits = text.splitlines(), []
    for block in blocks.read_blocks(text):
        if block.kind == "shell" and block.lines[0].startswith("$ "):
            edits.append((block, rewrite_block(document, block, printed)))
    for block, made in reversed(edits):
        first = block.line - 1
        indent = lines[first][:len(lines[first]) - len(block.lines[0])]
        lines[first:first + len(block.lines)] = [(indent + line).rstrip()
                                                 for line in made]
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("\n".join(lines) + "\n")


def rewrite_document(document, tools):
    """The faults; the document where there are none."""
    with tempfile.TemporaryDirectory(prefix="tfc-documents-") as scratch:
        environment = prepare(document, scratch, tools)
        commands = list_commands(document, "run", scratch)
        status, printed = start(commands, scratch, environment, 300)
        if status != 0:
            return [f"{document}: {commands[len(printed) - 1][1]}: expected "
                    f"exit status 0, got {status}\n{printed[-1][-4000:]}"]
        rewrite(document, iter([got.splitlines() for (_, _, wanted), got
                                in zip(commands, printed)
                                if wanted is not None]))
    return []


def check(document, tools):
    """How many commands were run, and the faults."""
    with tempfile.TemporaryDirectory(prefix="tfc-documents-") as scratch:
        environment = prepare(document, scratch, tools)
        commands = list_commands(document, "run", scratch)
        if document in plan.MODELS:
            subprocess.run([os.path.join(tools, "tfc"), "import", "DIR", "-o",
                            "model.json"], cwd=scratch, check=True,
                           stderr=subprocess.DEVNULL)
        if document == "test/README.md":
            subprocess.run([os.path.join(tools, "tfc"), "compile", "model.json",
                            "--target=cuda", "-o", "model.so"], cwd=scratch,
                           check=True, stderr=subprocess.DEVNULL)
        return len(commands), run(document, commands, scratch, environment,
                                  300) if commands else []


def check_slow(documents):
    """The slow commands in the tree, with a Python that packages may be
    installed for, and then what the packages are tested with."""
    count, faults = 0, []
    with tempfile.TemporaryDirectory(prefix="tfc-slow-") as scratch:
        subprocess.run([sys.executable, "-m", "venv", scratch], check=True)
        environment = {**os.environ, "PATH": os.path.join(scratch, "bin") +
                       os.pathsep + os.environ["PATH"]}
        for document in documents or plan.SLOW:
            commands = list_commands(document, "slow")
            print(f"{document}: {len(commands)} commands", flush=True)
            count += len(commands)
            faults += run(document, commands, ROOT, environment, None)
            print("\n".join(faults), flush=True)
        commands = [(0, f"python3 test/packages/run_{name}.py", None)
                    for name in ("wheels", "debian")]
        faults += run("packages", commands, ROOT, environment, None)
    return count, faults


def main():
    parser = argparse.ArgumentParser(description="runs commands of documents")
    parser.add_argument("--bin", help="the folder of the tools")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("--skip", action="append", default=[],
                        help="a document, or a folder of them")
    parser.add_argument("documents", nargs="*")
    options = parser.parse_args()
    faults = blocks.find_faults(ROOT)
    if options.slow:
        count, found = check_slow(options.documents)
        faults += found
    elif options.rewrite:
        count, faults = len(options.documents), []
        for document in options.documents:
            faults += rewrite_document(document, os.path.abspath(options.bin))
    else:
        count = 0
        for document in options.documents or blocks.list_documents(ROOT):
            if not any(document == skipped or
                       document.startswith(skipped + "/")
                       for skipped in options.skip):
                number, found = check(document, os.path.abspath(options.bin))
                count, faults = count + number, faults + found
    print("\n".join(faults) or f"{count} commands as written")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
