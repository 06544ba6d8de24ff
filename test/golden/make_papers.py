# Golden models of examples/specs: tiny ones of the same structure, computed by
# papers.py, since transformers has none of them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os

import torch

import papers
from inputs import draw_ids, forward_inputs, pair_inputs, prompts
from make_families import some_tokens
from writer import stable, store

STEPS = 40
SMALL = {"layers": {"repeat": 2, "block": {
    "attn": {"num_heads": 2}, "ffn": {"width": 37}}}}
SMALL_CROSS = {"layers": {"repeat": 2, "block": {
    "attn": {"num_heads": 2}, "cross": {"num_heads": 2},
    "ffn": {"width": 37}}}}
# A sum of few layers that a norm follows is the token that came last.
REPEATING = ("paper-transformer", "paper-mass", "paper-gtrxl",
             "paper-transformerxlclamped")
MASS_POSITIONS = {"embeddings": {"position": {"rows": 61}}}


def fairseq_rows(width):
    """Where queries, keys and values are in fairseq's tensors of them."""
    return {f"{stack}.layers.{part}.{name}.{what}": {
        "first_row": row * width, "stored_rows": 3 * width}
        for stack, part in (("encoder", "attn"), ("decoder", "attn"),
                            ("decoder", "cross"))
        for row, name in enumerate("qkv") for what in ("weight", "bias")}


def of_memory(heads, size, memory, clamp, repeat=2):
    """Changes of a Transformer-XL: a token sees `memory` tokens, of which
    those farther than `clamp` have its row."""
    return {"decoder": {
        "relative": {"span": clamp + 1},
        "layers": {"repeat": repeat, "block": {
            "attn": {"num_heads": heads, "head_dim": size,
                     "window": {"left": memory - 1, "right": 0}},
            "ffn": {"width": 37}}}}}


GATED = {"weights": {"map": {
    "decoder.embeddings.token": "token",
    "decoder.layers.attn.pre_norm": "layers.{i}.attn.pre_norm",
    "decoder.layers.attn.qkv": {"stem": "layers.{i}.attn.core.qkv_net",
                                "pack": ["q", "k", "v"]},
    "decoder.layers.attn.relative_k": "layers.{i}.attn.core.r_net",
    "decoder.layers.attn.query_bias.weight": {
        "tensor": "layers.{i}.attn.core.r_w_bias"},
    "decoder.layers.attn.relative_bias.weight": {
        "tensor": "layers.{i}.attn.core.r_r_bias"},
    "decoder.layers.attn.o": "layers.{i}.attn.core.o_net",
    "decoder.final_norm": "final_norm",
    "heads.lm.proj": "proj",
    **{f"decoder.layers.ffn.{name}": f"layers.{{i}}.ffn.{name}"
       for name in ("pre_norm", "up", "down")},
    **{f"decoder.layers.{part}.gru.{name}": f"layers.{{i}}.{part}.gru.{name}"
       for part in ("attn", "ffn") for name in (
           "reset", "reset_x", "update", "update_x", "state", "state_x")}}}}


NO_BIAS = {"kind": "layernorm", "eps": 1e-5, "bias": False}

