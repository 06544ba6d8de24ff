# Kernels of recurrences and short convolutions, on the stand-in for CUDA's driver,
# beside the same in Python: sequences with and without a state, of no, one and many
# tokens, alone, beside others and in pieces; and each without one of its exchanges,
# which gives something wrong, or an error.
#   recurrent_kernels.py TFC_OPT DRIVER IR
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import os
import random
import struct
import sys

from device_kernels import Device, compile_kernels
from mutants import count_noticed

PASSES = ("tfc-bind-weights,tfc-expand-device-recurrences,"
          "tfc-expand-scalar-kernels,"
          "tfc-expand-math{polynomials=own rounding=false},canonicalize,cse,"
          "tfc-outline-threads,canonicalize,cse")
GUARD = b"\x5a" * 64
LINE = 64
# tfc_step_v0: how many fields, and which of them kernels read.
STEP_FIELDS, CACHES, BLOCK_TABLE, TOKENS, SEQUENCES_COUNT, SEQUENCES = (
    20, 3, 4, 5, 7, 8)


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def halves(values):
    """bf16 of numbers that are some."""
    data = floats(values)
    return b"".join(data[i + 2:i + 4] for i in range(0, len(data), 4))


def read_floats(data):
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def read_halves(data):
    return read_floats(b"".join(b"\0\0" + data[i:i + 2]
                                for i in range(0, len(data), 2)))


