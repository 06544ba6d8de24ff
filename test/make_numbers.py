#!/usr/bin/env python3
# One page of numbers: tests by kind, laws, what ran for longer than a test, what
# compiling costs and how large code is.
#   make_numbers.py --build build/dev -o docs/numbers.md
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import glob
import json
import os
import re
import resource
import subprocess
import tempfile

import ledger

ROOT = os.path.join(ledger.ROOT, "..")
SPECS = os.path.join(ROOT, "examples", "specs")
COMPILED = ("tiny-gpt2", "published/bert-base", "published/gpt2",
            "published/t5-base", "published/llama-7b")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as stream:
        return stream.read()


def count_in(pattern, *globs):
    """How often a pattern is in the files of some globs."""
    files = [path for each in globs for path in
             glob.glob(os.path.join(ROOT, each), recursive=True)]
    return sum(len(re.findall(pattern, read(path), re.M)) for path in files)


def count_tests(build):
    """Rows of (kind, how many, what one is)."""
    listed = subprocess.run(["ctest", "--test-dir", build, "-N"],
                            capture_output=True, text=True, check=True).stdout
    lit = [path for folder in ("dialect", "compiler", "tfc", "e2e")
           for ending in ("mlir", "test") for path in
           glob.glob(os.path.join(ROOT, "test", folder, "**", "*." + ending),
                     recursive=True)]
    cases = json.loads(read("test", "golden", "cases.json"))["models"]
    return [
        ("ctest", len(re.findall(r"^ *Test +#", listed, re.M)),
         "programs, without those of the presets with sanitizers"),
        ("lit", len(lit), "files"),
        ("lit commands", sum(len(re.findall(r"RUN:", read(path)))
                             for path in lit), "RUN lines"),
        ("unit", count_in(r"^(?:TYPED_)?TEST(?:_[FP])?\(", "test/**/*.cpp"),
         "cases of GoogleTest"),
        ("golden", len(cases), "models with what Hugging Face gave"),
        ("families", len(read("test", "golden", "families.txt").split()),
         "families and abilities with golden and differential tests"),
        ("laws", count_in(r"^def check_", "test/golden/laws.py"),
         "that hold bit for bit, or without a reference"),
        ("fuzzers", len(glob.glob(os.path.join(ROOT, "test/fuzz/Fuzz*.cpp"))),
         "targets"),
        ("planted faults", count_in(r"^    \(\"tiny-",
                                    "test/reduce/test_reduce.py"),
         "that tfc_reduce.py finds and names"),
    ]


def sum_rows(kind, *fields):
    rows = [row for row in ledger.read() if row["kind"] == kind]
    return [sum(row[field] for row in rows) for field in fields]


def list_runs():
    """The ledger as a table."""
    lines = ["| what | date | commit | seed or target | count | found or noticed "
             "| hours |", "|---|---|---|---|---|---|---|"]
    for row in ledger.read():
        count = row.get("count", row.get("tried"))
        found = (f"{row['noticed']} noticed" if "noticed" in row
                 else f"{row['found']} found")
        lines.append(
            f"| {row['kind']} | {row['date']} | {row['commit']} | "
            f"{row.get('seed', row.get('target'))} | {count:,} | {found} | "
            f"{row['seconds'] / 3600:.1f} |")
    return lines


def measure(tfc, spec, folder):
    """CPU seconds and megabytes of compiling all programs; bytes of the
    library."""
    library = os.path.join(folder, "m.so")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([tfc, "compile", os.path.join(SPECS, spec + ".json"), "-o",
                    library, "--force"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime -
            before.ru_stime, os.path.getsize(library))


def list_costs(tfc):
    lines = ["| spec | CPU seconds | library, KB |", "|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for spec in COMPILED:
            seconds, size = measure(tfc, spec, folder)
            lines.append(f"| {spec} | {seconds:.1f} | {size / 1000:.0f} |")
    return lines


def make_page(build):
    models, runs, found = sum_rows("models", "count", "runs", "found")
    tried, noticed = sum_rows("mutants", "tried", "noticed")
    executions, = sum_rows("fuzz", "count")
    lines = ["# Numbers", "",
             f"Written by `python3 test/make_numbers.py` on {ledger.commit()}.", "",
             "| tests | how many | of what |", "|---|---|---|"]
    lines += [f"| {kind} | {count:,} | {what} |"
              for kind, count, what in count_tests(build)]
    lines += ["", "## Run for longer than a test", "",
              f"{models:,} random models, {runs:,} runs of their programs, "
              f"{found} models with a difference; {noticed:,} of {tried:,} "
              f"mutants of passes noticed; {executions:,} executions of "
              "fuzzers. [trust.md](trust.md) says what each is.", ""]
    lines += list_runs()
    lines += ["", "## Compiling", "",
              "Both programs of x86-64, on one machine; CPU seconds count all "
              "threads.", ""]
    lines += list_costs(os.path.join(build, "bin", "tfc"))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "dev"))
    parser.add_argument("-o", dest="output",
                        default=os.path.join(ROOT, "docs", "numbers.md"))
    args = parser.parse_args()
    page = make_page(args.build)
    with open(args.output, "w", encoding="utf-8") as stream:
        stream.write(page)


if __name__ == "__main__":
    main()
