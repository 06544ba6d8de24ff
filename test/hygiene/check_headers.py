#!/usr/bin/env python3
# Checks that no source starts from a precompiled header that it does not include
# itself, so that one that forgot an include builds nowhere.
#   check_headers.py --build build/dev
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import functools
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "cmake"))

import choose_headers


@functools.lru_cache(None)
def headers_of(compiled):
    """The headers that a precompiled one is made of."""
    with open(re.sub(r"\.pch$", "", compiled), encoding="utf-8") as stream:
        return re.findall(r'^#include ["<](.+)[">]', stream.read(), re.M)


@functools.lru_cache(None)
def includes_of(folders):
    return choose_headers.Includes(folders)


def find_faults(commands):
    """Of the commands of a compile_commands.json."""
    for entry in commands:
        words = entry["command"].split()
        compiled = [word for word in words if word.endswith(".pch")]
        if not compiled or os.path.basename(entry["file"]).startswith(
                "cmake_pch") or "/precompiled/" in entry["file"]:
            continue
        folders = tuple(word[2:] for word in words
                        if word.startswith("-I")) + tuple(
            after for word, after in zip(words, words[1:])
            if word == "-isystem") + ("/usr/include",)
        for header in includes_of(folders).missing(
                entry["file"], headers_of(compiled[0])):
            yield (f"{entry['file']}: expected it to include {header}, which "
                   "it starts from precompiled, got none (after a change of "
                   "includes configure again)")


def main():
    parser = argparse.ArgumentParser(description="checks precompiled headers")
    parser.add_argument("--build", required=True)
    place = os.path.join(parser.parse_args().build, "compile_commands.json")
    with open(place, encoding="utf-8") as stream:
        commands = json.load(stream)
    faults = list(find_faults(commands))
    for fault in faults:
        print(f"error: {fault}")
    print(f"headers: {len(commands)} sources, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
