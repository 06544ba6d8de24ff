# The golden model whose matrices are integers by groups of rows, as Q-BERT has
# them (Shen et al. 2019, arXiv:1909.05840): each head's rows are cut into
# groups with a step each, and layers have 2, 3, 4 or 8 bits. Its folder says the
# same in the form int-quantized of compressed-tensors, a step a row.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from make_families import encoder
from reference import build
from writer import write_forward

NAME, CASES, SEED = "bert-groupwise", ("ragged", "left", "holes"), 961
HEADS, GROUPS = 3, 6  # of the rows of a matrix; each head has two
BITS = (8, 4, 3, 2)


def quantize(weight, bits):
    """Integers, and the step of each row: the same in a group."""
    rows = torch.arange(len(weight)) * GROUPS // len(weight)
    most = 2 ** (bits - 1) - 1
    steps = torch.stack([weight[rows == group].abs().max() / most
                         for group in range(GROUPS)])[rows, None]
    return (weight / steps).round().clamp(-most, most), steps


def write(out):
    if not out.wants(NAME):
        return
    config = hf.BertConfig(**encoder(
        hidden_size=30, num_attention_heads=HEADS, intermediate_size=36,
        num_hidden_layers=len(BITS)))
    model = build(hf.BertModel, config, SEED)
    stored = {}
    with torch.no_grad():
        for layer, bits in zip(model.encoder.layer, BITS):
            for module in layer.modules():
                if isinstance(module, torch.nn.Linear):
                    integers, steps = quantize(module.weight, bits)
                    stored[module] = integers, steps
                    module.weight.copy_(integers * steps)
    out.save(NAME, model)
    path = os.path.join(out.folder(NAME), "model.safetensors")
    tensors = load_file(path)
    for name, module in model.named_modules():
        if module in stored:
            integers, steps = stored[module]
            tensors[name + ".weight"] = integers.to(torch.int8)
            tensors[name + ".weight_scale"] = steps.contiguous()
    save_file(tensors, path, metadata={"format": "pt"})
    out.patch(NAME, "config.json", quantization_config={
        "quant_method": "compressed-tensors", "format": "int-quantized"})
    write_forward(out.folder(NAME), model, CASES, SEED)
    out.add(NAME, CASES)
