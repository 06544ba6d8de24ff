#!/usr/bin/env python3
# Checks that each table of a family is tested: that it has a golden model, and
# that the differential test draws each of its classes; and that no reason is
# left why it is refused.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import glob
import json
import os
import sys

# transformers has them no more: their golden models are of formulas alone
# (test/golden/make_distant.py, make_memories.py).
DROPPED = {"nezha", "transfo-xl"}
HERE = os.path.dirname(os.path.abspath(__file__))


def read(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def golden_types(root):
    """The model types of the golden models."""
    paths = glob.glob(os.path.join(root, "test", "golden", "models", "*",
                                   "config.json"))
    return {read(path).get("model_type") for path in paths}


def find_faults(root):
    """The families and classes without a test, as messages."""
    sys.path.insert(0, os.path.join(root, "test", "differential"))
    import families
    drawn = {name for family in families.switched_on()
             for name in families.CLASSES[family]}
    golden, faults = golden_types(root), []
    family = os.path.join("compiler", "spec", "family")
    refused = read(os.path.join(root, family, "refused.json"))
    folder = os.path.join(family, "tables")
    for file in sorted(os.listdir(os.path.join(root, folder))):
        path = os.path.join(folder, file)
        table = read(os.path.join(root, path))
        if "classes" not in table:
            continue
        if not golden.intersection(table["model_type"]):
            faults.append(f"{path}: expected a golden model of model type "
                          f"{table['model_type'][0]}, got none")
        faults += [f"{family}/refused.json: expected no {name} (it has a "
                   f"table), got \"{refused[name]}\""
                   for name in table["model_type"] if name in refused]
        if DROPPED.intersection(table["model_type"]):
            continue
        faults += [f"{path}: expected that test/differential draws {name} "
                   "(draw_tables.py, and families.txt of test/golden), got a "
                   "class that it does not know"
                   for name in table["classes"] if name not in drawn]
    return faults


def main():
    parser = argparse.ArgumentParser(
        description="checks that families are tested")
    parser.add_argument("--root", default=os.path.join(HERE, "..", ".."))
    options = parser.parse_args()
    faults = find_faults(os.path.abspath(options.root))
    for fault in faults:
        print(f"error: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
