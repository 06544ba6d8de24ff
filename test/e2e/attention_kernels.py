# The kernels of attention in tiles on the stand-in for CUDA's driver, without a model:
# steps of sequences of many lengths against the formula in double precision, and each
# sequence alone, which has the same bits.
#   attention_kernels.py TFC_OPT DRIVER IR [--mutate]   without each of what orders
#   ... --warpgroups   prompts, that four warps multiply together
#   ... --float WIDTH | --wide | --latent BYTES   of float-, wide- and latent-attention;
#                      heads of so many columns, so much shared memory
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy
import ctypes
import math
import os
import random
import re
import struct
import sys

from device_kernels import Device, compile_kernels
from mutants import count_noticed
from host_code import HostCode

PASSES = ("tfc-bind-weights,tfc-expand-device-kernels,"
          "tfc-expand-math{polynomials=own},tfc-outline-threads,"
          "canonicalize,cse")
# As in the IR, which is test/compiler/gpu/tensor-attention.mlir.
HEADS, KV_HEADS, WIDTH, LAYERS, LAYER = 4, 2, 16, 2, 1
SCALE, CAP = 0.5, 30.0
GROUP = HEADS // KV_HEADS
POSITIONS = 64  # of a block of the cache
ITEM = 64       # queries
BLOCK_BYTES = 2 * POSITIONS * KV_HEADS * WIDTH * 2 * LAYERS
LAYER_BYTES = BLOCK_BYTES // LAYERS
HEAD_BYTES = POSITIONS * WIDTH * 2
NAN = 0x7fc0
IS_FLOAT = False
# Of latents, columns of a value, which are a key's last; else 0.
VALUES = 0
GUARD = b"\x5a" * 64
# By entry: how far a query sees to the left, and whether there are sinks and a cap.
ENTRIES = {"plain": (None, False), "terms": (300, True)}
# (new tokens, tokens before) of the sequences of a step: generation with contexts
# around stretches of 256 and beyond 16 of them; a few tokens, of which the first see
# less than the last, beside prompts; and so many sequences that a block does several
# parts, behind which the mutants are.
STEPS = {
    "next": [(1, past) for past in (0, 63, 254, 255, 256, 510, 511, 512,
                                    4096)],
    "few": [(8, 250), (3, 509), (9, 255), (65, 0), (2, 0)],
    "many": [(1, 0)] * 58 + [(9, 120), (8, 2050)]}
ALONE = 9  # sequences of a step, the last ones
# Offsets in tfc_step_v0.
FIELDS = {"caches": 24, "block_table": 32, "n_tokens": 40, "n_sequences": 56,
          "sequences": 64, "n_items": 72, "items": 80, "device_step": 120}
STEP_BYTES = 128


# With --warpgroups: prompts over heads of two panels.
PROMPTS = {"prompts": [(65, 0), (20, 130), (70, 60)]}


# With --float: on both sides of 8 and of what an item has, and of the chunks and tiles
# of 64 positions; how many of the last queries of a sequence are steps of their own, of
# warps and of tiles.
FLOATS = {"prompts": [(130, 0), (20, 250), (9, 503)],
          "mixed": [(1, 63), (8, 120), (40, 300), (71, 4), (1, 1100)]}
TAILS = (1, 8, 9)


# With --wide and --latent: few and many rows of 16, of contexts of several parts.
WIDE = {"next": [(1, 63), (1, 256), (1, 700)],
        "mixed": [(1, 90), (8, 250), (3, 300), (21, 64), (65, 0)]}


def set_heads(width, element_bytes):
    global WIDTH, BLOCK_BYTES, LAYER_BYTES, HEAD_BYTES
    WIDTH = width
    HEAD_BYTES = POSITIONS * WIDTH * element_bytes
    LAYER_BYTES = (1 if VALUES else 2) * KV_HEADS * HEAD_BYTES
    BLOCK_BYTES = LAYER_BYTES * LAYERS


def set_latents(width, values):
    """All heads share what the cache keeps of a position."""
    global VALUES, KV_HEADS, GROUP
    VALUES, KV_HEADS, GROUP = values, 1, HEADS
    del ENTRIES["terms"]
    set_heads(width, 2)


def set_steps(steps, alone):
    global ALONE
    ALONE = alone
    STEPS.clear()
    STEPS.update(steps)


