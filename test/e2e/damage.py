# Writes copies of a library with one bit changed, all over it, and runs a command
# for each.
#   damage.py GOOD BAD -- COMMAND...
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import subprocess
import sys

COPIES = 24
HEADER = 64  # says how long the file is, which is checked before its sum
MAGIC = 16  # from the end; without it there is no checksum


def main():
    good, bad = sys.argv[1:3]
    command = sys.argv[sys.argv.index("--") + 1:]
    with open(good, "rb") as stream:
        data = stream.read()
    last = len(data) - MAGIC
    places = [HEADER + i * (last - HEADER - 1) // (COPIES - 1)
              for i in range(COPIES)]
    for place in places + [len(data) - 1]:
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        with open(bad, "wb") as stream:
            stream.write(damaged)
        if subprocess.run(command).returncode:
            print(f"with another bit in byte {place}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
