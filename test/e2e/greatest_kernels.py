# The kernel that finds the greatest column of each row, on the stand-in for
# CUDA's driver, beside the same in Python; and without each of its barriers and
# exchanges, or with another comparison: something wrong, or an error.
#   greatest_kernels.py TFC_OPT DRIVER IR
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import math
import os
import random
import re
import struct
import sys

from device_kernels import Device, compile_kernels
from mutants import count_noticed, holds, isolate

PASSES = "tfc-find-greatest,canonicalize,cse"
NAME = "greatest_column"
GUARD = b"\x5a" * 64
THREADS, SHARED = 1024, 256
NONE, NAN = -1, -2
# Below a warp, below and at a turn of the block, more than two turns; a width
# of its own for mutants, which a second turn begins.
WIDTHS = (1, 5, 97, 1024, 8192, 16400)
WIDTH = 8200
# What a mutant has in place of an instruction. Equal columns are one, so that
# "not greater" would be the same as "less".
OTHERS = ((r"setp\.gt\.f32", "setp.ge.f32"), (r"setp\.eq\.f32", "setp.ne.f32"),
          (r"setp\.lt\.s32", "setp.gt.s32"), (r"setp\.nan\.f32", "setp.eq.f32"),
          (r"min\.s32", "max.s32"), (r"or\.pred", "and.pred"))


def greatest(row):
    if any(math.isnan(value) for value in row):
        return NAN
    best = max(row)
    return row.index(best) if best > -math.inf else NONE


def draw_row(draw, width, sign):
    """Multiples of a quarter, all of one sign, so that many are equal."""
    return [sign * draw.randint(1, 8) / 4 for _ in range(width)]


def draw_rows(draw, width):
    """Rows whose greatest columns are in many lanes and in every warp; equal
    ones in one thread, in others, and none."""
    rows = []
    for place in range(0, width, max(1, width // 40) | 1):
        row = draw_row(draw, width, 1 if place % 2 else -1)
        row[place] = 4 if place % 2 else -0.125
        rows.append(row)
    for sign in (1, -1):
        rows.append(draw_row(draw, width, sign))
    rows.append([0.0] * width)
    rows.append([-0.0 if column % 3 else 0.0 for column in range(width)])
    rows.append([-math.inf] * width)
    for value in (math.inf, -1e30, math.nan, -math.nan):
        row = [-math.inf] * width
        row[draw.randrange(width)] = value
        rows.append(row)
    # The last column is nobody's twice, and the row behind it is not read.
    row = [-2.0] * width
    row[-1] = -1.0
    rows += [row, [8.0] * width]
    # One NaN in a row that has greater ones, in each part of a thread's turn.
    for turn in range(0, width, THREADS):
        row = draw_row(draw, width, 1)
        row[min(width - 1, turn + draw.randrange(THREADS))] = math.nan
        rows.append(row)
    for turn in range(THREADS, width, THREADS):
        row = [1.0] * width
        row[turn - THREADS] = row[turn] = 2.0
        rows.append(row)
    return rows


def is_right(device, text, width, seed):
    rows = draw_rows(random.Random(f"{seed} {width}"), width)
    wanted = [greatest(row) for row in rows]
    size = 4 * len(rows)
    logits = device.upload(struct.pack(f"<{width * len(rows)}f",
                                       *sum(rows, [])))
    found = device.upload(b"\xa5" * size + GUARD)
    device.launch(device.load(text), NAME, (len(rows), 1, 1), THREADS, SHARED,
                  [logits, found, ctypes.c_int32(width)])
    return (device.download(found, size + len(GUARD)) ==
            struct.pack(f"<{len(rows)}i", *wanted) + GUARD)


def list_others(lines):
    """(what is another one, the PTX with it)."""
    for pattern, other in OTHERS:
        places = [i for i, line in enumerate(lines)
                  if re.search(pattern, line)]
        if not places:
            sys.exit(f"expected an instruction {pattern}")
        # Of those of a turn, and of those of an exchange, one each.
        for i in {places[0], places[len(places) // 2], places[-1]}:
            yield lines[i].strip(), "\n".join(
                lines[:i] + [re.sub(pattern, other, lines[i])] + lines[i + 1:])


def main():
    tfc_opt, driver, source = sys.argv[1:4]
    _, ptx, kernels = compile_kernels(tfc_opt, source, PASSES)
    if kernels != {NAME: (THREADS, SHARED)}:
        sys.exit(f"expected one kernel, got {kernels}")
    seed = os.environ.get("TFC_SEED", "1")
    for width in WIDTHS:
        if not is_right(Device(driver), ptx, width, seed):
            sys.exit(f"wrong: rows of {width}")

    def fails(text):
        return not holds(lambda each: is_right(Device(driver), each, WIDTH, 2),
                         text)

    missing = count_noticed(
        ptx, [NAME], lambda _, text: is_right(Device(driver), text, WIDTH, 2))
    wrong = 0
    for what, text in list_others(isolate(ptx, NAME)):
        if not fails(text):
            sys.exit(f"nobody notices another instruction for {what}")
        wrong += 1
    print(f"rows of {len(WIDTHS)} widths are right, {missing} missing and "
          f"{wrong} wrong instructions are noticed")


main()
