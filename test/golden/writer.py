# What the makers of golden models share: inputs by the name of a case, prompts
# whose tokens are stable, and the folders that are written.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import shutil

import torch
from safetensors.torch import load_file, save_file

from reference import forward, greedy

VOCAB = 97
# A greedy token is only stable across implementations with some distance to
# the second best.
MARGIN = 5e-3


def draw_ids(generator, rows, columns):
    # 0 to 2 are pad, bos and eos.
    return torch.randint(3, VOCAB, (rows, columns), generator=generator)


def forward_inputs(name, generator, longest, pad, types):
    """The inputs of one named case."""
    def masked(mask):
        mask = torch.tensor(mask)
        ids = draw_ids(generator, *mask.shape)
        ids[mask == 0] = pad
        return {"input_ids": ids, "attention_mask": mask}

    if name == "one":
        return {"input_ids": draw_ids(generator, 1, 1)}
    if name == "ragged":
        return masked([[1] * n + [0] * (9 - n) for n in (5, 9, 1)])
    if name == "left":
        inputs = masked([[0] * (7 - n) + [1] * n for n in (3, 7, 1)])
        return {key: value.int() for key, value in inputs.items()}
    if name == "holes":
        inputs = masked([[1, 0, 1, 1, 0, 0, 1, 1], [0, 1, 1, 0, 1, 1, 1, 0]])
        # What a masked token is must not matter.
        inputs["input_ids"][0, 1] = 17
        return inputs
    if name == "longest":
        return {"input_ids": draw_ids(generator, 1, longest)}
    if name == "positions":
        inputs = masked([[1] * 6, [0, 0, 1, 1, 1, 1]])
        inputs["position_ids"] = torch.tensor(
            [[4, 0, 9, 9, 1, longest - 1], [0, 0, 0, 1, 2, 3]])
        return inputs
    assert name == "types"
    inputs = masked([[1] * 6, [1, 1, 1, 1, 0, 0]])
    inputs["token_type_ids"] = torch.randint(
        0, types, (2, 6), generator=generator)
    return inputs


def store(folder, name, tensors):
    os.makedirs(folder, exist_ok=True)
    save_file(tensors, os.path.join(folder, name + ".safetensors"))


def write_forward(folder, model, cases, seed, pad=0):
    config = model.config
    bert = config.model_type == "bert"
    for index, name in enumerate(cases):
        generator = torch.Generator().manual_seed(seed * 100 + index)
        inputs = forward_inputs(
            name, generator, config.max_position_embeddings, pad,
            config.type_vocab_size if bert else VOCAB)
        store(folder, "inputs-" + name, inputs)
        store(folder, "expected-" + name, forward(model, inputs))


def stable(margins):
    return min(map(min, margins)) > MARGIN


def prompts(side, generator):
    lengths = (4, 8, 1)
    width = max(lengths)
    ids = draw_ids(generator, len(lengths), width)
    mask = torch.zeros_like(ids)
    for row, length in enumerate(lengths):
        columns = slice(width - length, width)
        if side == "right":
            columns = slice(0, length)
        mask[row, columns] = 1
    ids[mask == 0] = 0
    return {"input_ids": ids, "attention_mask": mask}


def find_prompts(model, side, seed):
    """Prompts whose greedy tokens are stable and do not settle at once."""
    for attempt in range(1000):
        generator = torch.Generator().manual_seed(seed + attempt)
        inputs = prompts(side, generator)
        sequences, margins = greedy(model, inputs, 40, None, 0)
        varied = all(len(set(row[8:].tolist())) >= 6 for row in sequences)
        if stable(margins) and varied:
            return inputs, sequences
    raise SystemExit("no stable prompts for " + side)


def find_row(model, seed):
    """One stable prompt, as int32 and without a mask."""
    for attempt in range(1000):
        generator = torch.Generator().manual_seed(seed + attempt)
        inputs = {"input_ids": draw_ids(generator, 1, 5)}
        if stable(greedy(model, inputs, 40, None, None)[1]):
            return {"input_ids": inputs["input_ids"].int()}
    raise SystemExit("no stable prompt")


def steps_until(sequences, ends):
    """Per row, how many tokens are generated up to the first of `ends`."""
    rows = [row[8:].tolist() for row in sequences]
    return [next((i + 1 for i, token in enumerate(row) if token in ends), 40)
            for row in rows]


def pick_ends(sequences):
    """A token that ends the rows after different numbers of steps, and one
    that ends some row earlier."""
    tokens = set(sequences[:, 8:].flatten().tolist())
    for first in sorted(tokens):
        alone = steps_until(sequences, [first])
        if len(set(alone)) < 3 or min(alone) < 4 or max(alone) == 40:
            continue
        for second in sorted(tokens):
            both = steps_until(sequences, [first, second])
            if both != alone and len(set(both)) == 3 and min(both) > 1:
                return first, second
    raise SystemExit("no tokens that would do as ends")


def write_generation(folder, name, inputs, result):
    sequences, margins = result
    assert stable(margins), (folder, name)
    store(folder, "inputs-" + name, inputs)
    store(folder, "expected-" + name, {"sequences": sequences.contiguous()})


class Writer:
    def __init__(self, root):
        self.root = os.path.join(root, "models")
        shutil.rmtree(self.root, ignore_errors=True)
        self.models = []

    def folder(self, name):
        return os.path.join(self.root, name)

    def add(self, name, forward_cases=(), generate=(), base=None):
        entry = {"name": name}
        if base:
            entry["base"] = base
        entry["forward"] = list(forward_cases)
        entry["generate"] = list(generate)
        self.models.append(entry)

    def save(self, name, model, **options):
        model.save_pretrained(self.folder(name), **options)

    def rename(self, name, change, extra=None):
        """Rewrites the tensors of a saved model under other names."""
        path = os.path.join(self.folder(name), "model.safetensors")
        tensors = {change(key): value for key, value in
                   load_file(path).items()}
        tensors.update(extra or {})
        save_file(tensors, path, metadata={"format": "pt"})

    def patch(self, name, file, base=None, **changes):
        """Writes a JSON file of a model with some keys changed."""
        with open(os.path.join(self.folder(base or name), file)) as stream:
            keys = json.load(stream)
        keys.update(changes)
        os.makedirs(self.folder(name), exist_ok=True)
        with open(os.path.join(self.folder(name), file), "w") as stream:
            json.dump({key: value for key, value in keys.items()
                       if value is not ...}, stream, indent=2)
            stream.write("\n")
