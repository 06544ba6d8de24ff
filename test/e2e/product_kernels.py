# The kernels of products on the stand-in for CUDA's driver: rows and widths that
# tiles do not divide, against sums of integers, which every order of adding gives
# exactly. What lies behind a buffer is another's, and stays.
#   product_kernels.py TFC_OPT DRIVER IR           results (--warpgroups: of their tiles)
#   product_kernels.py TFC_OPT DRIVER IR --deterministic  that in place of tiles
#   product_kernels.py TFC_OPT DRIVER IR --order   what blocks side by side read
#   product_kernels.py TFC_OPT DRIVER IR --mutate  without one of what orders threads
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import json
import os
import random
import re
import struct
import sys

from device_kernels import Device, compile_kernels
from mutants import count_noticed, isolate

# Tokens; and (columns, steps of k, distance of rows of x) beside a kernel's own.
STRIPED = "product_64x32_bf16_0"
TILED = "product_128x128_f16_1"
# Of tiles: rows, columns, and rows of a group; blocks that run side by side.
ORDER = (10, 12, 8, 24)
MUTATED = ("product_8x16_bf16_0", "product_128x128_bf16_0",
           "product_8x16_bf16_2", "product_128x64_bf16_2",
           "product_16x64_f32_0", "product_128x64_f32_2")
# Tiles of warpgroups, without a gate and with one.
WARPGROUPS = (("64x64", "64x128", "128x128", "128x256"),
              ("64x32", "64x64", "128x64", "128x128"))
MUTATED_WARPGROUPS = ("product_64x64_bf16_0", "product_128x128_f16_1_short",
                      "product_128x256_bf16_0", "product_128x128_bf16_2")
TILE_THREADS = 128  # of 16 bits; kernels for few rows have more
TOKENS = (1, 2, 8, 9, 16, 17, 33, 64, 65, 127, 128, 129)
SHAPES = ((16, 8, 8), (24, 40, 48), (130, 72, 72), (34, 1096, 1096))
KERNEL = re.compile(r"product_(\d+)x(\d+)_(bf16|f16|f32)_(\d+)(?:_short)?$")
# By form of the IR, which is test/compiler/gpu/lower-products.mlir, or
# lower-products-float.mlir: the elements of the result, whether it has a bias and rows to add, and whether it has a gate,
# with a bias, that it is multiplied by. Without any of them widths are odd, too.
FORMS = {0: ("16", True, False), 1: ("f32", False, False),
         2: ("f32", False, True)}
GUARD = b"\x5a" * 64


def narrow(value, element):
    """The bits of an integer as bf16, the nearest even one, or as f16."""
    if element == "f16":
        return struct.unpack("<H", struct.pack("<e", value))[0]
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16


def round_to(value, element):
    """An integer that was kept in between."""
    if element == "f32":
        return value
    bits = narrow(value, element)
    if element == "f16":
        return struct.unpack("<e", struct.pack("<H", bits))[0]
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def pack(values, element):
    if element == "f32":
        return struct.pack(f"<{len(values)}f", *values)
    return struct.pack(f"<{len(values)}H",
                       *(narrow(value, element) for value in values))


