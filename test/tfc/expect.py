# Runs a command that must fail: checks its exit status, every line of its
# standard error, and that it wrote nothing.
#   expect.py STATUS LINE... -- COMMAND...
# A LINE is the whole line; * stands for any text.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import re
import subprocess
import sys


def listing(folder):
    """Every path below a folder, with its size and time of change."""
    found = {}
    for root, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(root, name)
            status = os.lstat(path)
            found[path] = (status.st_size, status.st_mtime_ns)
    return found


def matches(line, pattern):
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), line)


def problems(command, status, patterns, folder="."):
    """What is not as expected, one text a problem."""
    before = listing(folder)
    # Signals stay as the test set them: one lets a full disk be an error.
    run = subprocess.run(command, capture_output=True, timeout=120,
                         restore_signals=False)
    lines = run.stderr.decode(errors="replace").splitlines()
    found = []
    if run.returncode != status:
        found.append(f"expected exit status {status}, got {run.returncode}")
    if len(lines) != len(patterns) or not all(map(matches, lines, patterns)):
        found.append("expected on standard error\n  " + "\n  ".join(patterns) +
                     "\ngot\n  " + "\n  ".join(lines))
    if run.stdout:
        found.append(f"expected no output, got {run.stdout!r}")
    # The folder itself may have been touched: by a file that is gone again.
    after = listing(folder)
    if after != before:
        found.append(f"expected nothing written, got "
                     f"{sorted(set(after.items()) - set(before.items()))}")
    return found


def main():
    split = sys.argv.index("--")
    found = problems(sys.argv[split + 1:], int(sys.argv[1]), sys.argv[2:split])
    for text in found:
        print(text, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
