#!/usr/bin/env python3
# Checks that every command of the documents is run by a test, or named in
# test/examples/plan.py with the reason why not.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "test", "examples"))

import blocks


def main():
    parser = argparse.ArgumentParser(description="checks the documents' plan")
    parser.add_argument("--root", default=ROOT)
    faults = blocks.find_faults(parser.parse_args().root)
    for fault in faults:
        print(f"error: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
