# Writes examples/specs/tiny-moe.json with weights of no meaning, and a batch:
#   experts.py FOLDER EXPERTS [HIDDEN WIDTH]
# (HIDDEN a multiple of 6) gives FOLDER/model.json, model.safetensors, inputs.safetensors. Two experts at
# a time have the same score in every row, so that a tie decides between them;
# one pair all rows take from, and one none does.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import random
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, os.pardir, "golden"))
import tensors

ROWS = (150, 1, 37)


def make_spec(experts, hidden=None, width=None):
    path = os.path.join(ROOT, "..", "..", "examples", "specs", "tiny-moe.json")
    with open(path) as stream:
        spec = json.load(stream)
    spec["dims"]["max_positions"] = 200
    moe = spec["decoder"]["layers"]["block"]["moe"]
    moe["experts"] = experts
    if hidden:
        spec["dims"]["hidden"], moe["width"] = hidden, width
    return spec


def list_shapes(spec):
    """Those of tfc's own names: [rows] or [rows, columns]."""
    hidden, block = spec["dims"]["hidden"], spec["decoder"]["layers"]["block"]
    moe = block["moe"]
    keys = hidden // block["attn"]["num_heads"]
    shapes = {"embeddings.token.weight": [spec["dims"]["vocab"], hidden],
              "final_norm.weight": [hidden]}

    def add_ffn(stem, width, bias=False):
        for part, rows, columns in (("gate", width, hidden),
                                    ("up", width, hidden),
                                    ("down", hidden, width)):
            shapes[f"{stem}.{part}.weight"] = [rows, columns]
            if bias:
                shapes[f"{stem}.{part}.bias"] = [rows]

    for layer in range(spec["decoder"]["layers"]["repeat"]):
        stem = f"layers.{layer}."
        for part, rows in (("q", hidden), ("k", keys), ("v", keys),
                           ("o", hidden)):
            shapes[f"{stem}attn.{part}.weight"] = [rows, hidden]
        own = "ffn" if layer == 0 else "moe"
        for part in ("attn", own):
            shapes[f"{stem}{part}.pre_norm.weight"] = [hidden]
        if layer == 0:
            add_ffn(stem + "ffn", 37)
            continue
        shapes[stem + "moe.router.weight"] = [moe["experts"], hidden]
        shapes[stem + "moe.router.bias"] = [moe["experts"]]
        shapes[stem + "moe.choice_bias.weight"] = [moe["experts"]]
        for expert in range(moe["experts"]):
            add_ffn(f"{stem}moe.{expert}", moe["width"], moe["bias"])
        add_ffn(stem + "moe.shared", moe["shared"]["width"])
        shapes[stem + "moe.shared_gate.weight"] = [1, hidden]
    return {"decoder." + name: shape for name, shape in shapes.items()}


def pair_up(name, values, shape):
    """Every second expert scores as the one before does."""
    columns = shape[1] if len(shape) > 1 else 1
    for expert in range(1, shape[0], 2):
        values[expert * columns:(expert + 1) * columns] = \
            values[(expert - 1) * columns:expert * columns]
    if "choice_bias" in name:
        values[4:6], values[2:4] = [9.0, 9.0], [-9.0, -9.0]


def make_weights(spec):
    draw, weights = random.Random(1), {}
    for name, shape in list_shapes(spec).items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        middle = 1 if name.endswith("norm.weight") else 0
        values = [draw.gauss(middle, 0.3) for _ in range(count)]
        if "router" in name or "choice_bias" in name:
            pair_up(name, values, shape)
        weights[name] = tensors.Tensor("F32", shape, values)
    return weights


def make_inputs(vocab):
    shape, mask, ids = [len(ROWS), max(ROWS)], [], []
    for row, length in enumerate(ROWS):
        for i in range(max(ROWS)):
            mask.append(int(i < length))
            ids.append((7919 * i + 31 * row) % vocab if i < length else 0)
    return {"input_ids": tensors.Tensor("I64", shape, ids),
            "attention_mask": tensors.Tensor("I64", shape, mask)}


def main():
    folder, numbers = sys.argv[1], map(int, sys.argv[2:])
    os.makedirs(folder, exist_ok=True)
    spec = make_spec(*numbers)
    with open(os.path.join(folder, "model.json"), "w") as stream:
        json.dump(spec, stream)
    tensors.write(os.path.join(folder, "model.safetensors"),
                  make_weights(spec))
    tensors.write(os.path.join(folder, "inputs.safetensors"),
                  make_inputs(spec["dims"]["vocab"]))


if __name__ == "__main__":
    main()
