#!/usr/bin/env python3
# Writes distances.json: how far the outputs of Hugging Face's models of 16 bits
# are from f32, for all cases of the golden models.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: make_distances.py [NAME...], with torch 2.13.0 and transformers 5.23.0
(with names: those models' rows alone, others stay).

The expected outputs that are stored are the reference. A model is loaded as
from_pretrained(dtype=...) does it, with eager attention, as for the reference;
sentence encoders have what is behind their rows in 16 bits, too, and models
that transformers does not have are those of papers.py. For int8, which none of
them has by itself, the model of f32 has its products replaced: rows and weights
are rounded to 127 steps up and down of each row's greatest element, and tables to
bf16.
"""
import contextlib
import json
import os
import shutil
import sys
import tempfile

import torch
import transformers as hf
from safetensors.torch import load_file
from sentence_transformers.models import Dense, LayerNorm

import hashes
import make_papers
import make_sentence
import make_sound
import make_text_parts
import reference
from distances import TABLE, Distance
from make_golden import check_versions
from writer import row_by_row

ROOT = os.path.dirname(os.path.abspath(__file__))
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "int8": torch.float32}
# What loading as f32 may differ by: it says that this is the stored model.
SAME = 1e-4
MODULES = {"Dense": Dense, "LayerNorm": LayerNorm}


def quantize(rows):
    """Each row to the nearest of 127 multiples up and down."""
    greatest = rows.abs().amax(-1, keepdim=True).clamp_min(2.0 ** -100)
    return (rows * (127 / greatest)).round() * (greatest / 127)


@contextlib.contextmanager
def integers():
    """Products multiply what int8 is left with. A weight that is a table, too,
    is bf16 as tables are."""
    functional, conv = torch.nn.functional, hf.pytorch_utils.Conv1D
    falcon = hf.models.falcon.modeling_falcon.FalconLinear
    linear, embedding = functional.linear, functional.embedding
    forward, falcon_forward, tables = conv.forward, falcon.forward, set()
    convolve, convolve_frames = functional.conv2d, functional.conv1d
    einsum = torch.einsum

    def look_up(ids, weight, *rest, **named):
        tables.add(weight.data_ptr())
        return embedding(ids, weight.bfloat16().float(), *rest, **named)

    def multiply(rows, weight, bias=None):
        if weight.data_ptr() in tables:
            return linear(rows, weight.bfloat16().float(), bias)
        return linear(quantize(rows), quantize(weight), bias)

    def embed_patches(image, weight, bias, stride, *rest):
        """Patches that do not overlap are rows of a product."""
        assert tuple(stride) == tuple(weight.shape[2:]), "patches overlap"
        height, width = (size // step for size, step
                         in zip(image.shape[2:], stride))
        patches = functional.unfold(image, stride, stride=stride)
        rows = multiply(patches.transpose(1, 2), weight.flatten(1), bias)
        return rows.transpose(1, 2).unflatten(2, (height, width))

    def embed_frames(sound, weight, bias, stride=(1,), padding=(0,),
                     dilation=(1,), groups=1):
        """Frames with their neighbours are rows of a product; columns by
        themselves are none."""
        if groups != 1:
            return convolve_frames(sound, weight, bias, stride, padding,
                                   dilation, groups)
        (stride,), (padding,) = stride, padding
        whole = functional.pad(sound, (padding, padding))
        windows = whole.unfold(2, weight.shape[2], stride)  # by columns
        rows = windows.permute(0, 2, 1, 3).flatten(2)
        return multiply(rows, weight.flatten(1), bias).transpose(1, 2)

    def sum_products(equation, *operands):
        """XLNet's products with weights of heads are products of rows."""
        rows, weight = operands[0], operands[-1]
        if equation == "ibh,hnd->ibnd":
            return multiply(rows, weight.flatten(1).T).unflatten(
                -1, weight.shape[1:])
        if equation == "ibnd,hnd->ibh":
            return multiply(rows.flatten(2), weight.flatten(1))
        return einsum(equation, *operands)

    functional.linear, functional.embedding = multiply, look_up
    torch.einsum = sum_products
    functional.conv1d = embed_frames
    functional.conv2d = embed_patches
    conv.forward = lambda self, rows: multiply(rows, self.weight.T.contiguous(),
                                               self.bias)
    falcon.forward = lambda self, rows: multiply(rows, self.weight, self.bias)
    try:
        yield
    finally:
        functional.linear, functional.embedding = linear, embedding
        torch.einsum = einsum
        functional.conv2d, functional.conv1d = convolve, convolve_frames
        conv.forward, falcon.forward = forward, falcon_forward


def assemble(entry, entries, folder):
    """A model's folder: its base's files, then its own."""
    if entry.get("base"):
        assemble(entries[entry["base"]], entries, folder)
    shutil.copytree(os.path.join(ROOT, "models", entry["name"]), folder,
                    dirs_exist_ok=True, ignore=shutil.ignore_patterns(
                        "inputs-*", "expected-*"))


def load_sentence(name, folder, dtype):
    """A sentence encoder, as a function of inputs."""
    cls, normalizes = next((each[2], each[5]) for each in
                           make_sentence.SENTENCES if each[0] == name)
    model = reference.load(cls, folder, dtype=dtype)
    behind = []
    with open(os.path.join(folder, "modules.json")) as stream:
        for module in json.load(stream):
            made = MODULES.get(module["type"].split(".")[-1])
            if made:
                behind.append(made.load(os.path.join(
                    folder, module["path"])).to(dtype))

    def run(inputs):
        hidden = reference.forward(model, inputs)["last_hidden_state"]
        with torch.no_grad():
            pooled = make_sentence.embed(hidden.to(dtype), inputs, folder,
                                         behind, normalizes)
        return {"last_hidden_state": hidden,
                "sentence_embedding": pooled.float()}

    return run


def load_paper(name, folder, dtype):
    """A model of papers.py, as a function of inputs."""
    make, prefix = next((each[3], each[4]) for each in make_papers.PAPERS
                        if each[0] == name)
    model = make()
    stored = load_file(os.path.join(folder, "model.safetensors"))
    model.load_state_dict({key.removeprefix(prefix): value
                           for key, value in stored.items()})
    model = model.to(dtype).eval()

    def run(inputs):
        with torch.no_grad():
            outputs = model({key: value.long()
                             for key, value in inputs.items()})
        return {key: value.float() for key, value in outputs.items()}

    return run


def is_by_rows(config):
    """Whether transformers computes something else of several rows."""
    if config.model_type == "reformer":
        return not config.is_decoder
    return config.model_type == "xlnet" and config.attn_type == "uni"


def forward_hashed(model, inputs):
    """Distances are of what is rounded, and not of other rotations."""
    with hashes.same_rotations():
        return reference.forward(model, inputs)


def load(name, folder, dtype):
    """The model of a folder, as a function of inputs."""
    if name.startswith("sentence-"):
        return load_sentence(name, folder, dtype)
    if name.startswith("paper-"):
        return load_paper(name, folder, dtype)
    if name == "gemma3n-inside":
        make_text_parts.take_out(folder)
    with open(os.path.join(folder, "config.json")) as stream:
        cls = getattr(hf, json.load(stream)["architectures"][0])
    model = reference.load(cls, folder, dtype=dtype)
    if model.config.model_type in ("reformer", "xlnet"):
        model = model.to(dtype)  # what is no module's stays f32 otherwise
    run = (make_sound.forward_sound if name.startswith("whisper-")
           else forward_hashed if model.config.model_type == "reformer"
           else reference.forward)
    if is_by_rows(model.config):
        return lambda inputs: row_by_row(lambda own: run(model, own), inputs)
    return lambda inputs: run(model, inputs)


def measure(entry, run):
    """By output, the distance over all cases."""
    found = {}
    for case in entry["forward"]:
        path = os.path.join(ROOT, "models", entry["name"], "{}-" + case +
                            ".safetensors")
        got = run(load_file(path.format("inputs")))
        for key, wanted in load_file(path.format("expected")).items():
            found.setdefault(key, Distance()).add(
                wanted.flatten().tolist(), got[key].flatten().tolist())
    return {key: float(f"{each.value():.4g}") for key, each in found.items()}


def main():
    check_versions()
    with open(os.path.join(ROOT, "cases.json")) as stream:
        listed = json.load(stream)
    entries = {entry["name"]: entry for entry in listed["models"]}
    table = {}
    if sys.argv[1:]:
        with open(TABLE) as stream:
            table = json.load(stream)["models"]
    for name in sys.argv[1:] or entries:
        entry = entries[name]
        if not entry["forward"]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            assemble(entry, entries, folder)
            exact = measure(entry, load(name, folder, torch.float32))
            assert max(exact.values()) < SAME, (name, exact)
            table[name] = {}
            for word, dtype in DTYPES.items():
                run = load(name, folder, dtype)
                with integers() if word == "int8" else contextlib.nullcontext():
                    table[name][word] = measure(entry, run)
    with open(TABLE, "w") as stream:
        json.dump({"torch": listed["torch"],
                   "transformers": listed["transformers"],
                   "models": {name: table[name] for name in entries
                              if name in table}}, stream, indent=1)
        stream.write("\n")


if __name__ == "__main__":
    main()
