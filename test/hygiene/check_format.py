#!/usr/bin/env python3
# Checks that clang-format would change nothing. Another version formats
# otherwise, so without the right one the check is skipped.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import shutil
import subprocess
import sys

from check_layout import list_files

SKIPPED = 77
FORMATTER = "clang-format-22"


def main():
    parser = argparse.ArgumentParser(description="checks the formatting")
    parser.add_argument("--root", default=os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    parser.add_argument("--formatter", default=FORMATTER)
    options = parser.parse_args()
    if not shutil.which(options.formatter):
        print(f"skipped: no {options.formatter}")
        return SKIPPED
    root = os.path.abspath(options.root)
    files = [path for path in list_files(root)
             if path.endswith((".h", ".cpp", ".c"))]
    done = subprocess.run([options.formatter, "--dry-run", "--Werror", *files],
                          cwd=root, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return 0
    found = {line.split(":")[0] for line in done.stderr.splitlines()
             if "[-Wclang-format-violations]" in line}
    for path in sorted(found):
        print(f"error: {path}: expected the formatting of .clang-format, got "
              "another")
    if not found:
        print(done.stderr)
    print(f"repair: {options.formatter} -i {' '.join(sorted(found))}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
