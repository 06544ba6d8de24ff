# Folders of models as Hugging Face lays them out, with weights that are all
# zero and take no room on the disk, and what `tfc import` says of them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import re
import struct
import subprocess

import torch
import transformers as hf

UNREAD = re.compile(r"config\.json:\d+:\d+: /: .*expected only keys that tfc "
                    r"knows .*, got (.*) \[TFC002\]")


def shapes_of(cls, config):
    """The shapes of the tensors that save_pretrained writes, by name. Nothing
    is computed: the model has no memory."""
    with torch.device("meta"):
        model = cls(config)
    tied = model.all_tied_weights_keys or {}
    return dict(pair for name, value in model.state_dict().items()
                if name not in tied
                for pair in apart(config.model_type, name, tuple(value.shape)))


def apart(family, name, shape):
    """(name, shape) of what save_pretrained makes of a tensor of a mixture of
    experts, which modules keep in others than files do."""
    if family in ("gpt_oss", "mistral4", "openai_privacy_filter"):
        return [(name, shape)]
    if family == "jina_embeddings_v3":
        return packed(name, shape)
    if family == "kimi_linear":
        name = name.replace(".forget_gate.", ".")
        if name.endswith(".conv1d.weight"):
            stem = name.removesuffix("conv1d.weight")
            return [(f"{stem}{part}_conv1d.weight",
                     (shape[0] // 3, *shape[1:])) for part in "qkv"]
    is_block = family in ("mixtral", "phimoe", "minimax_m2", "kimi_linear")
    block = (".block_sparse_moe." if is_block else
             ".feed_forward." if family in ("lfm2_moe", "jamba") else
             ".mixer." if family == "nemotron_h" else ".mlp.")
    if family == "phimoe":
        name = name.replace(".mlp.router.", ".mlp.gate.")
    name = name.replace(".gate.moe_statics.", ".moe_statics.").replace(
        ".block_sparse_moe.router.", ".block_sparse_moe.router.layer.").replace(
        ".block_sparse_moe.experts.gate_up_proj",
        ".block_sparse_moe.input_linear.weight").replace(
        ".block_sparse_moe.experts.down_proj",
        ".block_sparse_moe.output_linear.weight")
    if is_block:
        name = name.replace(".mlp.", block)
    stem, found, part = name.partition(block + "experts.")
    if not found or len(shape) != 3:
        return [(name, shape)]
    gate, up, down = (("w1", "w3", "w2") if is_block or family == "lfm2_moe"
                      else ("gate_proj", "up_proj", "down_proj"))
    names = {"gate_up_proj": (gate, up), "down_proj": (down,)}.get(
        part, (part,))
    own = (shape[1] // len(names), shape[2])
    return [(f"{stem}{found}{expert}.{each}.weight", own)
            for expert in range(shape[0]) for each in names]


# What files of Jina's third embeddings call it.
JINA = {"embeddings.LayerNorm": "emb_ln", "layers.": "encoder.layers.",
        "self_attn.o_proj": "mixer.out_proj",
        "post_attention_layernorm": "norm1", "post_mlp_layernorm": "norm2",
        "self_attn.q_proj": "mixer.Wqkv"}


def packed(name, shape):
    """Queries, keys and values in one."""
    if ".k_proj." in name or ".v_proj." in name:
        return []
    if ".q_proj." in name:
        shape = (3 * shape[0], *shape[1:])
    for module, file in JINA.items():
        name = name.replace(module, file)
    return [(name, shape)]


def write(folder, keys, shapes):
    """config.json, and zeros of these shapes in f16: a file with holes."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as stream:
        json.dump(keys, stream)
    header, end = {}, 0
    for name, shape in sorted(shapes.items()):
        start, end = end, end + 2 * torch.Size(shape).numel()
        header[name] = {"dtype": "F16", "shape": shape,
                        "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    path = os.path.join(folder, "model.safetensors")
    with open(path, "wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text)
        stream.truncate(8 + len(text) + end)


def run_import(tfc, folder):
    """Exit code, spec and messages."""
    result = subprocess.run([tfc, "import", folder], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return result.returncode, result.stdout, result.stderr


def canonical(tfc, spec, folder):
    """The one text of the model that a spec says; a file of the folder is made
    on the way."""
    path = os.path.join(folder, "spec.json")
    with open(path, "w") as stream:
        stream.write(spec)
    return subprocess.run([tfc, "spec", "--canonical", path], check=True,
                          stdout=subprocess.PIPE).stdout


def unread(messages):
    """The keys of config.json that the importer says it does not know."""
    found = UNREAD.search(messages)
    return set(re.findall(r'"([^"]*)"', found.group(1))) if found else set()


def config_of(folder):
    """What transformers makes of a folder's config.json."""
    return hf.AutoConfig.from_pretrained(folder)
