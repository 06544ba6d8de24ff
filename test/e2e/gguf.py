#!/usr/bin/env python3
# Writes GGUF files of Hugging Face folders of LLaMA, Qwen2 and Qwen3, from the
# format's definition, by nothing but Python's library.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
from tensors import read  # noqa: E402

NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
         "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
         "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
         "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
         "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
         "post_attention_layernorm": "ffn_norm"}


def name_of(name):
    for ours, theirs in (("model.embed_tokens", "token_embd"),
                         ("model.norm", "output_norm"), ("lm_head", "output")):
        if name.startswith(ours + "."):
            return name.replace(ours, theirs)
    _, _, layer, part = name.split(".", 3)
    stem, end = part.rsplit(".", 1)
    return f"blk.{layer}.{NAMES[stem]}.{end}"


def in_pairs(rows, heads):
    """Rows of a head's halves as neighbours."""
    width = len(rows) // heads
    return [rows[head * width + half * (width // 2) + i]
            for head in range(heads) for i in range(width // 2)
            for half in range(2)]


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def metadata(config):
    kind, heads = config["model_type"], config["num_attention_heads"]
    values = [text("general.architecture") + struct.pack("<I", 8) + text(kind)]

    def add(key, value):
        values.append(text(key) + (
            struct.pack("<If", 6, value) if isinstance(value, float)
            else struct.pack("<II", 4, value)))
    head = config.get("head_dim") or config["hidden_size"] // heads
    for key, value in (
            ("block_count", config["num_hidden_layers"]),
            ("context_length", config["max_position_embeddings"]),
            ("embedding_length", config["hidden_size"]),
            ("feed_forward_length", config["intermediate_size"]),
            ("attention.head_count", heads),
            ("attention.head_count_kv", config["num_key_value_heads"]),
            ("attention.key_length", head), ("attention.value_length", head),
            ("rope.dimension_count", head),
            ("rope.freq_base", config["rope_parameters"]["rope_theta"]),
            ("attention.layer_norm_rms_epsilon", config["rms_norm_eps"])):
        add(f"{kind}.{key}", value)
    for key, name in (("bos", "bos"), ("eos", "eos"), ("pad", "padding")):
        if config.get(key + "_token_id") is not None:
            add(f"tokenizer.ggml.{name}_token_id", config[key + "_token_id"])
    return values


def write_gguf(config, tensors, path, encode, parts=1):
    """`encode(name, row)`: the code of a type, and the row's bytes in it. Of
    several parts, which have tensors in turn, the path is what their names
    begin with."""
    heads = {"q_proj": config["num_attention_heads"],
             "k_proj": config["num_key_value_heads"]}
    files = [[] for _ in range(parts)]
    for number, (name, tensor) in enumerate(tensors.items()):
        single = len(tensor.shape) == 1
        rows = [[x] for x in tensor.data] if single else tensor.rows()
        codes, stored = zip(*(encode(name, row) for row in rows))
        count = heads.get(name.split(".")[-2])
        if count and config["model_type"] == "llama":
            stored = in_pairs(stored, count)
        files[number % parts].append(
            (name_of(name), tensor.shape, codes[0], b"".join(stored)))
    values = metadata(config)
    if parts == 1:
        write_part(path, values, files[0])
        return
    for number, each in enumerate(files):
        write_part(f"{path}-{number + 1:05}-of-{parts:05}.gguf", values + [
            text("split.no") + struct.pack("<IH", 2, number),
            text("split.count") + struct.pack("<IH", 2, parts),
            text("split.tensors.count") + struct.pack("<Ii", 5, len(tensors))],
            each)
        values = []


def write_part(path, values, tensors):
    infos, data = [], b""
    for name, shape, code, stored in tensors:
        infos.append(text(name) + struct.pack(
            f"<I{len(shape)}QIQ", len(shape), *reversed(shape), code,
            len(data)))
        data += stored + b"\0" * (-len(stored) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(values)) + \
        b"".join(values) + b"".join(infos)
    with open(path, "wb") as stream:
        stream.write(head + b"\0" * (-len(head) % 32) + data)


def read_config(folder):
    with open(os.path.join(folder, "config.json")) as stream:
        return json.load(stream)


def in_f32(_, row):
    return 0, struct.pack(f"<{len(row)}f", *row)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model")
    parser.add_argument("--write")
    parser.add_argument("--parts", type=int, default=1)
    given = parser.parse_args()
    write_gguf(read_config(given.model), read(
        os.path.join(given.model, "model.safetensors")), given.write, in_f32, given.parts)
