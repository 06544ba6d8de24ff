# Golden sentence encoders: tiny models in folders of sentence-transformers, whose
# modules pool what they give.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os

import torch
import transformers as hf
from sentence_transformers.models import Dense, LayerNorm, Pooling

from inputs import VOCAB, forward_inputs
from reference import build, forward
from writer import store

CASES = ("one", "ragged", "left", "longest")
MODULE = "sentence_transformers.models."

# name, the class that is saved, that whose rows are pooled, config, what
# Pooling's file says, whether lengths are made one.
SENTENCES = (
    ("sentence-mean", hf.BertModel, hf.BertModel, hf.BertConfig(
        vocab_size=VOCAB, hidden_size=26, num_hidden_layers=1,
        num_attention_heads=2, intermediate_size=37,
        max_position_embeddings=40),
     {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False},
     True),
    ("sentence-max", hf.MPNetForMaskedLM, hf.MPNetModel, hf.MPNetConfig(
        vocab_size=VOCAB, hidden_size=30, num_hidden_layers=1,
        num_attention_heads=3, intermediate_size=37,
        max_position_embeddings=40), {"pooling_mode": "max"}, False),
    ("sentence-sqrt", hf.DistilBertModel, hf.DistilBertModel,
     hf.DistilBertConfig(vocab_size=VOCAB, dim=26, n_layers=1, n_heads=1,
                         hidden_dim=37, max_position_embeddings=40),
     {"pooling_mode": ["mean_sqrt_len_tokens"]}, True),
    ("sentence-cls", hf.RobertaModel, hf.RobertaModel, hf.RobertaConfig(
        vocab_size=VOCAB, hidden_size=26, num_hidden_layers=1,
        num_attention_heads=2, intermediate_size=37, type_vocab_size=1,
        max_position_embeddings=42), {"pooling_mode_cls_token": True}, True),
    ("sentence-last", hf.Qwen3ForCausalLM, hf.Qwen3Model, hf.Qwen3Config(
        vocab_size=VOCAB, hidden_size=30, num_hidden_layers=2,
        num_attention_heads=3, num_key_value_heads=1, head_dim=14,
        intermediate_size=37, max_position_embeddings=60, bos_token_id=1,
        eos_token_id=2, pad_token_id=0), {"pooling_mode_lasttoken": True},
     True),
    ("sentence-dense", hf.BertModel, hf.BertModel, hf.BertConfig(
        vocab_size=VOCAB, hidden_size=26, num_hidden_layers=1,
        num_attention_heads=2, intermediate_size=37,
        max_position_embeddings=40), {"pooling_mode": "mean"}, True),
    ("sentence-plain-dense", hf.DistilBertModel, hf.DistilBertModel,
     hf.DistilBertConfig(vocab_size=VOCAB, dim=26, n_layers=1, n_heads=1,
                         hidden_dim=37, max_position_embeddings=40),
     {"pooling_mode": "cls"}, False),
    # EmbeddingGemma: tokens see both sides, some layers through a window.
    ("sentence-gemma", hf.Gemma3TextModel, hf.Gemma3TextModel,
     hf.Gemma3TextConfig(
        vocab_size=VOCAB, hidden_size=30, num_hidden_layers=3,
        num_attention_heads=3, num_key_value_heads=1, head_dim=14,
        intermediate_size=37, max_position_embeddings=40, sliding_window=6,
        use_bidirectional_attention=True, query_pre_attn_scalar=11,
        layer_types=["sliding_attention", "sliding_attention",
                     "full_attention"]),
     {"pooling_mode_mean_tokens": True, "include_prompt": True}, True),
)
# What is between pooling and length, of those that have it.
PROJECTED = {
    "sentence-dense": [Dense(26, 14, activation_function=torch.nn.Tanh()),
                       LayerNorm(14)],
    "sentence-plain-dense": [
        Dense(26, 11, bias=False, activation_function=torch.nn.Identity())],
    "sentence-gemma": [
        Dense(30, 53, bias=False, activation_function=torch.nn.Identity()),
        Dense(53, 30, bias=False, activation_function=torch.nn.Identity())]}


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as stream:
        json.dump(value, stream, indent=1)
        stream.write("\n")


def draw_weights(modules, generator):
    """Of the modules behind the pooling."""
    with torch.no_grad():
        for module in modules:
            for name, value in module.named_parameters():
                noise = torch.randn(value.shape, generator=generator)
                value.copy_(noise / value.shape[-1] ** 0.5 if value.dim() == 2
                            else 0.3 * noise + ("norm.weight" in name))


def write_modules(folder, pooling, projected, normalizes):
    names = (["Transformer", "Pooling"] +
             [type(module).__name__ for module in projected] +
             ["Normalize"] * normalizes)
    write_json(os.path.join(folder, "modules.json"), [
        {"idx": index, "name": str(index), "type": MODULE + name,
         "path": "" if index == 0 else f"{index}_{name}"}
        for index, name in enumerate(names)])
    write_json(os.path.join(folder, "1_Pooling", "config.json"), pooling)


def embed(hidden, inputs, folder, projected, normalizes):
    mask = inputs.get("attention_mask",
                      torch.ones_like(inputs["input_ids"])).long()
    pooled = Pooling.load(os.path.join(folder, "1_Pooling"))(
        {"token_embeddings": hidden, "attention_mask": mask})
    with torch.no_grad():
        for module in projected:
            pooled = module(pooled)
    rows = pooled["sentence_embedding"]
    return torch.nn.functional.normalize(rows) if normalizes else rows


def write(out):
    for index, (name, saved, cls, config, pooling, normalizes) in enumerate(
            SENTENCES):
        if not out.wants(name):
            continue
        seed = 701 + index
        pooling = {"word_embedding_dimension": config.hidden_size, **pooling}
        out.save(name, build(saved, config, seed))
        projected = PROJECTED.get(name, [])
        draw_weights(projected, torch.Generator().manual_seed(seed))
        write_modules(out.folder(name), pooling, projected, normalizes)
        for number, module in enumerate(projected):
            folder = os.path.join(out.folder(name),
                                  f"{number + 2}_{type(module).__name__}")
            os.makedirs(folder, exist_ok=True)
            module.save(folder)
        model = out.load(cls, name)
        after_pad = config.model_type in ("roberta", "mpnet")
        pad = config.pad_token_id
        cases = CASES
        if name == "sentence-max":  # distances count, and one token is first
            cases = ("one", "ragged", "longest")
        for number, case in enumerate(cases):
            generator = torch.Generator().manual_seed(seed * 100 + number)
            inputs = forward_inputs(
                case, generator, config.max_position_embeddings -
                (pad + 1 if after_pad else 0), pad, 2)
            hidden = forward(model, inputs)["last_hidden_state"]
            store(out.folder(name), "inputs-" + case, inputs)
            expected = {"sentence_embedding": embed(
                hidden, inputs, out.folder(name), projected,
                normalizes).contiguous()}
            if name != "sentence-last":  # a decoder's rows are those taken
                expected["last_hidden_state"] = hidden
            store(out.folder(name), "expected-" + case, expected)
        out.add(name, cases)
