#!/usr/bin/env python3
# A key that config.json leaves out has the value that transformers' class has
# for it: importing a config without the key gives the spec of the config that
# transformers makes of it and writes in full. Of some families, by the seed, each
# key is left out once, and of every class all keys at once; of the others all
# keys of one class.
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
RENAMED = ("nomic",)
# Families that tfc refuses where their sizes are those of the class.
REFUSED = ("electra",)
# Families whose keys are left out one by one.
SAMPLE = 6
# Without these nobody knows what the folder is.
NAMES = ("model_type", "architectures")


def full_keys(config, cls):
    return {**config.to_dict(), "architectures": [cls.__name__]}


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


def check_class(tfc, name, source, scratch, one_by_one):
    """The keys of a class, all at once and, if asked for, one by one."""
    module = families.MODULES[families.family_of(name)]
    case = module.draw_case(source, name)
    cls, config = getattr(hf, name), module.make_config(hf, case)
    keys = full_keys(config, cls)
    left_out = [key for key in keys if key not in NAMES]
    faults, tried = [], 0
    each = [[key] for key in left_out] if one_by_one else []
    for gone in [left_out] + each:
        rest = {key: keys[key] for key in keys if key not in gone}
        words = gone[0] if len(gone) == 1 else "any key"
        fault = check(tfc, scratch, cls, rest, words)
        tried += fault is not None
        faults += [fault] if fault else []
    return faults, tried


def main():
    parser = argparse.ArgumentParser(
        description="compares tfc's defaults with those of transformers")
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", help="not used")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--families", nargs="+", metavar="FAMILY",
                        help="only these, key by key")
    options = parser.parse_args()
    seed = random.randrange(1 << 30) if options.seed is None else options.seed
    print(f"seed {seed} (--seed {seed} repeats the run)", flush=True)
    source = random.Random(seed)
    faults = []
    known = [family for family in families.switched_on()
             if family not in RENAMED]
    thorough = options.families or source.sample(known, min(SAMPLE, len(known)))
    for family in options.families or known:
        whole = family in thorough
        for index, name in enumerate(families.CLASSES[family]):
            if index and not whole:
                break
            with tempfile.TemporaryDirectory(prefix="tfc-") as scratch:
                # Classes of a family share a config; the first has no head,
                # whose copy of the tokens takes long to compare.
                found, tried = check_class(options.tfc, name, source, scratch,
                                           one_by_one=whole and index == 0)
            faults += found
            print(f"{name}: {tried} configs, {len(found)} differ", flush=True)
            if not tried and family not in REFUSED:
                faults.append(f"{name}: expected configs, got none")
    print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
