#!/usr/bin/env python3
# Runs a fuzzer for some seconds. Fails when an input crashes it, leaks, takes
# too long or too much memory, or breaks what the fuzzer expects; the input is
# kept.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import seeds

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import ledger  # noqa: E402

# Of one input; the slowest take a second on a quiet machine.
SECONDS_AN_INPUT = 100
MEGABYTES = 2048


def run(command, environment):
    """Its status, and how many inputs it tried; what it says goes on."""
    tried = 0
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE,
                          text=True, errors="replace") as process:
        for line in process.stderr:
            sys.stderr.write(line)
            count = re.match(r"stat::number_of_executed_units: *(\d+)", line)
            tried = int(count[1]) if count else tried
    return process.returncode, tried


def main():
    parser = argparse.ArgumentParser(description="runs a fuzzer")
    parser.add_argument("target", choices=sorted(seeds.TARGETS))
    parser.add_argument("--fuzzer", required=True, help="the program")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("TFC_SEED", "0")),
                        help="of the random numbers; 0: a new one")
    parser.add_argument("--keep", default=".",
                        help="the folder for inputs that fail")
    parser.add_argument("--found",
                        help="a folder of inputs to go on with, and for those "
                        "that are found")
    parser.add_argument("--ledger", help="a file that gets a row")
    options = parser.parse_args()
    seed = options.seed or random.SystemRandom().randrange(1, 2**31)
    print(f"seed {seed}: run_fuzz.py {options.target} --seed {seed} "
          "(or TFC_SEED)", flush=True)
    corpus = os.path.join(HERE, "corpus", options.target)
    with tempfile.TemporaryDirectory(prefix="tfc-fuzz-") as scratch:
        first = os.path.join(scratch, "seeds")
        seeds.write(options.target, first)
        found = options.found or os.path.join(scratch, "found")
        os.makedirs(found, exist_ok=True)
        words = os.path.join(scratch, "words.dict")
        with open(words, "w") as stream:
            stream.write(seeds.words(options.target))
        dictionary = [f"-dict={words}"] if os.path.getsize(words) else []
        prefix = os.path.join(os.path.abspath(options.keep),
                              f"{options.target}-")
        begun = time.monotonic()
        status, tried = run(
            [options.fuzzer, f"-seed={seed}",
             f"-max_total_time={options.seconds}",
             f"-timeout={SECONDS_AN_INPUT}", f"-rss_limit_mb={MEGABYTES}",
             f"-artifact_prefix={prefix}", "-print_final_stats=1",
             *dictionary, found, first,
             *([corpus] if os.path.isdir(corpus) else [])],
            {**os.environ, "TMPDIR": scratch})
    if options.ledger:
        ledger.append(options.ledger, ledger.row(
            "fuzz", time.monotonic() - begun, target=options.target,
            count=tried, found=int(status != 0)))
    if status != 0:
        print(f"\nerror: expected fuzz_{options.target} to end well, got "
              f"status {status}; the input is kept as {prefix}*, "
              f"once more: {options.fuzzer} FILE")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
