#!/usr/bin/env python3
# A key that config.json leaves out has the value that transformers' class has
# for it: importing a config without the key gives the spec of the config that
# transformers makes of it and writes in full. All keys of one class of some
# families, by the seed, are left out at once; of few of these each key, and of
# every class all keys.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import random
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "..", "golden"))
# What ctest takes for "skipped".
SKIPPED = 77

try:
    import torch
    import transformers as hf
except ImportError as error:
    print(f"skipped: {error} (defaults are compared with those of "
          "transformers)")
    sys.exit(SKIPPED)

import families
import folders
import reference  # silences transformers

# Families whose tensors save_pretrained writes under other names than those of
# the modules, which are all that a model without memory has.
RENAMED = ("nomic", "gte", "dinov2", "dinov2registers")
# Families without a model whose keys are all left out, and why.
WITHOUT_DEFAULTS = {
    "ministral": "transformers' head_dim is then nothing, and its model fails",
    "hunyuan": "transformers' head_dim is then nothing, likewise",
    "hunyuanmoe": "transformers' head_dim is then nothing, likewise",
    "dots1": "transformers' n_routed_experts is then nothing",
    "nemotron": "transformers' num_key_value_heads is then nothing, likewise",
    "bertgenerationlm": "it is then no decoder",
    "esm": "transformers' vocab_size is then nothing",
    "deepseekv2": "transformers' num_experts_per_tok is then nothing",
    "lfm2moe": "transformers' layer_types is then nothing",
    "t5gemmaencoder": "its class is refused where is_encoder_decoder is true",
    "dbrx": "transformers' attn_config has no rope_theta then",
    "glm4moe": "96 heads do not divide its width, which tfc refuses",
}
# Keys that transformers fills with a power of a half, whose last digit is not
# that of the root.
POWERS = (("hyperclovax", "attention_multiplier"),)
# Of how many families all keys are left out, and of how many of these each one.
SAMPLE = 6
THOROUGH = 1
# Without these nobody knows what the folder is.
NAMES = ("model_type", "architectures")


def full_keys(config, cls):
    keys = {**config.to_dict(), "architectures": [cls.__name__]}
    return {key: keys[key] for key in keys
            if (keys.get("model_type"), key) not in POWERS}


def check(tfc, scratch, cls, keys, left_out):
    """A message where an import depends on whether a default is spelled out;
    None where transformers makes no model of these keys, or tfc refuses them
    either way."""
    short, whole = (os.path.join(scratch, name) for name in ("short", "whole"))
    folders.write(short, keys, {})
    try:
        config = folders.config_of(short)
        shapes = folders.shapes_of(cls, config)
    except Exception:  # whatever a class says of sizes that do not fit
        return None
    folders.write(short, keys, shapes)
    folders.write(whole, full_keys(config, cls), shapes)
    got, wanted = (folders.run_import(tfc, each) for each in (short, whole))
    if got[0] and wanted[0]:
        return None
    if got[:2] == wanted[:2] or not (got[0] or wanted[0]) and (
            folders.canonical(tfc, got[1], short) ==
            folders.canonical(tfc, wanted[1], whole)):
        return ""
    return (f"{cls.__name__} without {left_out}: expected the import of the "
            f"config that transformers makes of it:\n{wanted[1]}{wanted[2]}"
            f"got:\n{got[1]}{got[2]}")


def check_all(tfc, scratch, cls, keys):
    """All keys at once: a list of messages."""
    name = cls.__name__
    reason = WITHOUT_DEFAULTS.get(families.family_of(name))
    rest = {key: keys[key] for key in keys if key in NAMES}
    fault = check(tfc, scratch, cls, rest, "any key")
    if reason and fault is not None:
        return [f"{name}: expected no model of its defaults ({reason}), got "
                "one: take it off the list"]
    if not reason and fault is None:
        return [f"{name}: expected a model of its defaults, got none"]
    return [fault] if fault else []


def check_each(tfc, scratch, cls, keys):
    """One key at a time: a list of messages."""
    faults, tried = [], 0
    for gone in keys:
        if gone in NAMES:
            continue
        rest = {key: keys[key] for key in keys if key != gone}
        fault = check(tfc, scratch, cls, rest, gone)
        tried += fault is not None
        faults += [fault] if fault else []
    if not tried:
        faults.append(f"{cls.__name__}: expected configs, got none")
    return faults


def check_class(tfc, name, source, one_by_one):
    """The keys of a class, all at once and, if asked for, one by one."""
    module = families.MODULES[families.family_of(name)]
    case = module.draw_case(source, name)
    cls, config = families.class_of(hf, name), module.make_config(hf, case)
    keys = full_keys(config, cls)
    with tempfile.TemporaryDirectory(prefix="tfc-") as scratch:
        faults = check_all(tfc, scratch, cls, keys)
        if one_by_one:
            faults += check_each(tfc, scratch, cls, keys)
    print(f"{name}: {len(faults)} differ", flush=True)
    return faults


def main():
    parser = argparse.ArgumentParser(
        description="compares tfc's defaults with those of transformers")
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", help="not used")
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("TFC_SEED", "0")),
                        help="of the draws; 0: a new one")
    parser.add_argument("--families", nargs="+", metavar="FAMILY",
                        help="only these, key by key")
    parser.add_argument("--all", action="store_true",
                        help="all families, key by key")
    options = parser.parse_args()
    seed = options.seed or random.randrange(1, 1 << 30)
    print(f"seed {seed} (--seed {seed} or TFC_SEED repeats the run)",
          flush=True)
    source = random.Random(seed)
    known = [family for family in families.switched_on()
             if family not in RENAMED]
    chosen = options.families or (known if options.all else source.sample(
        known, min(SAMPLE, len(known))))
    thorough = chosen if options.families or options.all else \
        chosen[:THOROUGH]
    faults = []
    for family in chosen:
        names = families.CLASSES[family]
        for index, name in enumerate(names if family in thorough
                                     else names[:1]):
            # Classes of a family share a config; the first has no head, whose
            # copy of the tokens takes long to compare.
            faults += check_class(options.tfc, name, source,
                                  family in thorough and index == 0)
    print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