# name, the spec of examples/specs, what is changed in it, the model, the prefix
# of its tensors, the cases, the token that a decoder begins with (of a pair).
PAPERS = (
    ("paper-transformer", "transformer",
     {"dims": {"hidden": 26, "vocab": 97, "max_positions": 60},
      "encoder": SMALL, "decoder": SMALL_CROSS},
     lambda: papers.Transformer(97, 26, 2, 37, 2), "",
     ("ragged", "left", "mixed", "longest"), 1),
    ("paper-annotated", "annotated-transformer",
     {"dims": {"hidden": 26, "vocab": 97, "max_positions": 60},
      "encoder": {"embeddings": {"token": {"rows": 103}}, **SMALL},
      "decoder": SMALL_CROSS,
      "heads": {"lm": {"steps": [{"op": "logits", "name": "proj", "out": 97,
                                  "bias": True}]}}},
     lambda: papers.AnnotatedTransformer(103, 97, 26, 2, 37, 2), "",
     ("ragged", "left", "mixed", "longest"), 0),
    ("paper-nanogpt", "nanogpt",
     {"dims": {"hidden": 26, "vocab": 97, "max_positions": 60},
      "decoder": {"layers": {"repeat": 2, "block": {
          "norm": NO_BIAS, "attn": {"num_heads": 2, "bias": False},
          "ffn": {"width": 104, "bias": False}}}, "final_norm": NO_BIAS},
      "tokens": {"bos": 1, "eos": 2}},
     lambda: papers.NanoGpt(97, 60, 26, 2, 2, False), "_orig_mod.",
     ("one", "ragged", "left", "holes", "longest"), None),
    ("paper-heads", "encoder-of-heads",
     {"dims": {"hidden": 26, "vocab": 97, "max_positions": 60},
      "encoder": {"layers": {"repeat": 2, "block": {
          "attn": {"num_heads": 2}, "ffn": {"width": 37}}}},
      "outputs": {"last_hidden_state": "encoder.hidden"}},
     lambda: papers.EncoderOfHeads(97, 60, 26, 2, 37, 2, 3), "",
     ("one", "ragged", "holes", "longest"), None),
    ("paper-head", "encoder-of-heads",
     {"dims": {"hidden": 30, "vocab": 97, "max_positions": 60},
      "encoder": {"layers": {"repeat": 1, "block": {
          "attn": {"num_heads": 5}, "ffn": {"width": 41}}}},
      "heads": {"cls": {"steps": [{"op": "take", "at": "first"},
                                  {"op": "dense", "name": "dense",
                                   "out": 60}]}}},
     lambda: papers.EncoderOfHeads(97, 60, 30, 5, 41, 1, 60), "",
     ("ragged", "longest"), None),
    ("paper-mass", "mass",
     {"dims": {"hidden": 26, "vocab": 97, "max_positions": 60},
      "encoder": {**MASS_POSITIONS, **SMALL},
      "decoder": {**MASS_POSITIONS, **SMALL_CROSS},
      "tokens": {"eos": 2, "decoder_start": 2},
      "weights": {"map": fairseq_rows(26)}},
     lambda: papers.Mass(97, 60, 26, 2, 37, 2), "",
     ("ragged", "left", "mixed", "longest"), 2),
    ("paper-transformerxl", "transformer-xl",
     {"dims": {"hidden": 26, "vocab": 97}, **of_memory(2, 13, 7, 6)},
     lambda: papers.TransformerXl(97, 26, 2, 13, 37, 2, 7, 4, 6), "",
     ("one", "ragged", "left", "longest"), None),
    ("paper-transformerxlclamped", "transformer-xl",
     {"dims": {"hidden": 30, "vocab": 97}, **of_memory(3, 26, 40, 5, 3)},
     lambda: papers.TransformerXl(97, 30, 3, 26, 37, 3, 40, 9, 5), "",
     ("ragged", "longest"), None),
    ("paper-gtrxl", "gtrxl",
     {"dims": {"hidden": 26, "vocab": 97}, **of_memory(2, 13, 7, 6),
      "heads": {"lm": {"steps": [{"op": "logits", "name": "proj",
                                  "out": 97}]}}, **GATED},
     lambda: papers.GatedTransformerXl(97, 26, 2, 13, 37, 2, 7, 4, 6), "",
     ("one", "ragged", "left", "longest"), None),
    ("paper-din", "din",
     {"dims": {"hidden": 13, "vocab": 97},
      "heads": {"click": {"steps": [
          {"op": "activation_unit", "name": "unit", "query": "last",
           "hidden": [19, 7], "act": "sigmoid"},
          {"op": "dense", "name": "0", "out": 17, "act": "sigmoid"},
          {"op": "dense", "name": "1", "out": 5, "act": "sigmoid"},
          {"op": "dense", "name": "2", "out": 1}]}}},
     lambda: papers.Din(97, 13, [19, 7], [17, 5]), "",
     ("one", "ragged", "left", "holes", "longest"), None),
    ("paper-dinlinear", "din",
     {"dims": {"hidden": 34, "vocab": 97},
      "heads": {"click": {"steps": [
          {"op": "activation_unit", "name": "unit", "query": "last",
           "hidden": [], "act": "sigmoid"},
          {"op": "dense", "name": "0", "out": 21, "act": "sigmoid"},
          {"op": "dense", "name": "1", "out": 1}]}},
      "weights": {"map": {"heads.click.2": None}}},
     lambda: papers.Din(97, 34, [], [21]), "",
     ("ragged", "holes", "longest"), None),
)
# What generates no text.
ENCODERS = ("paper-heads", "paper-head", "paper-din", "paper-dinlinear")


