# The kernels of products with integers on the stand-in for CUDA's driver: odd rows
# and widths, all integers, zero points and scales, against exact sums. What lies
# behind a buffer stays as it is; what lies behind a row in a word is anything.
#   widened_kernels.py TFC_OPT DRIVER IR                  results
#   widened_kernels.py TFC_OPT DRIVER IR --deterministic  that in place of tiles
#   widened_kernels.py TFC_OPT DRIVER IR --mutate         without what orders threads
#   ... --warpgroups   of tiles that four warps multiply together alone
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import os
import random
import re
import struct
import sys

from device_kernels import Device, compile_kernels
from mutants import count_noticed, isolate
from product_kernels import GUARD, TOKENS, narrow, pack

KERNEL = re.compile(r"product_(\d+)x(\d+)_(bf16|f16)_int(\d)_(\d+)$")
# Columns, steps of k, distance of rows of x: with whole stretches of 64 and not.
SHAPES = ((16, 64, 64), (24, 128, 136), (130, 192, 192), (34, 1088, 1088))
ODD = {8: ((16, 8, 8), (24, 40, 48), (130, 72, 72), (34, 1096, 1096)),
       4: ((16, 32, 32), (24, 96, 104), (130, 160, 160), (34, 1056, 1056))}
# Of kernels that are a turn ahead of what they multiply: several of them.
DEEP = (10, 4672, 4672)
# By form of the IR, which is test/compiler/gpu/widened-products.mlir: the elements
# of the result; whether there are scales of columns, a bias and rows to add;
# columns of a group, zero points; a gate, with a bias, that it is multiplied by;
# the elements of the groups' scales.
FORMS = {0: ("16", True, 0, False, False, ""),
         1: ("f32", False, 32, False, False, "f32"),
         2: ("f32", False, 0, False, False, ""),
         3: ("f32", False, 64, True, True, "f16"),
         4: ("f32", False, 32, False, False, "bf16")}
STRIPED = {"product_64x32_bf16_int8_0", "product_64x32_bf16_int4_1"}
MUTATED = ("product_8x16_bf16_int8_0", "product_128x128_bf16_int8_0",
           "product_8x16_bf16_int4_1", "product_128x128_bf16_int4_1",
           "product_128x128_bf16_int4_4")
MUTATED_WARPGROUPS = ("product_64x64_bf16_int8_0", "product_128x64_bf16_int4_3")


def fragments(rows, bits, draw):
    """Rows of integers as #transformer.packed has them with fragments."""
    packed = b""
    for row in rows:
        for first in range(0, len(row), 64):
            # What is behind the last column is anything.
            word = [draw.randrange(256) for _ in range(8 * bits)]
            for column, value in enumerate(row[first:first + 64]):
                half, rest = divmod(column, 32)
                lane, e = divmod(rest, 8)
                if bits == 8:
                    at = 16 * lane + 8 * half + e // 4 * 4 + (0, 2, 1, 3)[e % 4]
                    word[at] = value & 255
                else:
                    place = e // 2 + 4 * (e % 2)
                    at = 8 * lane + 4 * half + place // 2
                    shift = 4 * (place % 2)
                    word[at] &= 0xf0 if shift == 0 else 0x0f
                    word[at] |= (value + 8) << shift
            packed += bytes(word)
    return packed


def panels(rows, nothing):
    """Numbers of rows and groups, eight rows of a group together."""
    numbers = []
    for first in range(0, len(rows), 8):
        for group in range(len(rows[0])):
            numbers += [rows[n][group] if n < len(rows) else nothing
                        for n in range(first, first + 8)]
    return numbers


class Matrix:
    """Integers, what their groups have, and the products of rows with them."""

    def __init__(self, draw, bits, width, depth, group, has_zeros, scale):
        most = 1 << (bits - 1)
        self.rows = [[draw.randint(-most, most - 1) for _ in range(depth)]
                     for _ in range(width)]
        self.packed = fragments(self.rows, bits, draw)
        self.group = group or depth
        groups = depth // group if group else 1
        self.scales = [[draw.choice((0.5, 1.0, 2.0)) if group else 1
                        for _ in range(groups)] for _ in range(width)]
        self.zeros = [[draw.randint(-8, 7) if has_zeros else 0
                       for _ in range(groups)] for _ in range(width)]
        self.scale, self.has_zeros = scale, has_zeros

    def multiply(self, row, n):
        whole = self.rows[n]
        return sum(
            scale * sum(x * (w - zero)
                        for x, w in zip(row[g * self.group:],
                                        whole[g * self.group:(g + 1) *
                                              self.group]))
            for g, (scale, zero) in enumerate(zip(self.scales[n],
                                                  self.zeros[n])))

    def groups(self):
        """What a kernel gets of them."""
        buffers = []
        if self.scale:
            buffers.append(pack(panels(self.scales, float("nan")), self.scale))
        if self.has_zeros:
            buffers.append(bytes(panels(
                [[z + 8 for z in row] for row in self.zeros], 0)))
        return buffers


