# What the makers of golden models share: inputs by the name of a case, prompts
# whose tokens are stable, and the folders that are written.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import shutil
import tempfile

import torch
import transformers as hf
from safetensors.torch import load_file, save_file

import reference
from reference import forward, greedy

VOCAB = 97
# A greedy token is only stable across implementations with some distance to
# the second best.
MARGIN = 5e-3
# What beams must stand, on every score of every step.
NOISE = 2e-4


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


def pair_inputs(name, generator, longest, pad):
    """The same for an encoder-decoder."""
    def masked(lengths, side, prefix=""):
        width = max(lengths)
        mask = torch.tensor([
            [0] * (width - n) + [1] * n if side == "left" else
            [1] * n + [0] * (width - n) for n in lengths])
        ids = draw_ids(generator, *mask.shape)
        ids[mask == 0] = pad
        return {prefix + "input_ids": ids, prefix + "attention_mask": mask}

    def whole(columns):
        return {"input_ids": draw_ids(generator, 1, columns),
                "decoder_input_ids": draw_ids(generator, 1, columns)}

    if name == "one":
        return whole(1)
    if name in ("longest", "far"):
        return whole(longest)
    if name == "ragged":
        return {**masked((5, 9, 1), "right"),
                **masked((3, 1, 6), "right", "decoder_")}
    if name == "left":
        inputs = {**masked((3, 7, 1), "left"),
                  **masked((1, 5, 4), "left", "decoder_")}
        return {key: value.int() for key, value in inputs.items()}
    if name == "mixed":  # all of the decoder's tokens, whatever they are
        inputs = {**masked((6, 2), "left"), "decoder_input_ids":
                  draw_ids(generator, 2, 4)}
        inputs["decoder_input_ids"][1, 2:] = pad
        return inputs
    assert name == "holes"
    inputs = masked((8, 8), "right")
    inputs["attention_mask"][:] = torch.tensor(
        [[1, 0, 1, 1, 0, 0, 1, 1], [0, 1, 1, 0, 1, 1, 1, 0]])
    return {**inputs, "decoder_input_ids": draw_ids(generator, 2, 3)}


def write_pairs(folder, model, cases, seed):
    """The cases of an encoder-decoder, or of the encoder of one."""
    config = model.config
    for index, name in enumerate(cases):
        generator = torch.Generator().manual_seed(seed * 100 + index)
        longest = getattr(config, "max_position_embeddings", None)
        inputs = pair_inputs(name, generator, longest or
                             (150 if name == "far" else 40),
                             config.pad_token_id)
        if "EncoderModel" in type(model).__name__:
            inputs = {key: value for key, value in inputs.items()
                      if not key.startswith("decoder_")}
        store(folder, "inputs-" + name, inputs)
        store(folder, "expected-" + name, forward(model, inputs))


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


def steps_until(sequences, ends, start):
    """Per row, how many tokens are generated up to the first of `ends`."""
    rows = [row[start:].tolist() for row in sequences]
    return [next((i + 1 for i, token in enumerate(row) if token in ends), 40)
            for row in rows]


def pick_ends(sequences, start=8):
    """A token that ends the rows after different numbers of steps, and one
    that ends some row earlier; None if there are none. The first `start`
    columns are given."""
    tokens = set(sequences[:, start:].flatten().tolist())
    for first in sorted(tokens):
        alone = steps_until(sequences, [first], start)
        if len(set(alone)) < 3 or min(alone) < 4 or max(alone) == 40:
            continue
        for second in sorted(tokens):
            both = steps_until(sequences, [first, second], start)
            if both != alone and len(set(both)) == 3 and min(both) > 1:
                return first, second
    return None


def write_generation(folder, name, inputs, result):
    sequences, margins = result
    assert stable(margins), (folder, name)
    store(folder, "inputs-" + name, inputs)
    store(folder, "expected-" + name, {"sequences": sequences.contiguous()})


def set_generation(model, **keys):
    """The model's generation_config, with nothing but these keys."""
    model.generation_config = hf.GenerationConfig(**keys)


def varied(sequences, steps):
    """Whether no row settles on a few tokens."""
    return all(len(set(row[-steps:].tolist())) >= 6 for row in sequences)


def find_greedy(model, draw, seed, new_tokens=40, accept=varied):
    """Inputs by draw(generator) whose greedy tokens are stable under the
    model's generation_config and which `accept` likes."""
    for attempt in range(2000):
        inputs = draw(torch.Generator().manual_seed(seed + attempt))
        sequences, margins = reference.search(model, inputs, new_tokens)
        if stable(margins) and accept(sequences, new_tokens):
            return inputs, sequences
    raise SystemExit("no stable inputs for " + type(model).__name__)


def find_beams(model, draw, seed, variants, new_tokens=40):
    """The same for several ways of beam search at once, each a dictionary of
    options of generate: stable by each, and different in all."""
    for attempt in range(400):
        inputs = draw(torch.Generator().manual_seed(seed + attempt))
        found = []
        for options in variants:
            sequences, calm = reference.beams(model, inputs, new_tokens, NOISE,
                                              **options)
            if not calm or sequences.tolist() in found:
                break
            found.append(sequences.tolist())
        if len(found) == len(variants):
            return inputs
    raise SystemExit("no stable beams for " + type(model).__name__)


class Writer:
    def __init__(self, root):
        self.root = os.path.join(root, "models")
        shutil.rmtree(self.root, ignore_errors=True)
        self.models = []

    def folder(self, name):
        return os.path.join(self.root, name)

    def add(self, name, forward_cases=(), generate=(), base=None,
            refused=None):
        """`refused` has the cases that tfc does not run, each with a word that
        its message must have."""
        entry = {"name": name}
        if base:
            entry["base"] = base
        entry["forward"] = list(forward_cases)
        entry["generate"] = list(generate)
        if refused:
            entry["refused"] = refused
        self.models.append(entry)

    def load(self, cls, name, base=None):
        """What transformers makes of the folder, on top of its base's."""
        with tempfile.TemporaryDirectory() as whole:
            for part in filter(None, (base, name)):
                shutil.copytree(self.folder(part), whole, dirs_exist_ok=True)
            return reference.load(cls, whole)

    def write_step(self, name, model, step, inputs, eos=None, new_tokens=40,
                   **options):
        """One generation under the model's generation_config; returns its
        entry for cases.json."""
        if "num_beams" in options:
            sequences, calm = reference.beams(model, inputs, new_tokens, NOISE,
                                              **options)
        else:
            sequences, margins = reference.search(model, inputs, new_tokens,
                                                  **options)
            calm = stable(margins)
        assert calm, (name, step)
        store(self.folder(name), "inputs-" + step, inputs)
        store(self.folder(name), "expected-" + step,
              {"sequences": sequences.contiguous()})
        entry = {"name": step}
        if eos is not None:
            entry["eos"] = eos
        if new_tokens != 40:
            entry["new_tokens"] = new_tokens
        if options:
            entry["options"] = options
        return entry

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
