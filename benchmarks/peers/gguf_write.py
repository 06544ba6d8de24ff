# A Hugging Face folder as a GGUF file in f32, without a vocabulary.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

import gguf
import numpy as np
from safetensors.numpy import load_file

import worker

# What llama.cpp does not compute.
WITHOUT_USE = ("pooler.", "embeddings.position_ids")
# GPT-2 keeps the matrices of its Conv1D as [in, out].
TRANSPOSED = (".c_attn.weight", ".c_proj.weight", ".c_fc.weight")


def add_bert(writer, config):
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_token_type_count(config["type_vocab_size"])
    return config["num_hidden_layers"]


def add_gpt2(writer, config):
    writer.add_context_length(config["n_positions"])
    writer.add_embedding_length(config["n_embd"])
    writer.add_feed_forward_length(config["n_inner"] or 4 * config["n_embd"])
    writer.add_block_count(config["n_layer"])
    writer.add_head_count(config["n_head"])
    writer.add_layer_norm_eps(config["layer_norm_epsilon"])
    return config["n_layer"]


ARCHITECTURES = {"bert": (gguf.MODEL_ARCH.BERT, add_bert),
                 "gpt2": (gguf.MODEL_ARCH.GPT2, add_gpt2)}


def write(folder, config, path):
    arch, add_sizes = ARCHITECTURES[config["model_type"]]
    writer = gguf.GGUFWriter(path, gguf.MODEL_ARCH_NAMES[arch])
    layers = add_sizes(writer, config)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("none")
    writer.add_vocab_size(config["vocab_size"])
    names = gguf.get_tensor_name_map(arch, layers)
    tensors = load_file(os.path.join(folder, "model.safetensors"))
    for name, value in tensors.items():
        if name.startswith(WITHOUT_USE):
            continue
        if name.endswith(TRANSPOSED):
            value = value.T
        new = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if new is None:
            raise RuntimeError(f"GGUF has no name for {name}")
        writer.add_tensor(new, np.ascontiguousarray(value, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def convert(folder, cache):
    """The path of the GGUF file, made when it is not there, and the
    configuration."""
    config = worker.read_config(folder)
    name = os.path.basename(folder.rstrip("/")) + ".gguf"
    path = os.path.join(cache, name)
    if not os.path.exists(path):
        write(folder, config, path + ".part")
        os.rename(path + ".part", path)
    return path, config