class Case:
    """One product: its operands, and what it has to give."""

    def __init__(self, seed, element, bits, form, tokens, width, depth, stride):
        draw = random.Random(seed)
        kind, self.has_rows, group, zeros, gated, scale = FORMS[form]
        width += not (self.has_rows or gated)
        self.tokens, self.width, self.depth = tokens, width, depth
        self.stride = stride
        self.result = element if kind == "16" else kind
        x = [draw.randint(-2, 2) for _ in range((tokens - 1) * stride + depth)]
        own = Matrix(draw, bits, width, depth, group, zeros, scale)
        gate = (Matrix(draw, bits, width, depth, group, zeros, scale)
                if gated else None)
        scales = [draw.choice((0.25, 0.5, 1.0)) for _ in range(width)]
        bias = [draw.randint(-8, 8) for _ in range(width)]
        rows = [draw.randint(-8, 8) for _ in range(tokens * width)]
        wanted = []
        for t in range(tokens):
            row = x[t * stride:t * stride + depth]
            for n in range(width):
                y = own.multiply(row, n)
                if self.has_rows:
                    y = y * scales[n] + bias[n] + rows[t * width + n]
                if gate:
                    g = gate.multiply(row, n) + bias[n]
                    bits_of_g = narrow(g, element)
                    kept = struct.unpack(
                        "<f", struct.pack("<I", bits_of_g << 16))[0]
                    y *= kept
                wanted.append(y)
        self.wanted = pack(wanted, self.result)
        floats = lambda values: pack(values, "f32")
        self.operands = [floats(scales), floats(bias), pack(rows, element)]
        self.operands = self.operands if self.has_rows else []
        self.operands += own.groups()
        if gate:
            self.operands += [gate.packed, floats(bias), *gate.groups()]
        self.x, self.w = pack(x, element), own.packed

    def run(self, device, module, kernel, threads, shared):
        """What the kernel computes, or why it cannot."""
        rows, columns = (int(n) for n in KERNEL.match(kernel).groups()[:2])
        blocks = (-(-self.width // columns), -(-self.tokens // rows), 1)
        y = device.upload(b"\xa5" * len(self.wanted) + GUARD)
        buffers = [device.upload(self.x), device.upload(self.w), y,
                   *map(device.upload, self.operands)]
        sizes = [self.tokens, self.width, self.depth, self.stride, self.width]
        sizes += [self.width] * self.has_rows
        device.launch(module, kernel, blocks, threads, shared,
                      buffers + [ctypes.c_int(size) for size in sizes])
        got = device.download(y, len(self.wanted) + len(GUARD))
        for buffer in buffers:
            device.free(buffer)
        return got

    def __str__(self):
        return (f"{self.tokens} tokens, {self.width} columns, {self.depth} "
                f"steps {self.stride} apart")


# Of shared memory, that kernels for few rows have not.
TILE_BYTES = 80 << 10


def shapes_of(bits, form):
    """Those whose steps groups divide."""
    group = FORMS[form][2] or 8
    return [shape for shape in SHAPES + ODD[bits] if shape[1] % group == 0]


def check(device, ptx, kernels, seed, most_tokens=None):
    module = device.load(ptx)
    count = 0
    for name, (threads, shared) in sorted(kernels.items()):
        rows, _, element, bits, form = KERNEL.match(name).groups()
        most = most_tokens or (int(rows) if rows != "128" else TOKENS[-1])
        shapes = shapes_of(int(bits), int(form))
        cases = [(tokens, shapes[number % len(shapes)]) for number, tokens
                 in enumerate(n for n in TOKENS if n <= most)]
        if bits == "4" and int(rows) <= 16:
            cases += [(1, DEEP), (int(rows), DEEP)]
        for tokens, shape in cases:
            case = Case(f"{seed} {name} {tokens}", element, int(bits),
                        int(form), tokens, *shape)
            got = case.run(device, module, name, threads, shared)
            if got != case.wanted + GUARD:
                place = next(i for i, (a, b) in
                             enumerate(zip(got, case.wanted + GUARD))
                             if a != b)
                sys.exit(f"{name}: {case}: expected the sums of integers, got "
                         f"others from byte {place} of {len(case.wanted)} on")
            count += 1
    print(f"{count} products are right")


def mutate(driver, ptx, kernels, seed):
    def is_right(name, text):
        threads, shared = kernels[name]
        rows, _, element, bits, form = KERNEL.match(name).groups()
        # Six stages, more than there are places for; every warp has a share.
        case = Case(f"{seed} {name}", element, int(bits), int(form),
                    min(int(rows), 40), 24, 8 * 64, 8 * 64)
        device = Device(driver)
        got = case.run(device, device.load(text), name, threads, shared)
        return got == case.wanted + GUARD

    count = count_noticed(ptx, [name for name in MUTATED + MUTATED_WARPGROUPS
                                if name in kernels], is_right)
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
                   if what[1] >= TILE_BYTES}
    if order:
        for name in sorted(STRIPED):
            check(Device(driver), "\n".join(isolate(ptx, name)),
                  {name: kernels[name]}, seed, most_tokens=TOKENS[-1])
    elif "--mutate" in sys.argv:
        mutate(driver, ptx, kernels, seed)
    else:
        check(Device(driver), ptx, kernels, seed)


if __name__ == "__main__":
    main()
