# What the tests of the Python package have in common.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import functools
import json
import os
import shutil
import sys

import tfcompiler as tfc

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODELS = os.path.join(SOURCE, "examples", "models")
GOLDEN = os.path.join(SOURCE, "test", "golden", "models")
sys.path.insert(0, os.path.join(SOURCE, "test", "golden"))


@functools.lru_cache(maxsize=None)
def stories(cache=None):
    """A decoder with a tokenizer."""
    return tfc.compile(os.path.join(MODELS, "stories-tiny"), target="cpu",
                       cache_dtype=cache)


@functools.lru_cache(maxsize=None)
def dates():
    """An encoder-decoder with tokenizers."""
    return tfc.compile(os.path.join(MODELS, "dates-iso"), target="cpu")


@functools.lru_cache(maxsize=None)
def golden(name):
    """A golden model; with random weights, and without a tokenizer."""
    return tfc.compile(os.path.join(GOLDEN, name), target="cpu",
                       tokenizer=Letters())


def cut_stories(folder, **changes):
    """A smaller model with the vocabulary of the stories': its first layer."""
    import tensors
    whole = os.path.join(MODELS, "stories-tiny")
    shutil.copytree(whole, folder)
    with open(os.path.join(whole, "config.json")) as file:
        config = json.load(file)
    config.update(num_hidden_layers=1, **changes)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file)
    path = os.path.join(folder, "model.safetensors")
    kept = {name: value for name, value in tensors.read(path).items()
            if ".layers." not in name or ".layers.0." in name}
    name = "model.embed_tokens.weight"
    rows, width = config["vocab_size"], config["hidden_size"]
    kept[name] = tensors.Tensor(kept[name].dtype, [rows, width],
                                kept[name].data[:rows * width])
    tensors.write(path, kept)


class Letters:
    """A tokenizer of one letter a token; [MASK] is a letter too."""

    def encode(self, text, pair=None, *, max_tokens=None, truncate=None,
               add_special_tokens=True):
        texts = [text] + ([pair] if pair is not None else [])
        ids, places, parts = [], [], []
        for number, each in enumerate(texts):
            ids += [2 + ord(letter) % 20 for letter in each]
            places += [(i, i + 1) for i in range(len(each))]
            parts += [number] * len(each)
        ids, places, parts = ([2] + ids)[:max_tokens], [(0, 0)] + places, \
            [None] + parts
        count = len(ids)
        return tfc.Encoding(ids, [part or 0 for part in parts[:count]],
                            places[:count], parts[:count])

    def decode(self, ids, skip_special=True):
        return " ".join(map(str, ids))

    def id_to_token(self, id):
        return f"t{id}"

    def token_to_id(self, token):
        return 2 + ord("m") % 20 if token == "[MASK]" else None
