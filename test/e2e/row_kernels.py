# Kernels whose blocks do a row together, on the stand-in for CUDA's driver: sums of
# integers, which every order of adding gives exactly; and each without one of its
# barriers or shuffles, which gives something wrong, or an error.
#   row_kernels.py TFC_OPT DRIVER IR
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import os
import random
import struct
import sys

from device_kernels import Device, compile_kernels
from mutants import count_noticed

# By the first word of a kernel's name.
WIDTHS = {"wide": 4096, "tail": 2056}
TOKENS = 3
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

    def is_right(self, device, ptx, threads):
        size = len(self.wanted)
        x = device.upload(self.x)
        y = device.upload(b"\xa5" * (size - len(GUARD)) + GUARD)
        device.launch(device.load(ptx), self.name, (TOKENS, 1, 1), threads, 0,
                      [x, y, ctypes.c_int64(TOKENS)])
        return device.download(y, size) == self.wanted


def main():
    tfc_opt, driver, source = sys.argv[1:4]
    _, ptx, kernels = compile_kernels(tfc_opt, source, PASSES)
    seed = os.environ.get("TFC_SEED", "1")

    def is_right(name, text):
        return Case(name, seed).is_right(Device(driver), text, kernels[name][0])

    missing = count_noticed(ptx, sorted(kernels), is_right)
    print(f"{len(kernels)} kernels are right, {missing} missing instructions "
          f"are noticed")


main()
