# A decoder of every kind of layer that keeps a state, with weights of no
# meaning, and a batch: states.py FOLDER. Values are wider than the columns that
# a worker takes at once, and no width is a multiple of a vector.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import random
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, os.pardir, "golden"))
import tensors

HIDDEN, VOCAB, KERNEL, TAPS = 26, 61, 5, 3
KEYS, VALUES, KEY_DIM, VALUE_DIM = 2, 4, 7, 75
# Of Mamba; more numbers of a column than stay in registers.
INNER, RANK, FEW, MANY = 75, 3, 7, 35
ROWS = (70, 1, 37)

NORM = {"kind": "rmsnorm", "eps": 1e-6}
# What is near zero stays there, so that errors do not grow from layer to layer.
WIDE_NORM = {"kind": "rmsnorm", "eps": 0.01}
ATTENTION = {"num_heads": 2, "num_kv_heads": 1, "head_dim": 12,
             "causal": True, "gate": "sigmoid",
             "rotary": {"style": "half", "theta": 10000.0}}
BLOCKS = [
    {"conv": {"kernel": KERNEL, "bias": True}},
    {"recurrent": {"kind": "gated_delta", "key_heads": KEYS,
                   "value_heads": VALUES, "key_dim": KEY_DIM,
                   "value_dim": VALUE_DIM, "conv": TAPS, "norm": NORM}},
    {"recurrent": {"kind": "mamba2", "heads": VALUES, "head_dim": VALUE_DIM,
                   "state": KEY_DIM, "groups": KEYS, "conv": TAPS,
                   "conv_bias": True, "norm": NORM, "norm_groups": 3}},
    {"attn": ATTENTION, "conv": {"kernel": 2}},
    {"recurrent": {"kind": "mamba", "width": INNER, "state": FEW, "rank": RANK,
                   "conv": TAPS, "conv_bias": True, "norm": "none",
                   "bias": True}},
    {"recurrent": {"kind": "mamba", "width": INNER, "state": MANY,
                   "rank": RANK, "conv": TAPS, "norm": NORM}}]
# Behind all of them, once.
LAST = {"recurrent": {"kind": "gated_delta", "key_heads": KEYS,
                       "value_heads": VALUES, "key_dim": KEY_DIM,
                       "value_dim": VALUE_DIM, "conv": TAPS, "norm": WIDE_NORM,
                       "key_decay": True, "decay_rank": RANK, "gate_rank": FEW,
                       "gate_act": "sigmoid"}}
SPEC = {
    "tfc": 1, "kind": "decoder",
    "dims": {"hidden": HIDDEN, "vocab": VOCAB, "max_positions": 90},
    "decoder": {
        "embeddings": {"token": {}},
        "layers": [{"repeat": 2, "block": [
            {"placement": "pre", "norm": NORM, **block} for block in BLOCKS]},
            {"repeat": 1, "block": {"placement": "pre", "norm": NORM, **LAST}}],
        "final_norm": NORM}}


def conv(kernel, bias):
    shapes = {f"{part}.weight": [HIDDEN, HIDDEN]
              for part in ("in_gate", "out_gate", "value", "o")}
    shapes["conv.weight"] = [HIDDEN, kernel]
    if bias:
        shapes.update({f"{part}.bias": [HIDDEN] for part in
                       ("in_gate", "out_gate", "value", "o", "conv")})
    return shapes


def mamba():
    keys, values = KEYS * KEY_DIM, VALUES * VALUE_DIM
    shapes = recurrent()
    shapes.update({"q_conv.bias": [keys], "k_conv.bias": [keys],
                   "v_conv.bias": [values], "skip.weight": [VALUES],
                   "norm.weight": [values]})
    del shapes["beta.weight"]
    return shapes


