#!/usr/bin/env python3
# Writes the models that are measured, with random weights, as Hugging Face
# folders: BERT-base, the shapes of all-MiniLM-L6 and DeBERTa-v3-base, GPT-2
# 124M with positions for long contexts, a LLaMA of 1.1 billion parameters
# (TinyLlama's shape), and a Mixtral of 2.4.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os

import torch
import transformers

import pieces

# Of int8 and int4 the checkpoint is f32, of which everybody makes integers.
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16,
          "int8": torch.float32, "int4": torch.float32}
# GPT-2's own 1024 positions leave none after a past of 1024, nor would 2048
# after one of 8192.
CONFIGS = {
    "minilm-l6": (transformers.BertModel, transformers.BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
        intermediate_size=1536)),
    "bert-base": (transformers.BertModel, transformers.BertConfig()),
    "deberta-v3-base": (transformers.DebertaV2Model,
                        transformers.DebertaV2Config(
                            vocab_size=128100, hidden_size=768,
                            num_hidden_layers=12, num_attention_heads=12,
                            intermediate_size=3072, type_vocab_size=0,
                            relative_attention=True, position_buckets=256,
                            max_relative_positions=-1, share_att_key=True,
                            pos_att_type=["p2c", "c2p"], layer_norm_eps=1e-7,
                            norm_rel_ebd="layer_norm",
                            position_biased_input=False)),
    "gpt2-124m": (transformers.GPT2LMHeadModel,
                  transformers.GPT2Config(n_positions=2048)),
    "llama-1.1b": (transformers.LlamaForCausalLM, transformers.LlamaConfig(
        hidden_size=2048, num_hidden_layers=22, num_attention_heads=32,
        num_key_value_heads=4, intermediate_size=5632,
        max_position_embeddings=16384)),
    "mixtral-2.4b": (transformers.MixtralForCausalLM,
                     transformers.MixtralConfig(
                         vocab_size=32000, hidden_size=2048,
                         num_hidden_layers=12, num_attention_heads=16,
                         num_key_value_heads=4, intermediate_size=3584,
                         num_local_experts=8, num_experts_per_tok=2,
                         sliding_window=None)),
}


def randomize(model):
    """Norms near 1, biases not 0, matrices as they are initialised: a wrong or
    forgotten parameter shows in the outputs. What a LLaMA's layers add is made
    small beside its embeddings: else layers make noise of every rounding,
    which those of trained models do not."""
    with torch.no_grad():
        for name, value in model.named_parameters():
            if value.dim() == 1:
                is_scale = name.endswith("weight")
                value.normal_(1.0 if is_scale else 0.0, 0.1)
            elif name.endswith("embed_tokens.weight"):
                value.normal_()
            elif name.removesuffix(".weight").endswith(("o_proj",
                                                         "down_proj")):
                value /= (2 * model.config.num_hidden_layers) ** 0.5


def write(name, folder, dtype):
    model_class, config = CONFIGS[name]
    path = os.path.join(folder, pieces.name_of(name, dtype))
    if os.path.exists(os.path.join(path, "model.safetensors")):
        return
    torch.manual_seed(20240229)
    model = model_class(config).eval()
    randomize(model)
    model.to(DTYPES[dtype]).save_pretrained(path)
    print(f"{path}: {sum(p.numel() for p in model.parameters())} parameters")


def main():
    parser = argparse.ArgumentParser(description="writes random models")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CONFIGS)}; "
                        "default: all that are measured in this type")
    parser.add_argument("--dtype", choices=list(DTYPES), default="f32")
    arguments = parser.parse_args()
    for name in arguments.names or pieces.models_of(arguments.dtype):
        write(name, arguments.folder, arguments.dtype)


if __name__ == "__main__":
    main()
