# Runs a command whose standard error is a terminal, and prints what came to it,
# escapes and ends of lines as Python writes them.
#   on_terminal.py COMMAND...
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import pty
import subprocess
import sys


def main():
    terminal, other_end = pty.openpty()
    process = subprocess.Popen(sys.argv[1:], stderr=other_end)
    os.close(other_end)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # nobody has the other end any more
            break
        if not part:
            break
        shown += part
    print(ascii(shown.decode()))
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
