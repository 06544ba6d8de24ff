# Writes a tiny model whose layers differ in numbers, or in structure in turn,
# with weights of no meaning, and a batch for it, longer than a stretch of attention (512 positions):
#   layers.py VARIANT LAYERS FOLDER
# gives FOLDER/model.json, model.safetensors, inputs.safetensors.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, "golden"))
import tensors

HIDDEN, WIDTH, VOCAB, POSITIONS, HEADS, KV_HEADS = 24, 40, 31, 640, 3, 1
ROWS = (600, 1, 37)
# Of those that are many to compute: what they add has nothing to do with it.
SHORT = {"distinct": (17, 1, 5)}

ROTARY = {"style": "half", "theta": 10000, "dim": 6}


def window(left, right=0):
    return {"window": {"left": left, "right": right}}


def scaling(**keys):
    return {"rotary": {"scaling": keys}}


# What all layers have in their attention, and what some have besides.
VARIANTS = {
    "equal": ("decoder", {}, []),
    "alternating": ("decoder", {}, [("::2", window(8))]),
    "decoder": ("decoder", {"rotary": ROTARY}, [
        ("::2", window(70)), ("1::3", {"rotary": {"theta": 50}}),
        ("2", {"scale": 0.7}), ("3", {"rotary": "none"})]),
    "factors": ("decoder", {"rotary": ROTARY}, [
        ("1::2", scaling(kind="yarn", factor=4, original_max=32)),
        ("2", scaling(kind="linear", factor=3))]),
    "encoder": ("encoder", {}, [
        ("::2", window(5, 9)), ("1", window(0, 0)), ("3", window(300, 2))]),
    "encoder-window": ("encoder", window(3, 3), []),
    "encoder-rotary": ("encoder", {"rotary": ROTARY}, [
        ("::3", window(64, 64)), ("1::3", {"rotary": {"theta": 100}})]),
    # Who has no biases computes something else, which is no number.
    "turns": ("decoder", {}, [("1::2", {"bias": False})]),
    "fourth": ("decoder", {"rotary": ROTARY}, [
        ("3::4", {"bias": False, "rotary": "none"})]),
    # No two have the same widths.
    "distinct": ("decoder", {"rotary": ROTARY}, []),
    # A prologue of one layer, and a period whose places differ in numbers.
    "prologue": ("decoder", {"rotary": ROTARY}, [
        ("2::2", {"bias": False}), ("::3", window(70)),
        ("3", {"rotary": {"theta": 50}}), ("4", {"scale": 0.7})]),
    "encoder-turns": ("encoder", {}, [
        ("::3", {"bias": False}), ("1::2", window(5, 9))]),
    # What else is done to scores; of the windows some stretches see nothing.
    "decoder-scores": ("decoder", {
        "slopes": "alibi", "log_scale_base": 64, "sinks": True,
        "qk_norm": {"kind": "rmsnorm", "eps": 1e-5, "over": "each_head"}}, [
            ("1", window(70))]),
    "encoder-scores": ("encoder", {
        "slopes": [0.02, -0.01, 0.3], "log_scale_base": 10, "sinks": True,
        "softcap": 5}, [("::2", window(300, 2))]),
}


# Of those whose positions are computed.
SINUSOIDS = {
    "decoder-scores": {"layout": "concat", "denominator": "half_minus_1",
                       "offset": 2, "zero_row": 5},
    "encoder-scores": {"layout": "interleaved", "denominator": "dim",
                       "zero_row": 3},
}


