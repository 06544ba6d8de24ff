#!/usr/bin/env python3
# Models at their published sizes: the parameters of each spec are as many as its
# authors, or the checkpoint that they released, have.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SPECS = os.path.join(ROOT, "examples", "specs", "published")


def count(tfc, path):
    said = subprocess.run([tfc, "inspect", path], check=True,
                          capture_output=True, text=True).stdout
    return int(re.search(r"^parameters: (\d+),", said, re.M)[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfc", required=True)
    options = parser.parse_args()
    faults, names = [], sorted(os.listdir(SPECS))
    for name in names:
        path = os.path.join(SPECS, name)
        with open(path) as stream:
            meta = json.load(stream)["meta"]
        wanted = meta["published_parameters"] - sum(
            meta.get("of_which_here_not", {}).values())
        found = count(options.tfc, path)
        if found != wanted:
            faults.append(f"{name}: expected {wanted} parameters, got {found}")
    print("\n".join(faults) or f"{len(names)} specs have their parameters")
    return 1 if faults or len(names) < 30 else 0


sys.exit(main())