class Recurrence:
    """Rows of queries, keys, values, decays and betas."""

    def __init__(self, heads, key_heads, keys, values, adds, is_narrow,
                 decays=1):
        # How many decays a head has, and keys that a lane has at most.
        self.decays, self.lane_keys = decays, 16 if decays == 1 else 8
        self.heads, self.key_heads = heads, key_heads
        self.keys, self.values, self.adds = keys, values, adds
        self.layers, self.layer, self.first = (1, 0, 8) if adds else (2, 1, 0)
        self.state_size = heads * keys * values
        self.pack, self.read = ((halves, read_halves) if is_narrow
                                else (floats, read_floats))
        self.near = 2 ** -7 if is_narrow else 1e-4
        self.width = heads * values
        self.skip = [(head - 1) / 2 for head in range(heads)]
        self.counts = [5, 0, 1, 11, 2, 3]

    def draw_row(self, draw):
        key = [draw.randint(-2, 2) / 8
               for _ in range(self.key_heads * self.keys)]
        query = [draw.randint(-4, 4) / 4 for _ in key]
        value = [draw.randint(-8, 8) / 8 for _ in range(self.width)]
        decay = [draw.choice([0.5, 0.75, 1])
                 for _ in range(self.heads * self.decays)]
        beta = [draw.choice([0.25, 0.5, 1]) / 2 for _ in range(self.heads)]
        return key, query, value, decay, beta

    def arguments(self, rows, upload):
        parts = [upload(pack(sum((row[i] for row in rows), [])))
                 for i, pack in enumerate([self.pack] * 3 + [floats] * 2)]
        if self.decays > 1:  # which are loaded behind the keys and queries
            parts[2:4] = reversed(parts[2:4])
        return [upload(floats(self.skip))] * self.adds + parts

    def launch(self, device, module, name, step, sequences, rows, result):
        lanes = 1
        while lanes * self.lane_keys < self.keys:
            lanes *= 2
        columns = 32 // lanes * 2
        stretches = -(-self.values // columns)
        blocks = -(-sequences * self.heads * stretches * 32 // 128)
        device.launch(module, name, (blocks, 1, 1), 128, 0,
                      [step, *self.arguments(rows, device.upload), result,
                       ctypes.c_int64(sequences)])

    def advance(self, state, row):
        """The row's result; changes the state."""
        keys, values, result = self.keys, self.values, []
        for head in range(self.heads):
            at = head * self.key_heads // self.heads * keys
            key, query = (part[at:at + keys] for part in row[:2])
            value = row[2][head * values:(head + 1) * values]
            decay, beta = row[3][head * self.decays:], row[4][head]
            begin = head * keys * values
            for j in range(values):
                places = range(begin + j, begin + keys * values, values)
                for key_number, i in enumerate(places):
                    state[i] *= decay[key_number % self.decays]
                found = 0 if self.adds else sum(
                    k * state[i] for k, i in zip(key, places))
                for k, i in zip(key, places):
                    state[i] += k * beta * (value[j] - found)
                y = sum(q * state[i] for q, i in zip(query, places))
                result.append(y + self.skip[head] * value[j] * self.adds)
        return result


class Convolution:
    """Four taps over 264 columns."""
    layers, layer, first, near = 1, 0, 0, 0
    width, taps = 264, 4
    state_size = 3 * 264
    pack, read = staticmethod(floats), staticmethod(read_floats)
    # More sequences than a warp has lanes, and of more than one stretch.
    counts = [8, 0, 1, 2, 3, 17, 9, 4] * 5

    def __init__(self):
        draw = random.Random(3)
        self.weights = [[draw.randint(-3, 3) for _ in range(self.taps)]
                        for _ in range(self.width)]
        self.bias = [draw.randint(-9, 9) for _ in range(self.width)]

    def draw_row(self, draw):
        return [draw.randint(-9, 9) for _ in range(self.width)]

    def launch(self, device, module, name, step, sequences, rows, result):
        stretches = len(rows) // 8 + sequences
        vectors = self.width // 4
        blocks = -(-stretches * -(-vectors // 32) * 32 // 128)
        device.launch(module, name, (blocks, 1, 1), 128, 0,
                      [step, ctypes.c_int64(sequences),
                       device.upload(floats(sum(self.weights, []))),
                       device.upload(floats(self.bias)),
                       device.upload(floats(sum(rows, []))), result,
                       ctypes.c_int64(stretches)])

    def advance(self, state, row):
        rows = state + row
        result = [
            bias + sum(w * rows[tap * self.width + i]
                       for tap, w in enumerate(weight))
            for i, (weight, bias) in enumerate(zip(self.weights, self.bias))]
        state[:] = rows[self.width:]
        return result


class Sequence:
    """New rows, and the numbers of the blocks that are read and written."""

    def __init__(self, rows, read, written):
        self.rows, self.read, self.written = rows, read, written


def run(device, module, name, what, sequences, blocks):
    """The results of a step, kept as the device does; changes the blocks."""
    rows = sum((sequence.rows for sequence in sequences), [])
    tables, first = b"", 0
    for i, sequence in enumerate(sequences):
        count = len(sequence.rows)
        tables += struct.pack("<4iiIii4i", first, count, 0, count, 0, 0, 0, 0,
                              0, 2 * i, 0, 0)
        first += count
    numbers = [n for sequence in sequences
               for n in (sequence.read, sequence.written)]
    states = device.upload(b"".join(blocks))
    fields = [0] * STEP_FIELDS
    fields[CACHES] = device.upload(struct.pack("<2Q", 0, states.value)).value
    fields[BLOCK_TABLE] = device.upload(
        struct.pack(f"<{len(numbers)}i", *numbers)).value
    fields[TOKENS], fields[SEQUENCES_COUNT] = len(rows), len(sequences)
    fields[SEQUENCES] = device.upload(tables).value
    step = device.upload(struct.pack(f"<{STEP_FIELDS}Q", *fields))
    size = len(what.pack([0] * what.width)) * len(rows)
    result = device.upload(b"\xa5" * size + GUARD)
    what.launch(device, module, name, step, len(sequences), rows, result)
    found = device.download(result, size + len(GUARD))
    data = device.download(states, sum(map(len, blocks)))
    for i in range(len(blocks)):
        blocks[i] = data[i * len(blocks[i]):(i + 1) * len(blocks[i])]
    return found[:size] if found[size:] == GUARD else b""


class Case:
    def __init__(self, what, seed):
        self.what = what
        draw = random.Random(seed)
        self.layer_bytes = -(-(what.first + what.state_size) * 4 // LINE) * LINE
        size = what.layers * self.layer_bytes // 4
        self.blocks = [floats([draw.randint(-8, 8) / 8 for _ in range(size)])
                       for _ in range(2 * len(what.counts))]
        # Every third is new; every third writes what it reads.
        self.sequences = [
            Sequence([what.draw_row(draw) for _ in range(count)],
                     [2 * i, -1, 2 * i + 1][i % 3], 2 * i + 1)
            for i, count in enumerate(what.counts)]

    def place(self):
        begin = self.what.layer * self.layer_bytes + 4 * self.what.first
        return begin, begin + 4 * self.what.state_size

    def is_near(self, found, wanted):
        return len(found) == len(wanted) and all(
            abs(a - b) <= self.what.near * max(1, abs(b))
            for a, b in zip(found, wanted))

    def is_right(self, device, module, name):
        """All sequences at once, beside Python's results and states; nothing
        else is written."""
        blocks = list(self.blocks)
        found = run(device, module, name, self.what, self.sequences, blocks)
        begin, end = self.place()
        results, wanted = [], list(self.blocks)
        for sequence in self.sequences:
            state = ([0.0] * self.what.state_size if sequence.read < 0 else
                     read_floats(self.blocks[sequence.read][begin:end]))
            for row in sequence.rows:
                results += self.what.advance(state, row)
            block = blocks[sequence.written]
            if not self.is_near(read_floats(block[begin:end]), state):
                return False
            old = wanted[sequence.written]
            wanted[sequence.written] = (old[:begin] + block[begin:end] +
                                        old[end:])
        return self.is_near(self.what.read(found), results) and wanted == blocks

    def is_same_in_pieces(self, device, module, name):
        """Each sequence alone, cut in two, has the same bits."""
        whole = list(self.blocks)
        found = run(device, module, name, self.what, self.sequences, whole)
        size = len(self.what.pack([0] * self.what.width))
        for sequence in self.sequences[:9]:
            blocks, count = list(self.blocks), len(sequence.rows)
            own, found = found[:count * size], found[count * size:]
            cut, pieces = count // 3, b""
            read = sequence.read
            # There is no step without tokens.
            for rows in filter(None, (sequence.rows[:cut],
                                      sequence.rows[cut:])):
                pieces += run(device, module, name, self.what,
                              [Sequence(rows, read, sequence.written)],
                              blocks)
                read = sequence.written
            if count and (pieces != own or blocks[sequence.written] !=
                          whole[sequence.written]):
                return False
        return True


def make(name):
    what = name.split("_")[0]
    if what == "conv":
        return Convolution()
    if what == "delta":
        return Recurrence(2, 1, 100, 20, adds=False, is_narrow=False)
    if what == "keys":
        return Recurrence(4, 2, 50, 10, adds=False, is_narrow=True, decays=50)
    return Recurrence(4, 2, 32, 12, adds=True, is_narrow=True)


def main():
    tfc_opt, driver, source = sys.argv[1:4]
    _, ptx, kernels = compile_kernels(tfc_opt, source, PASSES)
    # What the pass leaves is loops of another one, with a test of their own.
    names = sorted(name for name in kernels if not name.startswith("left"))
    drawn = os.environ.get("TFC_SEED", "1")
    for name in names:
        device = Device(driver)
        case, module = Case(make(name), f"{drawn} {name}"), device.load(ptx)
        if not case.is_right(device, module, name):
            sys.exit(f"{name}: wrong")
        if not case.is_same_in_pieces(device, module, name):
            sys.exit(f"{name}: other bits in pieces")

    def is_right(name, text):
        device = Device(driver)
        return Case(make(name), 2).is_right(device, device.load(text), name)

    missing = count_noticed(ptx, names, is_right)
    print(f"{len(names)} kernels are right, {missing} missing instructions are "
          "noticed")


main()
