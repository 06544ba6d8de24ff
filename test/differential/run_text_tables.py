#!/usr/bin/env python3
# The tables of runtime/text against what Hugging Face's `tokenizers` does to
# characters: to a part of them, drawn anew each time, or with --whole to all.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import random
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "runtime", "text"))
SKIPPED = 77
# Characters are drawn by pages of 256: what tables get wrong is mostly a range.
NUM_PAGES, DRAWN = 0x1100, 0x110

import make_tables


def read_array(text, name):
    """The rows of one array of the file, as lists of words."""
    body = re.search(rf"\b{name}\[\] = \{{\n(.*?)\n\}};", text, re.S).group(1)
    return [row.replace('"', "").split(", ")
            for row in re.findall(r"\{([^{}]*)\}", body) or
            re.findall(r"\w+", body)]


def numbers_of(text, name):
    return [[int(word, 0) for word in row] for row in read_array(text, name)]


def read_tables(text):
    """What make_tables.ask_tables gives, as the file has it."""
    ranges = numbers_of(text, "allRanges")
    tables = {"sets": {}, "maps": {}}
    for name, begin, end in read_array(text, "allSets"):
        tables["sets"][name] = {
            point for first, last in ranges[int(begin):int(end)]
            for point in range(first, last + 1)}
    for name in ("canonical", "compatible", "lower"):
        chars = "".join(chr(row[0])
                        for row in numbers_of(text, f"{name}Text"))
        tables["maps"][name] = {
            point: chars[at:at + count]
            for point, at, count in numbers_of(text, f"{name}Map")}
    tables["compositions"] = {
        (first, second): whole
        for first, second, whole in numbers_of(text, "allCompositions")}
    tables["classes"] = dict(numbers_of(text, "allClasses"))
    return tables


def rows_of(tables, points):
    """Table -> its rows that say something of these characters."""
    rows = {name: {(p,) for p in known & points}
            for name, known in tables["sets"].items()}
    for name, known in {**tables["maps"],
                        "classes": tables["classes"]}.items():
        rows[name] = {(p, to) for p, to in known.items() if p in points}
    rows["compositions"] = {(whole, *pair) for pair, whole
                            in tables["compositions"].items()
                            if whole in points}
    return rows


def differences(there, asked):
    """Table -> the first rows that only one of both has."""
    found = {name: sorted(there.get(name, set()) ^ asked.get(name, set()))[:8]
             for name in {*there, *asked}}
    return {name: rows for name, rows in sorted(found.items()) if rows}


def draw(seed):
    """Some pages of characters, and the first of all, which most texts are
    made of."""
    pages = {*range(4), *random.Random(seed).sample(range(NUM_PAGES), DRAWN)}
    return [p for p in make_tables.POINTS if p >> 8 in pages]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--whole", action="store_true",
                        help="every character; minutes")
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("TFC_SEED", "0")))
    options = parser.parse_args()
    try:
        import tokenizers
    except ImportError as missing:
        print(f"skipped: {missing} (the tables are compared with what it does)")
        return SKIPPED
    with open(make_tables.TABLES, encoding="utf-8") as stream:
        there = stream.read()
    made_of = there.split(" does ")[0].split(" ")[-1]
    if made_of != tokenizers.__version__:
        print(f"skipped: the tables are of tokenizers {made_of}, here is "
              f"{tokenizers.__version__}")
        return SKIPPED
    seed = options.seed or random.SystemRandom().randrange(1, 2**31)
    if not options.whole:
        print(f"seed {seed}: run_text_tables.py --seed {seed} (or "
              "TFC_SEED)", flush=True)
        make_tables.POINTS = draw(seed)
        make_tables.ALL = "".join(map(chr, make_tables.POINTS))
    points = set(make_tables.POINTS)
    faults = differences(rows_of(read_tables(there), points),
                         rows_of(make_tables.ask_tables(), points))
    for name, rows in faults.items():
        print(f"error: {make_tables.TABLES}: expected what tokenizers "
              f"{made_of} does (make_tables.py writes it anew), got other rows "
              f"of {name}: {rows}")
    if not faults:
        print(f"{len(points)} characters as tokenizers {made_of} has them")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