def make_spec(variant, layers):
    kind, common, some = VARIANTS[variant]
    norm = {"kind": "layernorm", "eps": 1e-5}
    attention = {"num_heads": HEADS, "num_kv_heads": KV_HEADS, "bias": True,
                 "causal": kind == "decoder", **common}
    stack = {
        "embeddings": {"token": {}},
        "layers": {
            "repeat": layers,
            "block": {"placement": "pre", "norm": norm, "attn": attention,
                      "ffn": {"width": WIDTH, "act": "gelu", "bias": True}},
            "overrides": [{"layers": selector, "set": {"attn": patch}}
                          for selector, patch in some]},
        "final_norm": norm}
    if variant == "distinct":
        stack["layers"]["overrides"] = [
            {"layers": str(layer), "set": {"ffn": {"width": WIDTH + layer}}}
            for layer in range(layers)]
    if variant in SINUSOIDS:
        stack["embeddings"]["position"] = {"kind": "sinusoid",
                                           **SINUSOIDS[variant]}
    elif "rotary" not in attention:
        stack["embeddings"]["position"] = {"kind": "learned"}
    return {"tfc": 1, "kind": kind, kind: stack,
            "dims": {"hidden": HIDDEN, "vocab": VOCAB,
                     "max_positions": POSITIONS}}


def read(stack, layer, part, key):
    """What the layer has at block/part/key."""
    layers = stack["layers"]
    result = layers["block"][part][key]
    for override in layers["overrides"]:
        bounds = [int(word) if word else None
                  for word in override["layers"].split(":")]
        if len(bounds) == 1:
            bounds.append(bounds[0] + 1)
        if layer in range(layers["repeat"])[slice(*bounds)]:
            result = override["set"].get(part, {}).get(key, result)
    return result


def list_shapes(spec):
    """Those of tfc's own names."""
    kind = spec["kind"]
    stack = spec[kind]
    shapes = {"embeddings.token.weight": [VOCAB, HIDDEN]}
    if stack["embeddings"].get("position") == {"kind": "learned"}:
        shapes["embeddings.position.weight"] = [POSITIONS, HIDDEN]
    norms = ["final_norm"]
    head = HIDDEN // HEADS
    for layer in range(stack["layers"]["repeat"]):
        stem = f"layers.{layer}."
        norms += [stem + "attn.pre_norm", stem + "ffn.pre_norm"]
        width = read(stack, layer, "ffn", "width")
        for name, rows, columns in (
                ("attn.q", HIDDEN, HIDDEN), ("attn.k", KV_HEADS * head, HIDDEN),
                ("attn.v", KV_HEADS * head, HIDDEN), ("attn.o", HIDDEN, HIDDEN),
                ("ffn.up", width, HIDDEN), ("ffn.down", HIDDEN, width)):
            shapes[stem + name + ".weight"] = [rows, columns]
            if name.startswith("ffn.") or read(stack, layer, "attn", "bias"):
                shapes[stem + name + ".bias"] = [rows]
        attention = stack["layers"]["block"]["attn"]
        if "sinks" in attention:
            shapes[stem + "attn.sinks.weight"] = [HEADS]
        if "qk_norm" in attention:
            shapes[stem + "attn.q_norm.weight"] = [HEADS, head]
            shapes[stem + "attn.k_norm.weight"] = [KV_HEADS, head]
    for name in norms:
        shapes[name + ".weight"] = shapes[name + ".bias"] = [HIDDEN]
    return {f"{kind}.{name}": shape for name, shape in shapes.items()}


def make_weights(spec):
    """As wide as to make attention choose, so that positions matter."""
    draw = random.Random(1)
    weights = {}
    for name, shape in list_shapes(spec).items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        middle = 1 if name.endswith("norm.weight") else 0
        weights[name] = tensors.Tensor(
            "F32", shape, [draw.gauss(middle, 0.3) for _ in range(count)])
    return weights


def make_inputs(rows):
    shape, mask, ids = [len(rows), max(rows)], [], []
    for row, length in enumerate(rows):
        for i in range(max(rows)):
            mask.append(int(i < length))
            ids.append((7919 * i + 31 * row) % VOCAB if i < length else 0)
    return {"input_ids": tensors.Tensor("I64", shape, ids),
            "attention_mask": tensors.Tensor("I64", shape, mask)}


def main():
    variant, layers, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    spec = make_spec(variant, int(layers))
    with open(os.path.join(folder, "model.json"), "w") as stream:
        json.dump(spec, stream)
    tensors.write(os.path.join(folder, "model.safetensors"),
                  make_weights(spec))
    tensors.write(os.path.join(folder, "inputs.safetensors"),
                  make_inputs(SHORT.get(variant, ROWS)))


if __name__ == "__main__":
    main()
