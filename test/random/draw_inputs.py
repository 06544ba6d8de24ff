# Batches for a drawn spec: tokens of several rows, with padding on both sides
# and holes, and the inputs that may be left out.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import random

import formulas
import tensors
from layers import has_targets, list_layers, list_sublayers

MAX_LENGTH = 40


def counts_distances(stack):
    """Whether neighbours of a sequence must be neighbours in the batch."""
    if "convs" in stack["embeddings"].get("patches", {}) or has_targets(stack):
        return True
    for block, _ in list_layers(stack["layers"]):
        for name, attention, _ in list_sublayers(block):
            if name == "ngram" or name == "attn" and (
                    isinstance(attention.get("window"), dict) or
                    attention.get("slopes", "none") != "none" or
                    isinstance(attention.get("relative"), dict) or
                    isinstance(attention.get("sparse"), dict) or
                    isinstance(stack.get("position_bias"), dict) and
                    attention.get("use_position_bias", True)):
                return True
    return False


def takes_first(spec):
    """Whether the first column must be a token's."""
    return any(step.get("at") == "first"
               for head in spec.get("heads", {}).values()
               for step in head["steps"])


def has_positions(stack):
    if stack["embeddings"].get("position", {}).get("kind", "none") != "none":
        return True
    return any(isinstance(sublayer.get("rotary"), dict)
               for block, _ in list_layers(stack["layers"])
               for name, sublayer, _ in list_sublayers(block))


def compares_types(stack):
    return any(isinstance(sublayer.get("relative"), dict) and
               sublayer["relative"].get("segments", False)
               for block, _ in list_layers(stack["layers"])
               for name, sublayer, _ in list_sublayers(block))


def to_tensor(rows):
    """Ids, or rows of floats."""
    if isinstance(rows[0][0], list):
        shape = [len(rows), len(rows[0]), len(rows[0][0])]
        return tensors.Tensor("F32", shape, [
            number for row in rows for patch in row for number in patch])
    return tensors.Tensor("I64", [len(rows), len(rows[0])],
                          [i for row in rows for i in row])


class Batch:
    """The inputs of one stack, [rows, length] each."""

    def __init__(self, spec, name, rows, source):
        self.spec, self.name, self.random = spec, name, source
        self.stack = spec[name]
        longest = source.choice([1, 3, 17, MAX_LENGTH])
        self.lengths = [source.randint(1, longest) for _ in range(rows)]
        self.patches = self.stack["embeddings"].get("patches")
        self.leading = 0
        token = self.stack["embeddings"]["token"]
        if self.patches and token != "none":
            self.leading = token.get("rows", spec["dims"]["vocab"])
            self.lengths = [length + self.leading for length in self.lengths]
        self.width = max(self.lengths)
        self.masks = [self.mask(length) for length in self.lengths]
        self.has_mask = any(0 in mask for mask in self.masks) or \
            source.random() < 0.3
        self.ids = [self.tokens(mask) for mask in self.masks]
        # Exact in f32.
        self.given = [[[source.randint(-64, 64) / 32
                        for _ in range(self.patches["width"])]
                       for _ in range(self.width - self.leading)]
                      for _ in range(rows)] if self.patches else None
        self.others = self.optional_inputs()

    def mask(self, length):
        before = self.random.choice([0, self.width - length])
        before = self.random.randint(0, before)
        if takes_first(self.spec):
            before = 0
        mask = [0] * before + [1] * length
        mask += [0] * (self.width - len(mask))
        if not counts_distances(self.stack) and self.random.random() < 0.3:
            mask = [value * int(self.random.random() < 0.7) for value in mask]
            if 1 not in mask or takes_first(self.spec):
                mask[0] = 1
        return mask

    def tokens(self, mask):
        if self.patches:
            return [*range(self.leading),
                    *range(-1, self.leading - self.width - 1, -1)]
        tokens = self.spec.get("tokens", {})
        rows = self.spec["dims"]["vocab"]
        ids = [self.random.randrange(rows) for _ in mask]
        visible = [i for i, value in enumerate(mask) if value]
        pad, eos = tokens.get("pad"), tokens.get("eos")
        if pad is not None:
            ids = [i if value else pad for i, value in zip(ids, mask)]
            # One at least is no padding.
            ids[visible[-1]] = (pad + 1) % rows
        if isinstance(eos, int):
            ids = [(i + 1) % rows if i == eos else i for i in ids]
            ids[self.random.choice(visible)] = eos
            if pad is not None and pad == eos:
                ids[visible[0]] = eos
        return ids

    def grid(self, below):
        return [[self.random.randrange(below) for _ in row]
                for row in self.ids]

    def optional_inputs(self):
        others = {}
        for segment in self.stack["embeddings"].get("segments", []):
            if self.random.random() < 0.6:
                below = segment.get("rows", self.spec["dims"]["vocab"])
                others[segment["input"]] = self.grid(below)
        if compares_types(self.stack) and self.random.random() < 0.8:
            others.setdefault("token_type_ids", self.grid(3))
        if has_targets(self.stack) and self.random.random() < 0.8:
            others["targets"] = self.grid(2)
            for row, mask in zip(others["targets"], self.masks):
                seen = [i for i, value in enumerate(mask) if value]
                row[self.random.choice(seen)] = 0
        if has_positions(self.stack) and self.random.random() < 0.2:
            others["position_ids"] = self.grid(MAX_LENGTH)
        return others

    def sequence(self, row):
        return formulas.Sequence(
            self.ids[row], self.masks[row],
            {name: rows[row] for name, rows in self.others.items()},
            self.given[row] if self.given else None)

    def named(self):
        """As tfc-run takes them."""
        prefix = "decoder_" if (self.name == "decoder" and
                                "encoder" in self.spec) else ""
        named = {"patches": self.given} if self.given else {
            "input_ids": self.ids}
        named.update(self.others)
        if self.has_mask:
            named["attention_mask"] = self.masks
        return {prefix + name: rows for name, rows in named.items()}


def draw(spec, seed):
    """The batches of the stacks."""
    source = random.Random(seed)
    rows = source.randint(1, 3)
    return {name: Batch(spec, name, rows, source)
            for name in ("encoder", "decoder") if name in spec}
