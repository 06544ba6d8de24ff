#!/usr/bin/env python3
# All hidden states of golden models, an encoder's, decoders' and an
# encoder-decoder's, against transformers' output_hidden_states; and that other
# outputs have the bits that they have without.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(ROOT, "..", "golden")
sys.path.insert(0, GOLDEN)
SKIPPED = 77

import tensors
from compare import check_floats, check_names
from tool import Failure, Tool

try:
    import reference  # silences transformers
    import torch
    import transformers as hf
except ImportError as error:
    print(f"skipped: {error} (the reference is transformers')")
    sys.exit(SKIPPED)

# Layers in a row, one layer's weights for all, layers of two kinds in turn, a
# last norm or none, two stacks.
MODELS = ("bert-model", "albert-model", "gpt2-lm", "gemma3-lm", "t5-lm")
CASES = ("ragged", "longest")


def folder_of(model):
    return os.path.join(GOLDEN, "models", model)


def side_by_side(states, mask):
    """One row a token, zero at masked ones."""
    value = torch.cat(list(states), dim=-1).float()
    value[mask == 0] = 0
    return tensors.Tensor("F32", list(value.shape), value.flatten().tolist())


def by_transformers(model, inputs):
    feed = {name: torch.tensor(list(value.data)).view(value.shape).long()
            for name, value in inputs.items()}
    with torch.no_grad():
        result = model(**feed, output_hidden_states=True)
    out = {}
    for prefix, mask in (("", "attention_mask"),
                         ("encoder_", "attention_mask"),
                         ("decoder_", "decoder_attention_mask")):
        states = result.get(prefix + "hidden_states")
        if states is not None:
            ids = feed[("decoder_" if prefix == "decoder_" else "") +
                       "input_ids"]
            out[prefix + "hidden_states"] = side_by_side(
                states, feed.get(mask, torch.ones_like(ids)))
    return out


def check(tool, plain, name):
    folder = folder_of(name)
    model = reference.load(getattr(hf, hf.AutoConfig.from_pretrained(
        folder).architectures[0]), folder)
    _, library = tool.build(folder, name)
    _, without = plain.build(folder, name + "-plain")
    faults = []
    for case in CASES:
        inputs = tensors.read(os.path.join(folder,
                                           f"inputs-{case}.safetensors"))
        expected = by_transformers(model, inputs)
        got = tool.run(library, folder, inputs)
        others = plain.run(without, folder, inputs)
        hidden = {each: got.pop(each) for each in expected if each in got}
        faults += check_names(expected, hidden) + check_names(others, got)
        if faults:
            break
        for each in expected:
            faults += check_floats(each, expected[each], hidden[each])
        faults += [f"{each}: expected the bits that it has without hidden "
                   "states, got others" for each in others
                   if others[each].data != got[each].data]
    return [f"{name}: {fault}" for fault in faults]


def main():
    parser = argparse.ArgumentParser(
        description="compares all hidden states with transformers'")
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tfc-hidden-") as scratch:
        plain = Tool(options.tfc, options.tfc_run, scratch, ("--target=cpu",))
        tool = Tool(options.tfc, options.tfc_run, scratch,
                    ("--target=cpu", "--hidden-states"))
        faults = []
        for name in MODELS:
            try:
                faults += check(tool, plain, name)
            except Failure as failure:
                faults.append(f"{name}: {failure}")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
