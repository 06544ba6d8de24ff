#!/usr/bin/env python3
# What compiling costs: seconds of CPU, instructions where the machine counts
# them, and the bytes of the library, of the specs that stand for small and
# large models.
#   benchmarks/compile_cost.py build/release/bin/tfc
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import re
import resource
import subprocess
import tempfile

SPECS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                     "examples", "specs")
LEVELS = {"v3": "cpu:x86-64-v3", "v4": "cpu:x86-64-v4",
          "both": "cpu:x86-64-v3,cpu:x86-64-v4"}


def read_spec(name):
    with open(os.path.join(SPECS, name + ".json"), encoding="utf-8") as stream:
        return json.load(stream)


def bert_base():
    spec = read_spec("tiny-bert")
    spec["dims"].update(hidden=768, vocab=30522, max_positions=512)
    layers = spec["encoder"]["layers"]
    layers["repeat"] = 12
    layers["block"]["attn"]["num_heads"] = 12
    layers["block"]["ffn"]["width"] = 3072
    spec["heads"]["pooler"]["steps"][1]["out"] = 768
    return spec


MODELS = {"tiny-gpt2": lambda: read_spec("tiny-gpt2"),
          "tiny-bert": lambda: read_spec("tiny-bert"),
          "bert-base": bert_base}


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def instructions(command):
    """None where there is no perf, or it may not count."""
    try:
        done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u",
                               *command], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    match = re.search(r"^(\d+),", done.stderr, re.M)
    return int(match[1]) if done.returncode == 0 and match else None


def measure(tfc, folder, name, level, repeats):
    spec, library = (os.path.join(folder, name + end)
                     for end in (".json", ".so"))
    with open(spec, "w", encoding="utf-8") as stream:
        json.dump(MODELS[name](), stream)
    command = [tfc, "compile", spec, "--target=" + LEVELS[level], "-o", library]
    seconds = min(user_seconds(command) for _ in range(repeats))
    count = instructions(command)
    return seconds, count, os.path.getsize(library)


def main():
    parser = argparse.ArgumentParser(description="measures tfc compile")
    parser.add_argument("tfc")
    parser.add_argument("--repeats", type=int, default=5,
                        help="the fastest counts (default 5)")
    arguments = parser.parse_args()
    print("| model | programs | user s | G instructions | bytes |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS:
            for level in LEVELS:
                seconds, count, size = measure(arguments.tfc, folder, name,
                                               level, arguments.repeats)
                billions = f"{count / 1e9:.2f}" if count else ""
                print(f"| {name} | {level} | {seconds:.2f} | {billions} "
                      f"| {size:,} |", flush=True)


if __name__ == "__main__":
    main()
