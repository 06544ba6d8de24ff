#!/usr/bin/env python3
# Writes a small LLaMA as quantised folders and as a GGUF file, each with a twin
# of the f32 that it stands for, and folders with a copy that is wrong in one
# thing; runs and compares them.
# Formats are written from their definition, by nothing but Python's library.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import array
import json
import math
import os
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
import gguf  # noqa: E402
from tensors import Tensor, read, write  # noqa: E402

PARTS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
         "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
E2M1 = (0, .5, 1, 1.5, 2, 3, 4, 6)


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def half(x):
    return struct.unpack("<e", struct.pack("<e", x))[0]


def half_bits(x):
    return struct.unpack("<H", struct.pack("<e", x))[0]


def bf16_bits(x):
    bits, = struct.unpack("<I", struct.pack("<f", x))
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16


def bf16(x):
    return struct.unpack("<f", struct.pack("<I", bf16_bits(x) << 16))[0]


def e4m3(code):
    exponent, fraction = code >> 3 & 15, code & 7
    value = math.ldexp(fraction, -9) if exponent == 0 else \
        math.ldexp(8 + fraction, exponent - 10)
    return -value if code & 128 else value


POSITIVE = [e4m3(code) for code in range(127)]


def nearest(x, values):
    """The code of what is nearest to |x|."""
    x = abs(x)
    low, high = 0, len(values) - 1
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if values[middle] <= x else (low, middle)
    return low if x - values[low] <= values[high] - x else high


def clamp(x, low, high):
    return max(low, min(high, round(x)))


def to_words(values, bits):
    """Words of 32 bits, the first value lowest, signed."""
    per = 32 // bits
    words = []
    for at in range(0, len(values), per):
        word = 0
        for place, value in enumerate(values[at:at + per]):
            word |= value << place * bits
        words.append(word - (word >> 31 << 32))
    return words


def integers(rows, bits, groups, rounded, symmetric):
    """q, scales and zeros of rows whose column c is in groups[c]."""
    count, top = max(groups) + 1, (1 << bits) - 1
    result = []
    for row in rows:
        low, high = [0.0] * count, [0.0] * count
        for x, group in zip(row, groups):
            low[group], high[group] = min(low[group], x), max(high[group], x)
        scales, zeros = [], []
        for a, b in zip(low, high):
            scale = max(-a, b) / (top / 2) if symmetric else (b - a) / top
            scales.append(rounded(scale or 1.0))
            zeros.append(1 << bits - 1 if symmetric
                         else clamp(-a / scales[-1], 1, top))
        q = [clamp(x / scales[g] + zeros[g], 0, top)
             for x, g in zip(row, groups)]
        twin = [(v - zeros[g]) * scales[g] for v, g in zip(q, groups)]
        result.append((q, scales, zeros, twin))
    return result


def flat(rows):
    return [x for row in rows for x in row]


def turned(rows):
    return [list(column) for column in zip(*rows)]


