# A Hugging Face folder as a graph with dynamic batch and length: as an ONNX
# file, or as modules that can be traced.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import transformers
from transformers.cache_utils import DynamicLayer

import worker


class Encoder(torch.nn.Module):
    """Hidden states and, where the model has a pooler, what it makes."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, mask):
        outputs = self.model(input_ids=ids, attention_mask=mask)
        return tuple(outputs[:2])


class Decoder(torch.nn.Module):
    """Keys and values go in and come out; logits are those of the last token."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, mask, positions, *past):
        cache = transformers.DynamicCache()
        for keys, values in zip(past[::2], past[1::2]):
            # Not by update, which would leave a concatenation in the graph.
            layer = DynamicLayer()
            layer.keys, layer.values = keys, values
            layer.dtype, layer.device = keys.dtype, keys.device
            layer.is_initialized = True
            cache.layers.append(layer)
        outputs = self.model(input_ids=ids, attention_mask=mask,
                             position_ids=positions, past_key_values=cache,
                             use_cache=True, logits_to_keep=1)
        presents = [tensor for layer in outputs.past_key_values.layers
                    for tensor in (layer.keys, layer.values)]
        return (outputs.logits, *presents)


def fast_attention(model_class):
    """DeBERTa's terms of distances are not sdpa's."""
    return "sdpa" if model_class._supports_sdpa else "eager"


def load(folder, plain=True):
    """plain: attention of products and a softmax, which fusions know."""
    config = transformers.AutoConfig.from_pretrained(folder)
    model_class = getattr(transformers, config.architectures[0])
    attention = "eager" if plain else fast_attention(model_class)
    model = model_class.from_pretrained(folder, dtype=torch.float32,
                                        attn_implementation=attention).eval()
    return config, model


def export_encoder(model, path):
    ids = torch.ones(2, 8, dtype=torch.int64)
    axes = {0: "batch", 1: "length"}
    torch.onnx.export(
        Encoder(model), (ids, ids), path, dynamo=False, opset_version=18,
        input_names=["ids", "mask"], output_names=["hidden", "pooled"][
            :1 + hasattr(model, "pooler")],
        dynamic_axes={"ids": axes, "mask": axes, "hidden": axes,
                      "pooled": {0: "batch"}})


def head_sizes(config):
    """How many heads keys have, and how wide they are."""
    count = config.num_attention_heads
    return (getattr(config, "num_key_value_heads", count),
            config.hidden_size // count)


def decoder_example(config):
    """Inputs of Decoder, their names, and the names of its outputs."""
    heads, width = head_sizes(config)
    batch, count, past = 2, 3, 4
    ids = torch.ones(batch, count, dtype=torch.int64)
    mask = torch.ones(batch, past + count, dtype=torch.int64)
    positions = torch.arange(past, past + count).expand(batch, count)
    numbers = range(2 * config.num_hidden_layers)
    caches = [torch.zeros(batch, heads, past, width) for _ in numbers]
    return ((ids, mask, positions, *caches),
            ["ids", "mask", "positions", *(f"past.{i}" for i in numbers)],
            ["logits", *(f"present.{i}" for i in numbers)])


def export_decoder(config, model, path):
    inputs, names, outputs = decoder_example(config)
    axes = {"ids": {0: "batch", 1: "count"}, "mask": {0: "batch", 1: "total"},
            "positions": {0: "batch", 1: "count"}, "logits": {0: "batch"}}
    axes.update({name: {0: "batch", 2: "past"} for name in names[3:]})
    axes.update({name: {0: "batch", 2: "total"} for name in outputs[1:]})
    torch.onnx.export(Decoder(model), inputs, path, dynamo=False,
                      opset_version=18, input_names=names,
                      output_names=outputs, dynamic_axes=axes)


def convert(folder, path):
    config, model = load(folder)
    with torch.no_grad():
        if worker.is_decoder(worker.read_config(folder)):
            export_decoder(config, model, path)
        else:
            export_encoder(model, path)
