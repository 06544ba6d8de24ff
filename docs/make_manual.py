#!/usr/bin/env python3
# Makes the manual pages of the tools of what their --help prints, and has them
# print what shells complete. Run by the build.
#   make_manual.py --bin FOLDER_OF_TOOLS --version VERSION --out FOLDER
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import re
import subprocess

TOOLS = ("tfc", "tfc-run", "tfc-bench")
# Where descriptions of tfc-run's and tfc-bench's options begin.
COLUMN = 24
# Where each shell looks for the completions that packages bring.
COMPLETIONS = {"bash": "bash-completion/completions/{}",
               "zsh": "zsh/vendor-completions/_{}",
               "fish": "fish/vendor_completions.d/{}.fish"}
CACHE = """tfc run keeps the libraries that it makes in the folder tfc of
$XDG_CACHE_HOME, or of ~/.cache where that is not set. The folder may be deleted
at any time."""
STATUS = "0 ok, 1 bad input, 2 bad command line, 70 a fault of tfc."

# Commands that the Python package reads, which need not be there.
OF_PYTHON = {"chat": "tfc chat [options] HF_DIR",
             "compare-batches": "tfc compare-batches --texts FILE [options] "
                                "[HF_DIR]",
             "replay": "tfc replay [options] RECEIPT --model HF_DIR",
             "serve": "tfc serve [options] HF_DIR [HF_DIR...]",
             "transcribe": "tfc transcribe [options] HF_DIR FILE.wav..."}
# What a command's options do not say of themselves.
BEHIND = {"run": [".PP", "It takes the options of", ".BR tfc\\-run (1),",
                  "too."]}


def quote(text):
    """Text as roff prints it."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def item(tag, description):
    """A tagged paragraph; of several lines in columns, these as they are."""
    lines = [".TP", ".B " + quote(tag)]
    for number, line in enumerate(description):
        if number and re.search(r"\S  +\S", line):
            return lines + [".nf"] + [quote(rest) for rest in
                                      description[number:]] + [".fi"]
        lines.append(quote(line.strip()))
    return lines


def head(name, version, summary):
    return [f'.TH {name.upper()} 1 "" "tfc {version}" "User Commands"',
            ".SH NAME", f"{quote(name)} \\- {quote(summary)}"]


def foot(name):
    others = [f"{quote(tool)}(1)" for tool in TOOLS if tool != name]
    return [".SH SEE ALSO", ", ".join(others)]


def text_page(name, version, text):
    """Of tfc-run and tfc-bench, whose help is a text of their own: usage,
    paragraphs, options, the exit status at the end."""
    usage, _, rest = text.partition("\n\n")
    body, status = rest.split("Exit status: ")
    summary = body.split(".")[0]
    summary = " ".join(summary.split())
    page = head(name, version, summary[:1].lower() + summary[1:])
    page += [".SH SYNOPSIS", ".nf"]
    page += [quote(line.replace("usage:", "").strip())
             for line in usage.splitlines()] + [".fi", ".SH DESCRIPTION"]
    lines = body.splitlines()
    while lines:
        line = lines.pop(0)
        if re.match(r"  \S", line):
            beside = line[COLUMN:] if line[COLUMN - 1:COLUMN] == " " else ""
            tag = line[:COLUMN] if beside else line
            description = [beside] if beside else []
            while lines and lines[0].startswith(" " * COLUMN):
                description.append(lines.pop(0)[COLUMN:])
            page += item(tag.strip(), description)
        elif line.endswith(":"):
            page += [".SS " + quote(line[:-1])]
        elif line:
            page += [quote(line)]
        else:
            page += [".PP"]
    return page + [".SH EXIT STATUS", quote(status.strip())] + foot(name)


def options_of(text):
    """The options of one of tfc's commands that are its own, as items."""
    own = text.partition("tfc options:\n")[2]
    lines = []
    for tag, description in re.findall(r"^  (-\S+(?: <\S+>)?) +- (.*)$", own,
                                       re.M):
        lines += item(tag, [description])
    return lines


def command_page(version, ask):
    """Of tfc, whose commands have a help each."""
    text = ask("tfc", "--help")
    summary = re.search(r"^OVERVIEW: tfc: (.*)$", text, re.M)[1]
    commands = re.findall(r"^  (\w[\w-]*) +- (.*)$",
                          text.partition("SUBCOMMANDS:")[2], re.M)
    page = head("tfc", version, summary) + [".SH SYNOPSIS", ".nf"]
    helps = {name: ask("tfc", name, "--help") for name, _ in commands
             if name not in OF_PYTHON}
    for name, _ in commands:
        usage = OF_PYTHON[name] if name in OF_PYTHON else \
            re.search(r"^USAGE: (.*)$", helps[name], re.M)[1]
        page.append(quote(usage))
    page += [".fi", ".SH COMMANDS"]
    for name, description in commands:
        page += [".SS tfc " + name, quote(description)]
        page += [quote(f"tfc {name} --help shows its options.")] \
            if name in OF_PYTHON else options_of(helps[name])
        page += BEHIND.get(name, [])
    return page + [".SH OPTIONS"] + options_of(text) + [
        ".TP", ".B " + quote("--help"), "show the options of a command",
        ".TP", ".B " + quote("--version"), "show the version",
        ".SH FILES", quote(CACHE), ".SH EXIT STATUS", quote(STATUS)
        ] + foot("tfc")


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()

    def ask(tool, *arguments):
        return subprocess.run(
            [os.path.join(options.bin, tool), *arguments], check=True,
            stdout=subprocess.PIPE, text=True).stdout

    for tool in TOOLS:
        page = command_page(options.version, ask) if tool == "tfc" else \
            text_page(tool, options.version, ask(tool, "--help"))
        write(os.path.join(options.out, "man", "man1", tool + ".1"),
              "\n".join(page) + "\n")
        for shell, place in COMPLETIONS.items():
            write(os.path.join(options.out, place.format(tool)),
                  ask(tool, f"--print-completion={shell}"))


if __name__ == "__main__":
    main()
