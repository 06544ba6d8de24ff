# Kernels that choose experts and sort rows by them, on the stand-in for CUDA's
# driver, beside the same in Python; and each without one of its barriers or
# exchanges, which gives something wrong, or an error.
#   expert_kernels.py TFC_OPT DRIVER IR
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import math
import os
import random
import struct
import sys

from device_kernels import Device, compile_kernels
from mutants import count_noticed

PASSES = ("tfc-expand-device-experts,"
          "tfc-expand-math{polynomials=own rounding=false},canonicalize,cse,"
          "tfc-outline-threads,canonicalize,cse")
GUARD = b"\x5a" * 64
ROWS = 40
# More than the four warps do at once, and no multiple of it.
PAIRS_OF_BLOCK = 173
PAIRS_OF_FEW = 19


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def words(values):
    return struct.pack(f"<{len(values)}i", *values)


def pick(choices, count):
    """The greatest of (choice, expert), of equal ones the lower number first."""
    ranked = sorted(range(len(choices)), key=lambda e: (-choices[e], e))
    return ranked[:count]


def choose(logits, bias):
    """Three of 40 in two groups, of which the one whose two greatest have the
    greater sum is used."""
    scores = [1 / (1 + math.exp(-z)) for z in logits]
    choices = [score + own for score, own in zip(scores, bias)]
    half = len(choices) // 2
    rank = [sum(sorted(group)[-2:]) for group in (choices[:half],
                                                  choices[half:])]
    used = 0 if rank[0] >= rank[1] else half
    ids = sorted(used + e for e in pick(choices[used:used + half], 3))
    total = sum(scores[e] for e in ids)
    return ids, [scores[e] / total for e in ids]


def best(logits):
    """Two of 37."""
    total = sum(math.exp(z) for z in logits)
    ids = sorted(pick(logits, 2))
    return ids, [math.exp(logits[e]) / total for e in ids]


def late(logits):
    """Two of 37, by their logits, whose sigmoids they weigh."""
    ids = sorted(pick(logits, 2))
    return ids, [1 / (1 + math.exp(-logits[e])) for e in ids]


class Choice:
    def __init__(self, draw, name):
        self.name = name
        self.experts, self.taken = (40, 3) if name == "choose" else (37, 2)
        # Many are equal, so that numbers decide; others differ clearly.
        steps = 2 if name == "choose" else 20
        logits = [[draw.randint(-steps, steps) / 4 for _ in range(self.experts)]
                  for _ in range(ROWS)]
        bias = [draw.randint(0, 1) / 8 for _ in range(self.experts)]
        self.inputs = [floats(sum(logits, []))]
        if name == "choose":
            self.inputs.append(floats(bias))
            wanted = [choose(row, bias) for row in logits]
        else:
            wanted = [(late if name == "late" else best)(row)
                      for row in logits]
        self.ids = sum((ids for ids, _ in wanted), [])
        self.weights = sum((weights for _, weights in wanted), [])

    def is_right(self, device, kernel, module):
        size = 4 * len(self.ids)
        inputs = [device.upload(data) for data in self.inputs]
        ids = device.upload(b"\xa5" * size + GUARD)
        weights = device.upload(b"\xa5" * size + GUARD)
        blocks = -(-ROWS * 32 // 128)
        device.launch(module, kernel, (blocks, 1, 1), 128, 0,
                      [*inputs, ids, weights, ctypes.c_int64(ROWS)])
        found = device.download(weights, size + len(GUARD))
        given = struct.unpack(f"<{len(self.ids)}f", found[:size])
        return (device.download(ids, size + len(GUARD)) ==
                words(self.ids) + GUARD and found[size:] == GUARD and
                all(abs(a - b) < 1e-5 for a, b in zip(given, self.weights)))


class Order:
    def __init__(self, draw, rows, is_block):
        self.rows, self.is_block = rows, is_block
        # The last expert has none.
        ids = [sorted(draw.sample(range(39), 3)) for _ in range(rows)]
        order = sorted((expert, row) for row in range(rows)
                       for expert in ids[row])
        self.ids = words(sum(ids, []))
        self.wanted = [
            words([row for _, row in order]),
            words([expert for expert, _ in order]),
            words([order.index((expert, row)) for row in range(rows)
                   for expert in ids[row]])]

    def is_right(self, device, kernel, module):
        size = 12 * self.rows
        ids = device.upload(self.ids)
        found = [device.upload(b"\xa5" * size + GUARD) for _ in self.wanted]
        arguments = ([ctypes.c_int64(3 * self.rows), ids, *found]
                     if self.is_block else
                     [ids, ctypes.c_int64(self.rows), *found])
        device.launch(module, kernel, (1, 1, 1), 128, 0, arguments)
        return all(device.download(address, size + len(GUARD)) == one + GUARD
                   for address, one in zip(found, self.wanted))


def main():
    tfc_opt, driver, source = sys.argv[1:4]
    _, ptx, kernels = compile_kernels(tfc_opt, source, PASSES)

    def case(name, seed):
        draw = random.Random(f"{seed} {name}")
        what = name.split("_")[0]
        if what != "sort":
            return Choice(draw, what)
        is_block = name == max(each for each in kernels if "sort" in each)
        return Order(draw, PAIRS_OF_BLOCK if is_block else PAIRS_OF_FEW,
                     is_block)

    def is_right(name, text, seed=2):
        device = Device(driver)
        return case(name, seed).is_right(device, name, device.load(text))

    drawn = os.environ.get("TFC_SEED", "1")
    whole = [name for name in sorted(kernels)
             if not is_right(name, ptx, drawn)]
    if whole:
        sys.exit(f"wrong: {', '.join(whole)}")
    meeting = [name for name in sorted(kernels)
               if name != min(each for each in kernels if "sort" in each)]
    # Of the same rows every time: these have equal scores where that matters.
    missing = count_noticed(ptx, meeting, is_right)
    print(f"{len(kernels)} kernels are right, {missing} missing instructions "
          f"are noticed")


main()
