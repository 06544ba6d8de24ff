#!/usr/bin/env python3
# Writes the models that are measured, with random weights, as Hugging Face
# folders: BERT-base, the shape of all-MiniLM-L6, GPT-2 124M with positions for
# long contexts, and a LLaMA of 1.1 billion parameters (TinyLlama's shape).
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
    "gpt2-124m": (transformers.GPT2LMHeadModel,
                  transformers.GPT2Config(n_positions=2048)),
    "llama-1.1b": (transformers.LlamaForCausalLM, transformers.LlamaConfig(
        hidden_size=2048, num_hidden_layers=22, num_attention_heads=32,
        num_key_value_heads=4, intermediate_size=5632,
        max_position_embeddings=16384)),
}


def randomize(model):
    """Norms near 1, biases not 0, matrices as they are initialised: a wrong or
    forgotten parameter shows in the outputs."""
    with torch.no_grad():
        for name, value in model.named_parameters():
            if value.dim() == 1:
                is_scale = name.endswith("weight")
                value.normal_(1.0 if is_scale else 0.0, 0.1)


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
