# A Hugging Face folder as a GGUF file without a vocabulary, matrices in f32,
# bf16, f16 or Q8_0, or as llama.cpp itself quantises them to four bits.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import re

import gguf
import llama_cpp
import numpy as np
import worker

# What llama.cpp does not compute.
WITHOUT_USE = ("pooler.", "embeddings.position_ids")
# Tables that it reads in f32 alone.
WIDE = ("position_embd.weight", "token_types.weight")
KINDS = {"f32": (gguf.LlamaFileType.ALL_F32, gguf.GGMLQuantizationType.F32),
         "bf16": (gguf.LlamaFileType.MOSTLY_BF16,
                  gguf.GGMLQuantizationType.BF16),
         "f16": (gguf.LlamaFileType.MOSTLY_F16, gguf.GGMLQuantizationType.F16),
         "int8": (gguf.LlamaFileType.MOSTLY_Q8_0,
                  gguf.GGMLQuantizationType.Q8_0)}
FORMS = {"Q4_0": gguf.LlamaFileType.MOSTLY_Q4_0,
         "Q4_K_M": gguf.LlamaFileType.MOSTLY_Q4_K_M}
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


def add_llama(writer, config):
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    if "num_local_experts" in config:
        writer.add_expert_count(config["num_local_experts"])
        writer.add_expert_used_count(config["num_experts_per_tok"])
    return config["num_hidden_layers"]


ARCHITECTURES = {"bert": (gguf.MODEL_ARCH.BERT, add_bert),
                 "gpt2": (gguf.MODEL_ARCH.GPT2, add_gpt2),
                 "llama": (gguf.MODEL_ARCH.LLAMA, add_llama),
                 "mixtral": (gguf.MODEL_ARCH.LLAMA, add_llama)}
# The matrices of all experts of a layer are one in GGUF.
EXPERT = re.compile(r"(.*\.experts)\.(\d+)\.(.*)")


def by_pairs(value, heads):
    """Rows of queries or keys in llama.cpp's order, which turns neighbours
    where Hugging Face turns the halves of a head."""
    split = value.reshape(heads, 2, -1, value.shape[-1])
    return split.swapaxes(1, 2).reshape(value.shape)


def read_tensors(path):
    """The tensors of a safetensors file by name, in f32: NumPy has no bf16."""
    with open(path, "rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        header = json.loads(stream.read(size))
        data = stream.read()
    for name, about in header.items():
        if name == "__metadata__":
            continue
        kept = data[slice(*about["data_offsets"])]
        if about["dtype"] == "BF16":
            value = (np.frombuffer(kept, np.uint16).astype(np.uint32) << 16
                     ).view(np.float32)
        else:
            value = np.frombuffer(kept, {"F32": np.float32, "F16": np.float16,
                                         "I64": np.int64}[about["dtype"]])
        yield name, value.reshape(about["shape"])


def join_experts(tensors, count):
    """The same with [experts, ...] in place of an expert's matrices; all of
    the others as they come."""
    waiting = {}
    for name, value in tensors:
        found = EXPERT.fullmatch(name)
        if not found:
            yield name, value
            continue
        layer, number, rest = found.groups()
        parts = waiting.setdefault((layer, rest), {})
        parts[int(number)] = value
        if len(parts) == count:
            yield f"{layer}.{rest}", np.stack([
                waiting[layer, rest].pop(i) for i in range(count)])


def write(folder, config, dtype, path):
    arch, add_sizes = ARCHITECTURES[config["model_type"]]
    writer = gguf.GGUFWriter(path, gguf.MODEL_ARCH_NAMES[arch])
    layers = add_sizes(writer, config)
    file_type, kind = KINDS[dtype]
    writer.add_file_type(file_type)
    writer.add_tokenizer_model("none")
    writer.add_vocab_size(config["vocab_size"])
    names = gguf.get_tensor_name_map(arch, layers)
    tensors = read_tensors(os.path.join(folder, "model.safetensors"))
    for name, value in join_experts(tensors, config.get("num_local_experts")):
        if name.startswith(WITHOUT_USE):
            continue
        if name.endswith(TRANSPOSED):
            value = value.T
        for end, heads in (("q_proj.weight", "num_attention_heads"),
                           ("k_proj.weight", "num_key_value_heads")):
            if name.endswith(end):
                value = by_pairs(value, config[heads])
        new = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if new is None:
            raise RuntimeError(f"GGUF has no name for {name}")
        value = np.ascontiguousarray(value, np.float32)
        if value.ndim == 1 or new in WIDE or dtype == "f32":
            writer.add_tensor(new, value)
        else:
            writer.add_tensor(new, gguf.quants.quantize(value, kind),
                              raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def quantize(config, wide, path):
    options = llama_cpp.llama_model_quantize_default_params()
    options.ftype = FORMS[worker.form()]
    if not config.get("tie_word_embeddings", True):
        # A table that is looked up alone costs no time, and in four bits 3 dB.
        options.token_embedding_type = gguf.GGMLQuantizationType.Q8_0
    if llama_cpp.llama_model_quantize(wide.encode(), path.encode(), options):
        raise RuntimeError("it does not quantise the model")


def once(path, make, *arguments):
    """The path, made by make(*arguments, its path) when it is not there."""
    if not os.path.exists(path):
        make(*arguments, path + ".part")
        os.rename(path + ".part", path)
    return path


def convert(folder, cache, dtype):
    """The path of the GGUF file, made when it is not there, and the
    configuration."""
    config = worker.read_config(folder)
    if config["model_type"] not in ARCHITECTURES:
        raise NotImplementedError(config["model_type"])
    stem = os.path.join(cache, os.path.basename(folder.rstrip("/")))
    is_int4 = dtype == "int4"
    path = once(stem + ".gguf", write, folder, config,
                "f32" if is_int4 else dtype)
    if is_int4:
        path = once(f"{stem}-{worker.form()}.gguf", quantize, config,
                    path)
    return path, config
