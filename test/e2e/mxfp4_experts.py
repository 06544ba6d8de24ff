# A small gpt-oss twice: FOLDER/packed, whose experts are MXFP4 as its published
# files have them, and FOLDER/plain with the same numbers in f32.
#   mxfp4_experts.py FOLDER
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import random
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, os.pardir, "golden"))
import tensors

HIDDEN, WIDTH, EXPERTS, LAYERS, VOCAB = 64, 32, 5, 2, 50
CONFIG = {
    "architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss",
    "hidden_size": HIDDEN, "intermediate_size": WIDTH, "vocab_size": VOCAB,
    "num_hidden_layers": LAYERS, "num_attention_heads": 4, "head_dim": 16,
    "num_key_value_heads": 2, "num_local_experts": EXPERTS,
    "num_experts_per_tok": 2, "sliding_window": 4,
    "max_position_embeddings": 64, "tie_word_embeddings": False,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}
VALUES = (0, .5, 1, 1.5, 2, 3, 4, 6)


def add_experts(draw, stem, rows, columns, packed, plain):
    """Codes and powers of two; and what they are, transposed."""
    count = EXPERTS * rows * columns
    codes = [draw.randrange(16) for _ in range(count)]
    scales = [draw.randrange(121, 126) for _ in range(count // 32)]
    values = [VALUES[code & 7] * (-1 if code & 8 else 1) *
              2.0 ** (scales[i // 32] - 127) for i, code in enumerate(codes)]
    groups = columns // 32
    packed[stem + "_blocks"] = tensors.Tensor(
        "U8", [EXPERTS, rows, groups, 16],
        [codes[i] | codes[i + 1] << 4 for i in range(0, count, 2)])
    packed[stem + "_scales"] = tensors.Tensor("U8", [EXPERTS, rows, groups],
                                              scales)
    plain[stem] = tensors.Tensor("F32", [EXPERTS, columns, rows], [
        values[(expert * rows + row) * columns + column]
        for expert in range(EXPERTS) for column in range(columns)
        for row in range(rows)])


def main():
    folder, draw = sys.argv[1], random.Random(3)
    packed, plain, shared = {}, {}, {}

    def add(name, *shape):
        count = 1
        for axis in shape:
            count *= axis
        middle = 1 if "norm" in name else 0
        shared[name] = tensors.Tensor(
            "F32", shape, [draw.gauss(middle, .2) for _ in range(count)])

    add("model.embed_tokens.weight", VOCAB, HIDDEN)
    add("lm_head.weight", VOCAB, HIDDEN)
    add("model.norm.weight", HIDDEN)
    for layer in range(LAYERS):
        stem = f"model.layers.{layer}."
        for name, rows, columns in (("q", 64, HIDDEN), ("k", 32, HIDDEN),
                                    ("v", 32, HIDDEN), ("o", HIDDEN, 64)):
            add(f"{stem}self_attn.{name}_proj.weight", rows, columns)
            add(f"{stem}self_attn.{name}_proj.bias", rows)
        add(stem + "self_attn.sinks", 4)
        add(stem + "input_layernorm.weight", HIDDEN)
        add(stem + "post_attention_layernorm.weight", HIDDEN)
        add(stem + "mlp.router.weight", EXPERTS, HIDDEN)
        add(stem + "mlp.router.bias", EXPERTS)
        add(stem + "mlp.experts.gate_up_proj_bias", EXPERTS, 2 * WIDTH)
        add(stem + "mlp.experts.down_proj_bias", EXPERTS, HIDDEN)
        add_experts(draw, stem + "mlp.experts.gate_up_proj", 2 * WIDTH, HIDDEN,
                    packed, plain)
        add_experts(draw, stem + "mlp.experts.down_proj", HIDDEN, WIDTH,
                    packed, plain)
    for name, own, more in (
            ("packed", packed, {"quantization_config": {
                "quant_method": "mxfp4",
                "modules_to_not_convert": ["model.layers.*.self_attn"]}}),
            ("plain", plain, {})):
        path = os.path.join(folder, name)
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, "config.json"), "w") as stream:
            json.dump({**CONFIG, **more}, stream)
        tensors.write(os.path.join(path, "model.safetensors"),
                      {**shared, **own})
    ids = [(7 * i + 3) % VOCAB for i in range(24)]
    tensors.write(os.path.join(folder, "inputs.safetensors"), {
        "input_ids": tensors.Tensor("I64", [2, 12], ids),
        "attention_mask": tensors.Tensor("I64", [2, 12], [1] * 24)})


if __name__ == "__main__":
    main()
