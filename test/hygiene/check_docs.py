#!/usr/bin/env python3
# Checks that docs/reference is what the sources say now: makes it again beside
# and compares.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import difflib
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                    "..", ".."))


def read(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as stream:
        return stream.read().splitlines(keepends=True)


def compare(committed, fresh):
    """The lines of a diff for every file that one folder has and the other has
    not, or has differently."""
    names = sorted(set(os.listdir(committed)) | set(os.listdir(fresh)))
    lines = []
    for name in names:
        lines += difflib.unified_diff(
            read(committed, name), read(fresh, name),
            f"docs/reference/{name}", "what the sources say")
    return lines


def main():
    parser = argparse.ArgumentParser(description="checks generated documents")
    parser.add_argument("--committed",
                        default=os.path.join(ROOT, "docs", "reference"))
    parser.add_argument("--build", help="the build folder, for the message")
    options, generator = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="tfc-docs-") as fresh:
        subprocess.run([sys.executable, "-B",
                        os.path.join(ROOT, "docs", "make_reference.py"),
                        *generator, "--out", fresh], check=True)
        lines = compare(options.committed, fresh)
    if not lines:
        return 0
    sys.stdout.writelines(lines)
    build = os.path.relpath(options.build or "build/dev", ROOT)
    print("\nerror: expected docs/reference as the sources say, got the "
          f"differences above; repair: cmake --build {build} "
          "--target tfc-docs")
    return 1


if __name__ == "__main__":
    sys.exit(main())