def widen_heads(source, width):
    """The IR, in a file beside it, with heads of WIDTH columns in the place of
    `width`."""
    with open(source, encoding="utf-8") as stream:
        text = stream.read()
    with open("wide.mlir", "w", encoding="utf-8") as stream:
        stream.write(text.replace(f"head_dim = {width}", f"head_dim = {WIDTH}")
                     .replace(f"?x{HEADS * width}x", f"?x{HEADS * WIDTH}x"))
    return "wide.mlir"


def narrow(value):
    """A number as the cache has it: as f32, or the bits as bf16, of the nearest even
    one."""
    if IS_FLOAT:
        return value
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16


def wide(bits):
    if IS_FLOAT:
        return bits
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def letter():
    """Of an element in struct."""
    return "f" if IS_FLOAT else "H"


def size_of(rows):
    return len(rows) * HEADS * WIDTH * struct.calcsize(letter())


def pack(rows):
    numbers = [bits for row in rows for bits in row]
    return struct.pack(f"<{len(numbers)}{letter()}", *numbers)


class Sequence:
    """New tokens of a sequence, and what its cache has: numbers of few bits."""

    def __init__(self, seed, left, count, past):
        draw = random.Random(seed)
        self.count, self.past, self.keys = count, past, count + past

        def rows(number, width, most):
            return [[draw.randint(-most, most) / 8 for _ in range(width)]
                    for _ in range(number)]

        self.q = rows(count, HEADS * WIDTH, 16)
        self.k = [rows(self.keys, WIDTH, 16) for _ in range(KV_HEADS)]
        self.v = [rows(self.keys, WIDTH, 8) for _ in range(KV_HEADS)]
        # Each query has a key that it likes, next to where parts meet, or to where
        # the first query's window begins.
        places = [self.keys - 1, 512, 511, 256, 255, 0]
        if left is not None:
            places = [past - left - 1, past - left] + places
        places = [place for place in places if 0 <= place <= past]
        for row in range(count * HEADS):
            t, head = divmod(row, HEADS)
            key = self.k[head // GROUP][places[row % len(places)]]
            key[:] = self.q[t][head * WIDTH:(head + 1) * WIDTH]
        if VALUES:
            self.v = [[row[WIDTH - VALUES:] for row in self.k[0]]]
        self.blocks = list(self.fill_blocks())

    def tail(self, count):
        """Its last tokens, when the others have been done."""
        last = copy.copy(self)
        last.count, last.past = count, self.keys - count
        last.q = self.q[-count:]
        return last

    def attend(self, t, head, left, sink):
        """A row of the formula."""
        query = self.q[t][head * WIDTH:(head + 1) * WIDTH]
        end = self.past + t + 1
        first = 0 if left is None else max(0, self.past + t - left)
        keys = self.k[head // GROUP][first:end]
        scores = [SCALE * math.sumprod(query, key) if hasattr(math, "sumprod")
                  else SCALE * sum(map(float.__mul__, query, key))
                  for key in keys]
        if sink is not None:
            scores = [CAP * math.tanh(score / CAP) for score in scores]
        highest = max(scores + ([] if sink is None else [sink]))
        weights = [math.exp(score - highest) for score in scores]
        total = sum(weights) + (0 if sink is None else
                                math.exp(sink - highest))
        sums = [0.0] * (VALUES or WIDTH)
        for weight, value in zip(weights, self.v[head // GROUP][first:end]):
            if weight > 1e-12:
                sums = [s + weight * v for s, v in zip(sums, value)]
        return [s / total for s in sums]

    def fill_blocks(self):
        """Its blocks of the cache; what no token of it wrote is no number."""
        for begin in range(0, self.keys, POSITIONS):
            layer = b"".join(
                pack([[narrow(x) for x in row]
                      for row in rows[begin:begin + POSITIONS]]).ljust(
                          HEAD_BYTES, struct.pack("<H", NAN)[:1])
                for kept in ((self.k,) if VALUES else (self.k, self.v))
                for rows in kept)
            yield b"\xff" * (LAYER * LAYER_BYTES) + layer


class Step:
    """A step in the device's memory."""

    def __init__(self, device, sequences, sinks):
        self.device, self.buffers = device, []
        items, table, entries, blocks, queries = [], [], [], [], []
        for number, sequence in enumerate(sequences):
            entries.append(struct.pack(
                "<12i", len(queries), sequence.count, sequence.past,
                sequence.keys, 0, 0, 0, 0, len(table), 0, 0, 0))
            for block in sequence.blocks:
                table.append(len(blocks))
                blocks.append(block)
            items += [struct.pack("<4i", number, first, 0, 0)
                      for first in range(0, sequence.count, ITEM)]
            queries += [[narrow(x) for x in row] for row in sequence.q]
        self.size = size_of(queries) // WIDTH * (VALUES or WIDTH)
        self.fields = {"n_tokens": len(queries), "n_items": len(items),
                       "n_sequences": len(sequences)}
        # In another order than they are used in.
        order = list(range(len(blocks)))[::-1]
        cache = self.upload(b"".join(blocks[i] for i in order))
        tables = {
            "caches": struct.pack("<4Q", cache, 0, 0, 0),
            "block_table": struct.pack(f"<{len(table)}i", *(
                order.index(i) for i in table)),
            "sequences": b"".join(entries), "items": b"".join(items)}
        for name, data in tables.items():
            self.fields[name] = self.upload(data)
        image = bytearray(STEP_BYTES)
        for name, value in self.fields.items():
            struct.pack_into("<Q", image, FIELDS[name], value)
        self.fields["device_step"] = self.upload(image)
        self.q = self.upload(pack(queries))
        self.latents = []
        if VALUES:
            keys = [[narrow(x) for x in row] for sequence in sequences
                    for row in sequence.k[0][sequence.past:]]
            turned = WIDTH - VALUES
            self.latents = [self.upload(pack([row[:turned] for row in keys])),
                            self.upload(pack([row[turned:] for row in keys]))]
        self.sinks = self.upload(struct.pack(f"<{HEADS}f", *sinks))
        self.y = self.upload(b"\xa5" * self.size + GUARD)

    def upload(self, data):
        address = self.device.upload(data)
        self.buffers.append(address)
        return address.value

    def launches(self, text, entry):
        left, has_sinks = ENTRIES[entry]
        # The queries, rows of latents, the result, the layer behind what the entry has, the step.
        terms = [left, self.sinks] if has_sinks else []
        arguments = [self.q, *self.latents, self.y, *terms, None, LAYER, "step",
                     None, None]
        fields = {offset: self.fields.get(name, 0)
                  for name, offset in FIELDS.items()}
        return HostCode(text, entry, arguments, fields,
                        lambda size: self.upload(b"\xff" * size)).launches

    def result(self):
        got = self.device.download(ctypes.c_uint64(self.y),
                                   self.size + len(GUARD))
        for buffer in self.buffers:
            self.device.free(buffer)
        return got


def number_of(value, kind):
    return (ctypes.c_float if kind == "f32" else ctypes.c_uint64)(value)


def run(device, modules, kernels, text, entry, sequences, sinks):
    """(what the step gives, the kernels that were launched); a kernel is of the
    module of its name, or of the one without."""
    step = Step(device, sequences, sinks)
    launches = step.launches(text, entry)
    for launch in launches:
        module = modules.get(launch.kernel, modules.get(None))
        threads, shared = kernels[launch.kernel]
        device.launch(module, launch.kernel, launch.blocks, threads, shared,
                      [number_of(*argument) for argument in launch.arguments])
    return step.result(), [launch.kernel for launch in launches]


def is_near(got, entry, sequences, sinks):
    """What is rounded to 16 bits are the weights, to 8 of them, and the result, as
    much."""
    left, has_sinks = ENTRIES[entry]
    if got[-len(GUARD):] != GUARD:
        return False
    numbers = [number for number, in struct.iter_unpack(
        f"<{letter()}", got[:-len(GUARD)])]
    # Latents are twice as large as values.
    error = 2 ** -18 if IS_FLOAT else 2 ** -6 if VALUES else 2 ** -7
    at = 0
    for sequence in sequences:
        for t in range(sequence.count):
            for head in range(HEADS):
                wanted = sequence.attend(t, head, left, sinks[head]
                                         if has_sinks else None)
                for x in wanted:
                    if not abs(wide(numbers[at]) - x) <= error:
                        return False
                    at += 1
    return True


def draw_sinks(seed):
    draw = random.Random(seed)
    return [draw.randint(-4, 8) for _ in range(HEADS)]


def check(driver, text, ptx, kernels, seed):
    device = Device(driver)
    modules = {None: device.load(ptx)}
    sinks = draw_sinks(seed)
    count = 0
    for entry in ENTRIES:
        for name, lengths in STEPS.items():
            sequences = [Sequence(f"{seed} {entry} {name} {i}",
                                  ENTRIES[entry][0], *length)
                         for i, length in enumerate(lengths)]
            together, _ = run(device, modules, kernels, text, entry, sequences,
                              sinks)
            if not is_near(together, entry, sequences, sinks):
                sys.exit(f"{entry}, step '{name}': expected the formula's "
                         "rows, got others")
            alone = [run(device, modules, kernels, text, entry, [sequence],
                         sinks)[0][:-len(GUARD)]
                     for sequence in sequences[-ALONE:]]
            if not together[:-len(GUARD)].endswith(b"".join(alone)):
                sys.exit(f"{entry}, step '{name}': expected the bits of each "
                         "sequence alone, got others")
            if IS_FLOAT:
                check_tails(device, modules, kernels, text, entry, sequences,
                            sinks, alone)
            count += len(sequences)
    print(f"{count} sequences are right")


def check_tails(device, modules, kernels, text, entry, sequences, sinks, alone):
    """Queries that came in a prompt have the bits that they have in a step of few,
    and in one beside others."""
    for number, whole in zip(range(-len(alone), 0), alone):
        sequence = sequences[number]
        for count in TAILS:
            if count > sequence.count:
                continue
            last = sequence.tail(count)
            wanted = whole[-size_of(last.q):]
            got, _ = run(device, modules, kernels, text, entry,
                         [last, sequences[0]], sinks)
            if got[:len(wanted)] != wanted:
                sys.exit(f"{entry}: expected {count} queries behind {last.past} "
                         "positions to have the bits that they have in a prompt, "
                         "got others")


def mutate(driver, text, ptx, kernels, seed):
    lengths = ([(32, 130), (2, 90)] if IS_FLOAT else
               STEPS.get("many", [(20, 130), (3, 300)] if "mixed" in STEPS
                         else [(20, 130)]))
    sequences = [Sequence(f"{seed} {i}", None, *length)
                 for i, length in enumerate(lengths)]
    device = Device(driver)
    wanted, names = run(device, {None: device.load(ptx)}, kernels, text,
                        "plain", sequences, [0] * HEADS)

    def is_right(name, mutant):
        own = Device(driver)
        modules = {None: own.load(ptx), name: own.load(mutant)}
        got, _ = run(own, modules, kernels, text, "plain", sequences,
                     [0] * HEADS)
        return got == wanted

    count = count_noticed(ptx, names, is_right,
                          every=7 if IS_FLOAT or "mixed" in STEPS else 1)
    print(f"{count} missing instructions are noticed")


def main():
    global IS_FLOAT, ITEM
    tfc_opt, driver, source = sys.argv[1:4]
    seed = os.environ.get("TFC_SEED", "1")
    if "--warpgroups" in sys.argv:
        os.environ["TFC_FAKECUDA"] = "capability=90"
        passes = PASSES.replace("device-kernels",
                                "device-kernels{warpgroups=true}")
        set_heads(128, 2)
        set_steps(PROMPTS, 2)
        text, ptx, kernels = compile_kernels(tfc_opt, widen_heads(source, 16),
                                             passes, "sm_90a")
    elif "--wide" in sys.argv:
        set_heads(192, 2)
        set_steps(WIDE, 3)
        del ENTRIES["terms"]
        text, ptx, kernels = compile_kernels(tfc_opt, source, PASSES)
    elif "--latent" in sys.argv:
        shared = sys.argv[sys.argv.index("--latent") + 1]
        set_latents(80, 64)
        set_steps(WIDE, 3)
        passes = PASSES.replace("device-kernels",
                                f"device-kernels{{shared-bytes={shared}}}")
        text, ptx, kernels = compile_kernels(tfc_opt, source, passes)
    elif "--float" in sys.argv:
        IS_FLOAT = True
        set_heads(int(sys.argv[sys.argv.index("--float") + 1]), 4)
        set_steps(FLOATS, 9)
        text, ptx, kernels = compile_kernels(tfc_opt, widen_heads(source, 20),
                                             PASSES)
        ITEM = int(re.search(r"query_rows = (\d+)", text).group(1))
    else:
        text, ptx, kernels = compile_kernels(tfc_opt, source, PASSES)
    if "--mutate" in sys.argv:
        mutate(driver, text, ptx, kernels, seed)
    else:
        check(driver, text, ptx, kernels, seed)


main()
