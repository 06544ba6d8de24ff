#!/usr/bin/env python3
# What weights take in 16 bits, and how near rounded ones are.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
import tensors  # noqa: E402


def weight_bytes(options, storage):
    """Of a GPT-2 of two layers with random weights."""
    spec = {"tfc": 1, "extends": "preset:gpt2", "name": storage,
            "precision": {"weights": storage},
            "dims": {"hidden": 256, "vocab": 4001, "max_positions": 64},
            "decoder": {"layers": {"repeat": 2, "block": {
                "attn": {"num_heads": 8}, "ffn": {"width": 1021}}}}}
    with open(f"{storage}-size.json", "w") as stream:
        json.dump(spec, stream)
    library = f"./{storage}-size.so"
    subprocess.run([options.tfc, "compile", f"{storage}-size.json", "--target=cpu",
                    "-o", library], check=True)
    result = subprocess.run(
        [options.tfc_bench, library, "--random", "--workload", "decode:1x4",
         "--repeats", "1", "--warmup", "0", "--format", "json"],
        check=True, capture_output=True, text=True)
    return json.loads(result.stdout)["weight_bytes"]


def check_sizes(options):
    whole = weight_bytes(options, "f32")
    for storage in ("f16", "bf16"):
        share = weight_bytes(options, storage) / whole
        if not 0.5 <= share <= 0.52:
            sys.exit(f"expected {storage} to take half of f32, got {share:.3f}")


def check_near(one, other):
    """As near as 8 bits of mantissa are."""
    left, right = tensors.read(one), tensors.read(other)
    for name, tensor in left.items():
        signal = sum(x * x for x in tensor.data)
        noise = sum((x - y) ** 2 for x, y in zip(tensor.data,
                                                 right[name].data))
        if signal < noise * 1e3:
            sys.exit(f"expected {name} within 30 dB, got {signal} and {noise}")


parser = argparse.ArgumentParser()
parser.add_argument("--tfc")
parser.add_argument("--tfc-bench")
parser.add_argument("--near", nargs=2)
given = parser.parse_args()
if given.near:
    check_near(*given.near)
else:
    check_sizes(given)