class Case:
    """One product: its operands, and what it has to give."""

    def __init__(self, seed, element, form, tokens, width, depth, stride):
        draw = random.Random(seed)
        self.tokens, self.depth, self.stride = tokens, depth, stride
        kind, self.has_rows, self.has_gate = FORMS[form]
        width += not (self.has_rows or self.has_gate)
        self.width = width
        self.result = element if kind == "16" else kind

        def numbers(count, most):
            return [draw.randint(-most, most) for _ in range(count)]

        x, w = numbers(tokens * stride, 2), numbers(width * depth, 2)
        bias, rows = numbers(width, 8), numbers(tokens * width, 8)
        gate = numbers(width * depth, 2) if self.has_gate else []
        wanted = []
        for t in range(tokens):
            row = x[t * stride:t * stride + depth]
            for n in range(width):
                column = w[n * depth:(n + 1) * depth]
                y = sum(map(int.__mul__, row, column))
                if self.has_rows:
                    y += bias[n] + rows[t * width + n]
                if self.has_gate:
                    column = gate[n * depth:(n + 1) * depth]
                    g = sum(map(int.__mul__, row, column)) + bias[n]
                    y = float(y) * round_to(g, element)  # with -0
                wanted.append(y)
        # Beyond the last row's end there is nothing that may be read.
        x = x[:(tokens - 1) * stride + depth]
        self.x, self.w = pack(x, element), pack(w, element)
        self.gate = pack(gate, element)
        self.bias, self.rows = pack(bias, "f32"), pack(rows, element)
        self.wanted = pack(wanted, self.result)

    def run(self, device, module, kernel, threads, shared):
        """What the kernel computes, or why it cannot."""
        rows, columns = (int(n) for n in KERNEL.match(kernel).groups()[:2])
        blocks = (-(-self.width // columns),
                  -(-self.tokens // rows), 1)
        y = device.upload(b"\xa5" * len(self.wanted) + GUARD)
        buffers = [device.upload(self.x), device.upload(self.w), y]
        if self.has_rows:
            buffers += [device.upload(self.bias), device.upload(self.rows)]
        if self.has_gate:
            buffers += [device.upload(self.gate), device.upload(self.bias)]
        sizes = [self.tokens, self.width, self.depth, self.stride, self.width]
        if self.has_rows:
            sizes.append(self.width)
        device.launch(module, kernel, blocks, threads, shared,
                      buffers + [ctypes.c_int(size) for size in sizes])
        got = device.download(y, len(self.wanted) + len(GUARD))
        for buffer in buffers:
            device.free(buffer)
        return got

    def __str__(self):
        return (f"{self.tokens} tokens, {self.width} columns, {self.depth} "
                f"steps {self.stride} apart")


def is_of_warpgroups(name):
    rows, columns, element, form = KERNEL.match(name).groups()
    tiles = WARPGROUPS[FORMS[int(form)][2]]
    return element != "f32" and f"{rows}x{columns}" in tiles


def check(device, ptx, kernels, seed, most_tokens=None):
    module = device.load(ptx)
    count = 0
    for name, (threads, shared) in sorted(kernels.items()):
        rows, _, element, form = KERNEL.match(name).groups()
        is_of_tiles = (element == "f32" or threads == TILE_THREADS
                       or is_of_warpgroups(name))
        most = most_tokens or (TOKENS[-1] if is_of_tiles else int(rows))
        for number, tokens in enumerate(n for n in TOKENS if n <= most):
            # Each number of tokens with one of the shapes, all shapes in turns.
            case = Case(f"{seed} {name} {tokens}", element, int(form), tokens,
                        *SHAPES[number % len(SHAPES)])
            got = case.run(device, module, name, threads, shared)
            if got != case.wanted + GUARD:
                place = next(i for i, (a, b) in
                             enumerate(zip(got, case.wanted + GUARD))
                             if a != b)
                sys.exit(f"{name}: {case}: expected the sums of integers, got "
                         f"others from byte {place} of {len(case.wanted)} on")
            count += 1
    print(f"{count} products are right")


def tiles_of_waves(rows, columns, group, wave):
    """How many tiles of both operands blocks need that run side by side, waves
    of them summed: down the columns of so many rows, group by group."""
    order = [(row, column)
             for top in range(0, rows, group)
             for column in range(columns)
             for row in range(top, min(top + group, rows))]
    waves = [order[i:i + wave] for i in range(0, len(order), wave)]
    return sum(len({row for row, _ in each}) +
               len({column for _, column in each}) for each in waves)


def check_order(driver, ptx, kernels, seed):
    name, (rows, columns, group, wave) = TILED, ORDER
    threads, shared = kernels[name]
    os.environ["TFC_FAKECUDA"] = f"races=0,counters=order.json,wave={wave}"
    device = Device(driver)
    # Without a bias there are no operands but two, and a column more.
    case = Case(f"{seed} {name}", "f16", 1, rows * 128, columns * 128 - 1, 8, 8)
    got = case.run(device, device.load("\n".join(isolate(ptx, name))), name,
                   threads, shared)
    device.close()
    if got != case.wanted + GUARD:
        sys.exit(f"{name}: {case}: expected the sums of integers, got others")
    with open("order.json", encoding="utf-8") as stream:
        counted = json.load(stream)[name]["wave_bytes"] - len(case.wanted)
    tile = 128 * 8 * 2
    wanted = tiles_of_waves(rows, columns, group, wave) * tile
    plain = tiles_of_waves(rows, columns, 1, wave) * tile
    if not counted == wanted < plain:
        sys.exit(f"{name}: {case}: expected {wanted} bytes of operands, less "
                 f"than the {plain} of a row after the other, got {counted}")
    print(f"blocks side by side share {wanted} bytes")


def mutate(driver, ptx, kernels, seed):
    def is_right(name, text):
        threads, shared = kernels[name]
        rows, _, element, form = KERNEL.match(name).groups()
        # Nine stages, more than there are places for; every warp has a share.
        case = Case(f"{seed} {name}", element, int(form), min(int(rows), 40),
                    24, 8 * 72, 8 * 72)
        device = Device(driver)
        got = case.run(device, device.load(text), name, threads, shared)
        return got == case.wanted + GUARD

    mutated = [name for name in MUTATED + MUTATED_WARPGROUPS
               if name in kernels]
    count = count_noticed(ptx, mutated, is_right)
    print(f"{count} missing instructions are noticed")


def main():
    tfc_opt, driver, source = sys.argv[1:4]
    seed = os.environ.get("TFC_SEED", "1")
    order = "--deterministic" in sys.argv
    warpgroups = "--warpgroups" in sys.argv
    _, ptx, kernels = compile_kernels(
        tfc_opt, source,
        "tfc-lower-products" + "{deterministic=true}" * order
        + "{warpgroups=true}" * warpgroups,
        "sm_90a" if warpgroups else "sm_80")
    if warpgroups:
        os.environ["TFC_FAKECUDA"] = "capability=90"
        kernels = {name: what for name, what in kernels.items()
                   if is_of_warpgroups(name)}
    if order:
        check(Device(driver), "\n".join(isolate(ptx, STRIPED)),
              {STRIPED: kernels[STRIPED]}, seed, most_tokens=TOKENS[-1])
    elif "--order" in sys.argv:
        check_order(driver, ptx, kernels, seed)
    elif "--mutate" in sys.argv:
        mutate(driver, ptx, kernels, seed)
    else:
        check(Device(driver), ptx, kernels, seed)


if __name__ == "__main__":
    main()