def draw_weights(model, generator):
    """Large enough that no output is near zero by itself, and no token so
    large that the model repeats it."""
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            if value.dim() == 1:
                is_weight = name.endswith(("weight", "a_2"))
                value.copy_(0.05 * noise + (1 if is_weight else 0))
            elif "token" in name or "wte" in name or "lut" in name:
                value.copy_(0.2 * noise)
            else:
                value.copy_(2 * noise / min(value.shape) ** 0.5)
                if "cross.o" in name or "src_attn.linears.3" in name:
                    value.mul_(0.2)


def go_on(model, inputs, start):
    """`STEPS` greedy tokens and their margins; of a pair behind `start`."""
    inputs, name = dict(inputs), "input_ids"
    if start is not None:
        name = "decoder_input_ids"
        inputs[name] = torch.full((len(inputs["input_ids"]), 1), start)
    margins = []
    for _ in range(STEPS):
        with torch.no_grad():
            best = model(inputs)["logits"][:, -1].topk(2)
        margins.append((best.values[:, 0] - best.values[:, 1]).tolist())
        inputs[name] = torch.cat((inputs[name], best.indices[:, :1]), 1)
        if start is None:
            mask = inputs["attention_mask"]
            inputs["attention_mask"] = torch.cat(
                (mask, torch.ones_like(mask[:, :1])), 1)
    return inputs[name], margins


def find_prompts(model, seed, start):
    """Prompts whose greedy tokens are stable. A token's place is its column:
    the prompts of a decoder are as long as each other."""
    for attempt in range(2000):
        generator = torch.Generator().manual_seed(seed + attempt)
        if start is None:
            ids = draw_ids(generator, 3, 5)
            inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        else:
            inputs = prompts("right", generator)
        sequences, margins = go_on(model, inputs, start)
        if stable(margins) and some_tokens(sequences, STEPS):
            return inputs, sequences
    raise SystemExit("no stable prompts for " + type(model).__name__)


def write(out):
    for index, (name, spec, changes, make, prefix, cases,
                start) in enumerate(PAPERS):
        if not out.wants(name):
            continue
        seed, folder = 801 + index, out.folder(name)
        model = make()
        draw_weights(model, torch.Generator().manual_seed(seed))
        store(folder, "model", {prefix + key: value.clone().contiguous()
                                for key, value in model.state_dict().items()})
        with open(os.path.join(folder, "spec.json"), "w") as stream:
            json.dump({"tfc": 1, "extends": spec + ".json", "name": name,
                       **changes}, stream, indent=1)
            stream.write("\n")
        for number, case in enumerate(cases):
            generator = torch.Generator().manual_seed(seed * 100 + number)
            inputs = (forward_inputs(case, generator, 60, 0, 0)
                      if start is None else
                      pair_inputs(case, generator, 60, 0))
            store(folder, "inputs-" + case, inputs)
            with torch.no_grad():
                outputs = model({key: value.long()
                                 for key, value in inputs.items()})
            if name == "paper-head":
                del outputs["last_hidden_state"]
            store(folder, "expected-" + case, {
                key: value.contiguous() for key, value in outputs.items()})
        if name in REPEATING + ENCODERS:
            out.add(name, cases, spec=spec)
            continue
        inputs, sequences = find_prompts(model, 100 * seed, start)
        store(folder, "inputs-generate", inputs)
        store(folder, "expected-generate", {"sequences": sequences})
        out.add(name, cases, [{"name": "generate", "eos": "none",
                               "options": {"num_beams": 1}}], spec=spec)
