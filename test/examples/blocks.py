# The commands of the documents, as they are written there.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A block of commands is indented by four or stands between fences of bash; one
between fences without a language is text. A line in it is a command behind
"$ ", with what it prints below; where no line has that, each is a command."""
import glob
import os
import re

import plan

GENERATED = ("docs/reference/", "docs/rationale/", "benchmarks/results/")
C_FILE = re.compile(r"/\* (\w+\.c) \*/$")


class Block:
    """`kind` is shell, text, or the language of a fence."""

    def __init__(self, line, kind):
        self.line, self.kind, self.lines = line, kind, []


def list_documents(root):
    found = []
    for pattern in ("*.md", "*/*.md", "*/*/*.md"):
        found += [os.path.relpath(path, root)
                  for path in glob.glob(os.path.join(root, pattern))]
    return sorted(path for path in found
                  if not path.startswith(GENERATED + ("build/",)))


def read_blocks(text):
    """The blocks of a document."""
    blocks, open_fence, indented = [], None, None
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"```(\w*)", line)
        if fence:
            if open_fence is None:
                kind = {"": "text", "bash": "shell", "sh": "shell",
                        "console": "shell"}.get(fence[1], fence[1])
                open_fence = Block(number + 1, kind)
                blocks.append(open_fence)
            else:
                open_fence = None
            indented = None
        elif open_fence is not None:
            open_fence.lines.append(line)
        elif line.startswith("    ") and line.strip():
            if indented is None:
                indented = Block(number, "shell")
                blocks.append(indented)
            indented.lines.append(line[4:])
        else:
            indented = None
    return blocks


def commands_of(block):
    """[[command, lines that it prints or None]] of a block of the shell."""
    commands = []
    has_prompts = any(line.startswith("$ ") for line in block.lines)
    for line in block.lines:
        if has_prompts and line.startswith("$ "):
            commands.append([line[2:], []])
        elif commands and commands[-1][0].endswith("\\"):
            commands[-1][0] = commands[-1][0][:-1] + line.strip()
        elif has_prompts and commands:
            commands[-1][1].append(line)
        else:
            commands.append([line, None])
    return commands


def name_of(command):
    """What the plan calls a command: without a comment."""
    return re.sub(r"\s+#\s.*$", "", command).strip()


def check_block(document, block):
    """Why nobody would run a block, or None."""
    first = block.lines[0].strip() if block.lines else ""
    if block.kind == "text" and first not in plan.TEXT.get(document, []):
        return (f"{document}:{block.line}: expected a block that "
                f"test/examples/plan.py knows to be text, got {first!r}")
    if block.kind == "c" and not C_FILE.match(first):
        return (f"{document}:{block.line}: expected C that begins with the "
                f"name of its file, got {first!r}")
    if block.kind not in ("shell", "text", "c", "python", "json", "mlir"):
        return (f"{document}:{block.line}: expected a fence of bash, c, "
                f"python, json or mlir, got {block.kind}")
    return None


def is_text(document, block):
    return block.kind == "text" or \
        block.lines[0].strip() in plan.TEXT.get(document, [])


def how(document, command):
    """"run", "slow" or "never"."""
    name = name_of(command)
    if name in plan.SLOW.get(document, []):
        return "slow"
    return "never" if name in plan.NOT_RUN.get(document, {}) else "run"


def find_faults(root):
    """What is wrong with the plan: blocks that nobody runs, and commands that
    no document has."""
    faults, known = [], set()
    for document in list_documents(root):
        with open(os.path.join(root, document), encoding="utf-8") as stream:
            blocks = read_blocks(stream.read())
        for block in blocks:
            fault = check_block(document, block)
            if fault:
                faults.append(fault)
            elif is_text(document, block):
                known.add((document, block.lines[0].strip()))
            elif block.kind == "shell":
                known |= {(document, name_of(command))
                          for command, _ in commands_of(block)}
    for table in (plan.SLOW, plan.NOT_RUN, plan.TEXT):
        for document, names in table.items():
            faults += [f"test/examples/plan.py: expected a command or a block "
                       f"of {document}, got {name!r}" for name in names
                       if (document, name) not in known]
    return faults
