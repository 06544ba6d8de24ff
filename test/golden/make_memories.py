# The golden models of Transformer-XL as transformers 4 has it: computed by
# papers.py, which agrees with transformers 4.30.2, since later ones have none.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os

import torch

import papers
from inputs import forward_inputs
from make_papers import draw_weights
from writer import store

# name, class, keys of its config, cases.
MODELS = (
    ("transfoxl-lm", "TransfoXLLMHeadModel", dict(
        d_model=26, d_embed=27, n_head=2, d_head=13, d_inner=37, n_layer=2,
        cutoffs=[20, 41, 70], div_val=3, mem_len=7, clamp_len=5),
     ("one", "ragged", "left", "longest")),
    ("transfoxl-model", "TransfoXLModel", dict(
        d_model=30, d_embed=30, n_head=3, d_head=26, d_inner=41, n_layer=3,
        cutoffs=[33], div_val=2, mem_len=40, clamp_len=4),
     ("ragged", "longest")),
    ("transfoxl-plain", "TransfoXLLMHeadModel", dict(
        d_model=34, d_embed=34, n_head=1, d_head=34, d_inner=37, n_layer=1,
        cutoffs=[], div_val=1, mem_len=9, clamp_len=-1),
     ("one", "ragged")),
)
VOCAB = 97


def make(keys, class_name, segment=4):
    """The model of a config."""
    return papers.TransfoXl(
        VOCAB, keys["d_embed"], keys["cutoffs"], keys["div_val"],
        keys["d_model"], keys["n_head"], keys["d_head"], keys["d_inner"],
        keys["n_layer"], keys["mem_len"], segment,
        keys["clamp_len"] if keys["clamp_len"] > 0 else 1000,
        class_name != "TransfoXLModel")


def draw(model, generator):
    draw_weights(model, generator)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "emb_layers" in name:
                # Narrow rows are to be as long as wide ones.
                noise = torch.randn(value.shape, generator=generator)
                value.copy_(noise * (0.8 / value.shape[1] ** 0.5))


def write(out):
    for index, (name, class_name, keys, cases) in enumerate(MODELS):
        if not out.wants(name):
            continue
        seed, folder = 981 + index, out.folder(name)
        model = make(keys, class_name)
        draw(model, torch.Generator().manual_seed(seed))
        store(folder, "model", {key: value.clone().contiguous()
                                for key, value in model.state_dict().items()})
        with open(os.path.join(folder, "config.json"), "w") as stream:
            json.dump({"model_type": "transfo-xl",
                       "architectures": [class_name], "vocab_size": VOCAB,
                       "eos_token_id": 2, **keys}, stream, indent=2)
            stream.write("\n")
        for number, case in enumerate(cases):
            generator = torch.Generator().manual_seed(seed * 100 + number)
            inputs = forward_inputs(case, generator, 60, 0, 0)
            store(folder, "inputs-" + case, inputs)
            with torch.no_grad():
                outputs = model({key: value.long()
                                 for key, value in inputs.items()})
            store(folder, "expected-" + case, {
                key: value.contiguous() for key, value in outputs.items()})
        out.add(name, cases)