def gptq(rows, bits, symmetric, order):
    size, columns = 32, len(rows[0])
    groups = [c // size for c in range(columns)]
    if order:
        # 7 has no factor in common with the widths.
        groups = [c * 7 % columns // size for c in range(columns)]
    made = integers(rows, bits, groups, half, symmetric)
    per, count = 32 // bits, max(groups) + 1
    words = [to_words(q, bits) for q, _, _, _ in made]
    ones = 0x11111111 if bits == 4 else 0x01010101
    zeros = [[(w - ones & 0xffffffff) - ((w - ones & 0xffffffff) >> 31 << 32)
              for w in to_words(line, bits)]
             for line in turned([z for _, _, z, _ in made])]
    return {
        "qweight": Tensor("I32", [columns // per, len(rows)],
                          flat(turned(words))),
        "qzeros": Tensor("I32", [count, len(rows) // per], flat(zeros)),
        "scales": Tensor("F16", [count, len(rows)], [
            half_bits(s) for s in flat(turned([s for _, s, _, _ in made]))]),
        "g_idx": Tensor("I32", [columns], groups)}, [m[3] for m in made]


def awq(rows):
    groups = [c // 32 for c in range(len(rows[0]))]
    made = integers(rows, 4, groups, half, False)

    def packed(lines):
        return flat(to_words([line[at + i] for at in range(0, len(line), 8)
                              for i in AWQ_ORDER], 4) for line in lines)
    count = max(groups) + 1
    return {
        "qweight": Tensor("I32", [len(groups), len(rows) // 8],
                          packed(turned([q for q, _, _, _ in made]))),
        "qzeros": Tensor("I32", [count, len(rows) // 8],
                         packed(turned([z for _, _, z, _ in made]))),
        "scales": Tensor("F16", [count, len(rows)], [
            half_bits(s) for s in flat(turned([s for _, s, _, _ in made]))])
    }, [m[3] for m in made]


def ct8(rows):
    made = integers(rows, 8, [0] * len(rows[0]), bf16, True)
    return {
        "weight": Tensor("I8", [len(rows), len(rows[0])],
                         [v - 128 for q, _, _, _ in made for v in q]),
        "weight_scale": Tensor("BF16", [len(rows), 1],
                               [bf16_bits(s[0]) for _, s, _, _ in made])
    }, [m[3] for m in made]


def ct4(rows):
    groups = [c // 32 for c in range(len(rows[0]))]
    made = integers(rows, 4, groups, bf16, False)
    count = max(groups) + 1
    return {
        "weight_packed": Tensor("I32", [len(rows), len(groups) // 8],
                                flat(to_words(q, 4) for q, _, _, _ in made)),
        "weight_scale": Tensor("BF16", [len(rows), count], [
            bf16_bits(s) for _, scales, _, _ in made for s in scales]),
        "weight_zero_point": Tensor("I32", [len(rows) // 8, count], flat(turned(
            [to_words(line, 4) for line in turned([z for _, _, z, _ in made])]
        ))),
        "weight_shape": Tensor("I64", [2], [len(rows), len(groups)])
    }, [m[3] for m in made]


def fp8(rows):
    codes, scales, twin = [], [], []
    for row in rows:
        scale = single(max(map(abs, row)) / 448)
        line = [nearest(x / scale, POSITIVE) | (128 if x < 0 else 0)
                for x in row]
        scales.append(scale)
        codes.extend(line)
        twin.append([e4m3(code) * scale for code in line])
    return {"weight": Tensor("F8_E4M3", [len(rows), len(rows[0])], codes),
            "weight_scale": Tensor("F32", [len(rows), 1], scales)}, twin


def fp8_blocks(rows):
    """Blocks of 128 x 128; the last ones of 320 are short."""
    codes, twin, grid = [], [], [[0.0] * -(-len(rows[0]) // 128)
                                 for _ in range(-(-len(rows) // 128))]
    for r, row in enumerate(rows):
        for c, x in enumerate(row):
            grid[r // 128][c // 128] = max(grid[r // 128][c // 128], abs(x))
    grid = [[single(x / 448) for x in line] for line in grid]
    for r, row in enumerate(rows):
        line = [nearest(x / grid[r // 128][c // 128], POSITIVE) |
                (128 if x < 0 else 0) for c, x in enumerate(row)]
        codes.extend(line)
        twin.append([e4m3(code) * grid[r // 128][c // 128]
                     for c, code in enumerate(line)])
    return {"weight": Tensor("F8_E4M3", [len(rows), len(rows[0])], codes),
            "weight_scale_inv": Tensor("F32", [len(grid), len(grid[0])],
                                       flat(grid))}, twin


def fp4(rows, size):
    """NVFP4 in groups of 16, with a number for all; MXFP4 in groups of 32."""
    whole = single(448 * 6 / max(map(abs, flat(rows))))
    packed, codes, twin = [], [], []
    for row in rows:
        line = []
        for at in range(0, len(row), size):
            most = max(map(abs, row[at:at + size]))
            if size == 16:
                codes.append(max(1, nearest(most / 6 * whole, POSITIVE)))
                scale = single(e4m3(codes[-1]) / whole)
            else:
                codes.append(math.frexp(most)[1] - 3 + 127)
                scale = math.ldexp(1, codes[-1] - 127)
            line.extend((nearest(x / scale, E2M1) | (8 if x < 0 else 0), scale)
                        for x in row[at:at + size])
        twin.append([E2M1[code & 7] * (-scale if code & 8 else scale)
                     for code, scale in line])
        packed.extend(low[0] | high[0] << 4
                      for low, high in zip(line[0::2], line[1::2]))
    shape = [len(rows), len(rows[0]) // size]
    parts = {"weight_packed": Tensor("U8", [len(rows), len(rows[0]) // 2],
                                     packed)}
    if size == 16:
        parts["weight_scale"] = Tensor("F8_E4M3", shape, codes)
        parts["weight_global_scale"] = Tensor("F32", [1], [whole])
    else:
        parts["weight_scale"] = Tensor("U8", shape, codes)
    return parts, twin


def swap_nibbles(tensor):
    data = bytes((b & 15) << 4 | b >> 4 for b in tensor.data.tobytes())
    tensor.data = array.array(tensor.data.typecode, data)


def reverse(tensor):
    tensor.data.reverse()


# How a matrix is written, the config, how many layers are, and what is wrong
# in the copy: a part and what is done to it.
GROUP = {"weights": {"num_bits": 4, "type": "int", "symmetric": False,
                     "strategy": "group", "group_size": 32}}
FORMATS = {
    "gptq4": (lambda rows: gptq(rows, 4, False, True),
              {"quant_method": "gptq", "bits": 4, "group_size": 32,
               "desc_act": True, "sym": False}, 3, "g_idx", reverse),
    "gptq8": (lambda rows: gptq(rows, 8, True, False),
              {"quant_method": "gptq", "bits": 8, "group_size": 32,
               "sym": True}, 3, "qweight", swap_nibbles),
    "gptq4-sym": (lambda rows: gptq(rows, 4, True, False),
                  {"quant_method": "gptq", "bits": 4, "group_size": 32,
                   "sym": True}, 3, "qweight", swap_nibbles),
    "awq": (awq, {"quant_method": "awq", "bits": 4, "group_size": 32,
                  "version": "gemm"}, 3, "qweight", swap_nibbles),
    "ct8": (ct8, {"quant_method": "compressed-tensors",
                  "format": "int-quantized"}, 3, "weight_scale", reverse),
    "ct4": (ct4, {"quant_method": "compressed-tensors",
                  "format": "pack-quantized",
                  "config_groups": {"group_0": GROUP}}, 1, "weight_packed",
            swap_nibbles),
    "fp8": (fp8, {"quant_method": "fbgemm_fp8"}, 1, "weight_scale", reverse),
    "fp8-blocks": (fp8_blocks,
                   {"quant_method": "fp8", "weight_block_size": [128, 128]},
                   1, "weight_scale_inv", reverse),
    "nvfp4": (lambda rows: fp4(rows, 16),
              {"quant_method": "compressed-tensors",
               "format": "nvfp4-pack-quantized"}, 1, "weight_packed",
              swap_nibbles),
    "mxfp4": (lambda rows: fp4(rows, 32),
              {"quant_method": "compressed-tensors",
               "format": "mxfp4-pack-quantized"}, 1, "weight_packed",
              swap_nibbles)}


def q8_block(block):
    scale = half(max(map(abs, block)) / 127) or 1.0
    q = [clamp(x / scale, -127, 127) for x in block]
    return struct.pack("<e32b", scale, *q), [v * scale for v in q]


def q4_block(block):
    """With a scale that may be negative; the low nibbles are the first 16."""
    scale = half(max(block, key=abs) / -8) or 1.0
    q = [clamp(x / scale + 8, 0, 15) for x in block]
    return struct.pack("<e16B", scale, *(a | b << 4 for a, b in zip(
        q[:16], q[16:]))), [(v - 8) * scale for v in q]


def q41_block(block):
    """With a minimum."""
    least = half(min(block))
    scale = half((max(block) - least) / 15) or 1.0
    q = [clamp((x - least) / scale, 0, 15) for x in block]
    return struct.pack("<ee16B", scale, least, *(a | b << 4 for a, b in zip(
        q[:16], q[16:]))), [v * scale + least for v in q]


def write_file(model, path, whole, spoiled=None, first=(2, q4_block),
               others=(8, q8_block)):
    """As GGUF: layer 0 in Q4_0, other matrices in Q8_0, unless said. Gives the
    twin. The first scale of the tensor `spoiled` is a NaN."""
    twin = {}

    def encode(name, row):
        values = twin.setdefault(name, Tensor("F32", whole[name].shape, ()))
        if len(values.shape) == 1:
            values.data.extend(row)
            return gguf.in_f32(name, row)
        code, kind = first if ".layers.0." in name else others
        made = [kind(list(row[at:at + 32])) for at in range(0, len(row), 32)]
        begins = name == spoiled and not values.data
        values.data.extend(flat(value for _, value in made))
        blocks = b"".join(block for block, _ in made)
        return code, b"\x00\x7e" + blocks[2:] if begins else blocks
    gguf.write_gguf(gguf.read_config(model), whole, path, encode)
    return twin


def write_folder(model, out, tensors, quantization):
    os.makedirs(out)
    for name in ("tokenizer.json", "generation_config.json"):
        shutil.copy(os.path.join(model, name), out)
    with open(os.path.join(model, "config.json")) as stream:
        config = json.load(stream)
    if quantization:
        config["quantization_config"] = quantization
    with open(os.path.join(out, "config.json"), "w") as stream:
        json.dump(config, stream)
    write(os.path.join(out, "model.safetensors"), tensors)


def values_of(tensor):
    return [struct.unpack("<e", struct.pack("<H", x))[0]
            for x in tensor.data] if tensor.dtype == "F16" else \
        list(tensor.data)


def write_all(model, out):
    whole = {name: Tensor("F32", t.shape, values_of(t)) for name, t in read(
        os.path.join(model, "model.safetensors")).items()}
    ids = [2] + [c % 250 + 4 for c in range(40)]
    write(os.path.join(out, "inputs.safetensors"),
          {"input_ids": Tensor("I64", [1, len(ids)], ids)})
    write_folder(model, os.path.join(out, "gguf.f32"), write_file(
        model, os.path.join(out, "model.gguf"), whole), None)
    write_folder(model, os.path.join(out, "minima.f32"), write_file(
        model, os.path.join(out, "minima.gguf"), whole, None, (3, q41_block),
        (2, q4_block)), None)
    write_file(model, os.path.join(out, "nan.gguf"), whole,
               "model.layers.0.mlp.up_proj.weight")
    for name, (make, config, layers, part, spoil) in FORMATS.items():
        stored, twin = dict(whole), dict(whole)
        for layer in range(layers):
            for module in PARTS:
                stem = f"model.layers.{layer}.{module}"
                tensor = stored.pop(stem + ".weight")
                parts, values = make(tensor.rows())
                for key, value in parts.items():
                    stored[f"{stem}.{key}"] = value
                twin[stem + ".weight"] = Tensor("F32", tensor.shape,
                                                flat(values))
        write_folder(model, os.path.join(out, name), stored, config)
        write_folder(model, os.path.join(out, name + ".f32"), twin, None)
        if name == "fp8":
            codes = stored["model.layers.0.self_attn.q_proj.weight"].data
            codes[5], kept = 0x7f, codes[5]
            write_folder(model, os.path.join(out, "nan"), stored, config)
            codes[5] = kept
        if name == "gptq4":
            groups = stored["model.layers.1.mlp.up_proj.g_idx"].data
            groups[7], kept = 99, groups[7]
            write_folder(model, os.path.join(out, "outside"), stored, config)
            groups[7] = kept
        for key, tensor in stored.items():
            if key.endswith("proj." + part):
                spoil(tensor)
        write_folder(model, os.path.join(out, name + ".wrong"), stored, config)


def decibels(one, other):
    left, right = read(one)["logits"].data, read(other)["logits"].data
    signal = sum(x * x for x in left)
    noise = sum((x - y) ** 2 for x, y in zip(left, right))
    return 10 * math.log10(signal / noise) if noise else math.inf


def compare(folder, tfc_run, library):
    def run(name, *more):
        return subprocess.run(
            [tfc_run, library, "--weights", os.path.join(folder, name), *more],
            check=True, capture_output=True, text=True).stdout

    def check_same(one, other):
        with open(one, "rb") as a, open(other, "rb") as b:
            if a.read() != b.read():
                sys.exit(f"{one}: expected the bits of its twin, got "
                         f"{decibels(one, other):.0f} dB")

    def logits(name):
        path = os.path.join(folder, name + ".safetensors")
        run(name, "--inputs", os.path.join(folder, "inputs.safetensors"),
            "--outputs", path)
        return path
    for name in FORMATS:
        own, twin = logits(name), logits(name + ".f32")
        check_same(own, twin)
        wrong = decibels(twin, logits(name + ".wrong"))
        if wrong > 60:
            sys.exit(f"{name}: expected a wrong copy to be at most 60 dB from "
                     f"the twin, got {wrong:.0f}")
    check_same(logits("model.gguf"), logits("gguf.f32"))
    for name in ("gptq4", "ct8"):
        texts = [run(each, "--text", "Lily had", "--max-new-tokens", "24")
                 for each in (name, name + ".f32")]
        if texts[0] != texts[1] or len(texts[0]) < 20:
            sys.exit(f"{name}: expected the text of its twin, got {texts}")


parser = argparse.ArgumentParser()
parser.add_argument("--model")
parser.add_argument("--write")
parser.add_argument("--compare")
parser.add_argument("--tfc-run")
parser.add_argument("--library")
parser.add_argument("--near", nargs=2)
parser.add_argument("--least", type=float, default=20)
given = parser.parse_args()
if given.write:
    write_all(given.model, given.write)
elif given.compare:
    compare(given.compare, given.tfc_run, given.library)
else:
    print(f"{decibels(*given.near):.1f} dB")
    if decibels(*given.near) < given.least:
        sys.exit(f"expected {given.least} dB or more")