def recurrent():
    keys, values = KEYS * KEY_DIM, VALUES * VALUE_DIM
    shapes = {}
    for part, rows in (("q", keys), ("k", keys), ("v", values)):
        shapes[f"{part}.weight"] = [rows, HIDDEN]
        shapes[f"{part}_conv.weight"] = [rows, TAPS]
    return dict(shapes, **{
        "gate.weight": [values, HIDDEN], "beta.weight": [VALUES, HIDDEN],
        "decay.weight": [VALUES, HIDDEN], "decay.bias": [VALUES],
        "log_rate.weight": [VALUES], "norm.weight": [VALUE_DIM],
        "o.weight": [HIDDEN, values]})


def of_keys():
    """Each key of a value head decays; products of low rank."""
    shapes = recurrent()
    for part in ("gate.weight", "decay.weight", "decay.bias"):
        del shapes[part]
    return dict(shapes, **{
        "decay_a.weight": [RANK, HIDDEN],
        "decay_b.weight": [VALUES * KEY_DIM, RANK],
        "decay_b.bias": [VALUES * KEY_DIM],
        "gate_a.weight": [FEW, HIDDEN],
        "gate_b.weight": [VALUES * VALUE_DIM, FEW]})


def selective(state, is_normed):
    shapes = {"v.weight": [INNER, HIDDEN], "gate.weight": [INNER, HIDDEN],
              "v_conv.weight": [INNER, TAPS], "decay.weight": [INNER, RANK],
              "decay.bias": [INNER], "log_rate.weight": [state, INNER],
              "skip.weight": [INNER], "o.weight": [HIDDEN, INNER]}
    for part, rows in (("q", state), ("k", state), ("time", RANK)):
        shapes[f"{part}.weight"] = [rows, INNER]
        if is_normed:
            shapes[f"{part}_norm.weight"] = [rows]
    if not is_normed:
        shapes.update({"v.bias": [INNER], "gate.bias": [INNER],
                       "v_conv.bias": [INNER], "o.bias": [HIDDEN]})
    return shapes


def attention():
    heads, keys = 24, 12
    return {"q.weight": [heads, HIDDEN], "gate.weight": [heads, HIDDEN],
            "k.weight": [keys, HIDDEN], "v.weight": [keys, HIDDEN],
            "o.weight": [HIDDEN, heads]}


def list_shapes():
    shapes = {"embeddings.token.weight": [VOCAB, HIDDEN],
              "final_norm.weight": [HIDDEN]}
    last = 2 * len(BLOCKS)
    for layer in range(last + 1):
        parts = ({"conv": conv(KERNEL, True)}, {"recurrent": recurrent()},
                 {"recurrent": mamba()},
                 {"attn": attention(), "conv": conv(2, False)},
                 {"recurrent": selective(FEW, False)},
                 {"recurrent": selective(MANY, True)},
                 {"recurrent": of_keys()})[
                     layer % len(BLOCKS) if layer < last else -1]
        for name, own in parts.items():
            own["pre_norm.weight"] = [HIDDEN]
            shapes.update({f"layers.{layer}.{name}.{part}": shape
                           for part, shape in own.items()})
    return {"decoder." + name: shape for name, shape in shapes.items()}


def make_weights():
    draw, weights = random.Random(1), {}
    for name, shape in list_shapes().items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        middle = 1 if name.endswith("norm.weight") else 0
        deviation = 0.3 if len(shape) == 1 else 1.5 / shape[-1] ** 0.5
        values = [draw.gauss(middle, deviation) for _ in range(count)]
        weights[name] = tensors.Tensor("F32", shape, values)
    return weights


def make_inputs():
    longest, mask, ids = max(ROWS), [], []
    for row, length in enumerate(ROWS):
        for i in range(longest):
            mask.append(int(i < length))
            ids.append((7919 * i + 31 * row) % VOCAB if i < length else 0)
    shape = [len(ROWS), longest]
    return {"input_ids": tensors.Tensor("I64", shape, ids),
            "attention_mask": tensors.Tensor("I64", shape, mask)}


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.json"), "w") as stream:
        json.dump(SPEC, stream)
    tensors.write(os.path.join(folder, "model.safetensors"), make_weights())
    tensors.write(os.path.join(folder, "inputs.safetensors"), make_inputs())


if __name__ == "__main__":
    main()
