# What the makers of golden models share: prompts whose tokens are stable, and
# the folders that are written.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import shutil
import tempfile

import torch
import transformers as hf
from safetensors.torch import load_file, save_file

import reference
from inputs import VOCAB, draw_ids, forward_inputs, pair_inputs, prompts
from reference import forward, greedy

# A greedy token is only stable across implementations with some distance to
# the second best.
MARGIN = 5e-3
# What beams must stand, on every score of every step.
NOISE = 2e-4


def store(folder, name, tensors):
    os.makedirs(folder, exist_ok=True)
    save_file(tensors, os.path.join(folder, name + ".safetensors"))


def write_forward(folder, model, cases, seed, pad=0, types=None,
                  longest=None):
    """`types`: how many types of tokens there are, where that is neither
    BERT's key nor GPT-2's vocabulary; `longest`: the longest row, where it is
    not as many as positions."""
    config = model.config
    bert = config.model_type == "bert"
    types = types or (config.type_vocab_size if bert else VOCAB)
    for index, name in enumerate(cases):
        generator = torch.Generator().manual_seed(seed * 100 + index)
        inputs = forward_inputs(
            name, generator, longest or config.max_position_embeddings, pad,
            types)
        store(folder, "inputs-" + name, inputs)
        store(folder, "expected-" + name, forward(model, inputs))


def row_by_row(compute, inputs):
    """What `compute` makes of each row alone, of what it has no padding."""
    result = {}
    mask = inputs.get("attention_mask", torch.ones_like(inputs["input_ids"]))
    for row, count in enumerate(mask.sum(1).tolist()):
        own = compute({key: value[row:row + 1, :count]
                       for key, value in inputs.items()})
        for key, value in own.items():
            if key not in result:
                shape = list(value.shape)
                shape[0] = len(mask)
                if value.dim() == 3:
                    shape[1] = mask.shape[1]
                result[key] = torch.zeros(shape)
            if value.dim() == 3:
                result[key][row, :count] = value[0]
            else:
                result[key][row] = value[0]
    return result


def write_rows(folder, model, cases, seed, pad, types, longest):
    """The same of each row alone, where transformers computes something else
    of several."""
    for index, name in enumerate(cases):
        generator = torch.Generator().manual_seed(seed * 100 + index)
        inputs = forward_inputs(name, generator, longest, pad, types)
        store(folder, "inputs-" + name, inputs)
        store(folder, "expected-" + name, row_by_row(
            lambda own: forward(model, own), inputs))


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


def stable(margins):
    return min(map(min, margins)) > MARGIN


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


def find_greedy(model, draw, seed, accept=varied, min_length=0):
    """Inputs by draw(generator) whose 40 greedy tokens are stable under the
    model's generation_config and which `accept` likes; stable with that
    min_length, too."""
    for attempt in range(2000):
        inputs = draw(torch.Generator().manual_seed(seed + attempt))
        sequences, margins = reference.search(model, inputs, 40)
        if not stable(margins) or not accept(sequences, 40):
            continue
        if not min_length or stable(reference.search(
                model, inputs, 40, min_length=min_length)[1]):
            return inputs, sequences
    raise SystemExit("no stable inputs for " + type(model).__name__)


def find_ended(model, draw, seed, start):
    """The same, and the tokens that pick_ends picks."""
    def accept(sequences, steps):
        return varied(sequences, steps) and pick_ends(sequences, start)

    inputs, sequences = find_greedy(model, draw, seed, accept=accept)
    return inputs, *pick_ends(sequences, start)


def find_beams(model, draw, seed, variants, new_tokens=40):
    """The same for several ways of beam search at once, each a dictionary of
    options of generate: stable by each, and different in all."""
    for attempt in range(400):
        inputs = draw(torch.Generator().manual_seed(seed + attempt))
        found = []
        for options in variants:
            sequences, _, calm = reference.beams(model, inputs, new_tokens,
                                                 NOISE, **options)
            if not calm or sequences.tolist() in found:
                break
            found.append(sequences.tolist())
        if len(found) == len(variants):
            return inputs
    raise SystemExit("no stable beams for " + type(model).__name__)


class Writer:
    def __init__(self, root, kept=None, only=()):
        """With `kept`, entries of cases.json, their models stay, and models of
        the same names are written anew; with `only`, those of these names."""
        self.only = only
        self.root = os.path.join(root, "models")
        if kept is None:
            shutil.rmtree(self.root, ignore_errors=True)
        self.models = list(kept or ())

    def wants(self, name):
        return not self.only or name in self.only

    def folder(self, name):
        return os.path.join(self.root, name)

    def add(self, name, forward_cases=(), generate=(), base=None,
            refused=None, spec=None):
        """`refused` has the cases that tfc does not run, each with a word that
        its message must have; those named generate... are generations. `spec`
        names that of examples/specs which the model's own extends."""
        self.models = [one for one in self.models if one["name"] != name]
        entry = {"name": name}
        if base:
            entry["base"] = base
        entry["forward"] = list(forward_cases)
        entry["generate"] = list(generate)
        if refused:
            entry["refused"] = refused
        if spec:
            entry["spec"] = spec
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
        expected = {}
        has_beams = (options.get("num_beams") or
                     model.generation_config.num_beams or 1) > 1
        if has_beams:
            sequences, expected["sequences_scores"], calm = reference.beams(
                model, inputs, new_tokens, NOISE, **options)
        else:
            sequences, margins = reference.search(model, inputs, new_tokens,
                                                  **options)
            calm = stable(margins)
        assert calm, (name, step)
        expected["sequences"] = sequences.contiguous()
        store(self.folder(name), "inputs-" + step, inputs)
        store(self.folder(name), "expected-" + step, expected)
        entry = {"name": step}
        if eos is not None:
            entry["eos"] = eos
        if new_tokens != 40:
            entry["new_tokens"] = new_tokens
        if options:
            entry["options"] = options
        if has_beams:
            entry["needs"] = "beams"
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
