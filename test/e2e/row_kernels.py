# Kernels whose blocks do a row together, on the stand-in for CUDA's driver: sums of
# integers, which every order of adding gives exactly; and each without one of its
# barriers, which gives something wrong, or an error.
#   row_kernels.py TFC_OPT DRIVER IR
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import os
import random
import re
import struct
import sys

from device_kernels import Device, Fault, make_ptx

# By the first word of a kernel's name.
WIDTHS = {"wide": 4096, "tail": 2056}
TOKENS = 3
BARRIER = re.compile(r"\s*(bar|barrier)\.")
PASSES = "tfc-distribute-vectors,tfc-outline-threads,canonicalize,cse"
GUARD = b"\x5a" * 64


def pack(values):
    return struct.pack(f"<{len(values)}f", *values)


class Case:
    """x, and x + sum(x) + sum(x * x) of each row."""

    def __init__(self, name, seed):
        self.name = name
        draw = random.Random(f"{seed} {name}")
        width = WIDTHS[name.split("_")[0]]
        x, y = [], []
        for _ in range(TOKENS):
            row = [draw.randint(-3, 3) for _ in range(width)]
            both = sum(row) + sum(value * value for value in row)
            x += row
            y += [value + both for value in row]
        self.x, self.wanted = pack(x), pack(y) + GUARD

    def is_right(self, driver, ptx, threads):
        """In a child, as a fault kills the device."""
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if self.run(Device(driver), ptx, threads) else 1)
            except Fault:
                os._exit(1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    def run(self, device, ptx, threads):
        size = len(self.wanted)
        x = device.upload(self.x)
        y = device.upload(b"\xa5" * (size - len(GUARD)) + GUARD)
        device.launch(device.load(ptx), self.name, (TOKENS, 1, 1), threads, 0,
                      [x, y, ctypes.c_int64(TOKENS)])
        return device.download(y, size) == self.wanted


def main():
    tfc_opt, driver, source = sys.argv[1:4]
    ptx, kernels = make_ptx(tfc_opt, source, PASSES)
    missing = 0
    for name, (threads, _) in sorted(kernels.items()):
        case = Case(name, os.environ.get("TFC_SEED", "1"))
        if not case.is_right(driver, ptx, threads):
            sys.exit(f"{name}: expected the sums of integers, got others")
        lines = ptx.split("\n")
        begin = next(i for i, line in enumerate(lines)
                     if re.match(rf"\.visible \.entry {name}\b", line))
        for i in range(begin, lines.index("}", begin)):
            if BARRIER.match(lines[i]):
                missing += 1
                mutant = "\n".join(lines[:i] + lines[i + 1:])
                if case.is_right(driver, mutant, threads):
                    sys.exit(f"{name}: nobody notices that "
                             f"{lines[i].strip()} is missing")
    print(f"{len(kernels)} kernels are right, {missing} missing barriers are "
          f"noticed")


main()
