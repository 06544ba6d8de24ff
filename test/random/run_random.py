#!/usr/bin/env python3
# Draws specs, weights, ways of storing them and batches; compiles, runs and
# compares with the formulas of docs/spec-format.md in NumPy. A failure is made
# as small as possible and printed with the command to repeat.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import copy
import json
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "..", "golden"))
# What ctest takes for "skipped".
SKIPPED = 77

try:
    import numpy as np
except ImportError as error:
    print(f"skipped: {error} (random specs are compared with formulas in "
          "NumPy)")
    sys.exit(SKIPPED)

import draw_inputs
import draw_spec
import draw_storage
import formulas
import tensors

TOLERANCE = 1e-4
# Of what a cache rounds differently.
CACHE = {"f16": 2e-3, "bf16": 2e-2, "int8": 3e-2}
# How often weights are moved by a rounding, to see what that changes.
SAMPLES = 3
TARGETS = [["--target", "cpu"]] * 3 + [["--target", "cpu:x86-64-v3"],
                                       ["--target", "cpu", "--opt", "none"]]


class Fault(Exception):
    """What is wrong, in one word, and the rest."""

    def __init__(self, kind, text):
        super().__init__(f"{kind}: {text}")
        self.kind = kind


def to_dtype(tensor, dtype):
    """The tensor as a file has it, and its values."""
    if dtype == "F16":
        narrow = tensor.astype(np.float16)
        return narrow.view(np.uint16), narrow.astype(np.float32)
    if dtype == "BF16":
        bits = tensor.view(np.uint32)
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return bits.astype(np.uint16), (bits << 16).view(np.float32)
    return tensor, tensor


class Trial:
    """A spec with all that is drawn for it by `seed`."""

    def __init__(self, args, scratch, seed):
        self.args, self.scratch, self.seed = args, scratch, seed
        self.spec = draw_spec.draw(seed)
        self.stores = True

    def path(self, name):
        return os.path.join(self.scratch, name)

    def call(self, kind, *command):
        try:
            done = subprocess.run(command, capture_output=True, text=True,
                                  errors="replace", timeout=300)
        except subprocess.TimeoutExpired:
            raise Fault("hang", " ".join(command))
        if done.returncode != 0:
            text = (done.stdout + done.stderr).strip()[-2000:]
            raise Fault(f"{kind} {done.returncode}",
                        f"{' '.join(command)}\n{text}")

    def outputs(self, weights, batches):
        model = formulas.Model(self.spec, weights)
        rows = len(next(iter(batches.values())).ids)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return [model.outputs({name: batch.sequence(row) for name, batch
                                   in batches.items()})
                    for row in range(rows)]

    def write(self, weights):
        """The spec and the weights as files, rounded as they are stored."""
        precision = self.spec.get("precision", {}).get("weights", "f32")
        dtype = precision.upper()
        spec = dict(self.spec)
        stored = weights.tensors
        for name, tensor in stored.items():
            stored[name] = to_dtype(tensor, dtype)[1].copy()
        # Groups of several layers have tensors by their place, which it lacks.
        if (self.stores and '"inner"' not in json.dumps(spec) and
                random.Random(self.seed + 2).random() < 0.5):
            spec["weights"], stored = draw_storage.Storage(
                self.spec, stored, self.seed + 3).draw()
        files = {name: tensors.Tensor(dtype, tensor.shape,
                                      to_dtype(tensor, dtype)[0].ravel()
                                      .tolist())
                 for name, tensor in stored.items()}
        tensors.write(self.path("weights.safetensors"), files)
        self.write_spec(spec)

    def write_spec(self, spec):
        """As one file, or parts of it in `defs` or in a base."""
        source = random.Random(self.seed + 4)
        spec = copy.deepcopy(spec)
        if source.random() < 0.2 and "final_norm" in spec.get("encoder", {}):
            spec["defs"] = {"last": spec["encoder"]["final_norm"]}
            if isinstance(spec["defs"]["last"], dict):
                spec["encoder"]["final_norm"] = {"$def": "last"}
        if source.random() < 0.2:
            base = dict(spec, dims=dict(spec["dims"], hidden=999))
            with open(self.path("base.json"), "w") as stream:
                json.dump(base, stream)
            spec = {"tfc": 1, "extends": "base.json",
                    "dims": {"hidden": spec["dims"]["hidden"]}}
        with open(self.path("spec.json"), "w") as stream:
            json.dump(spec, stream, indent=1)

    def run(self):
        """Raises a Fault; returns how far the numbers are, of what is let."""
        weights = formulas.Weights(self.seed)
        batches = draw_inputs.draw(self.spec, self.seed + 1)
        self.outputs(weights, batches)
        self.write(weights)
        wanted = self.outputs(weights, batches)
        options = random.Random(self.seed + 5).choice(TARGETS)
        self.call("compile", self.args.tfc, "compile", self.path("spec.json"),
                  "-o", self.path("model.so"), "--force", *options)
        inputs = {name: draw_inputs.to_tensor(rows)
                  for batch in batches.values()
                  for name, rows in batch.named().items()}
        tensors.write(self.path("in.safetensors"), inputs)
        self.call("run", self.args.tfc_run, self.path("model.so"),
                  "--weights", self.path("weights.safetensors"), "--inputs",
                  self.path("in.safetensors"), "--outputs",
                  self.path("out.safetensors"))
        got = {name: np.array(tensor.data).reshape(tensor.shape)
               for name, tensor in
               tensors.read(self.path("out.safetensors")).items()}
        noise = self.noise(weights, batches, wanted)
        return self.compare(wanted, got, batches, noise)

    def noise(self, weights, batches, wanted):
        """By row and output: how far rounding weights moves a result."""
        moved = [{name: 0.0 for name in row} for row in wanted]
        for sample in range(SAMPLES):
            weights.noise = np.random.default_rng(sample)
            for row, other in enumerate(self.outputs(weights, batches)):
                for name, (value, _, _) in other.items():
                    # Rows of tokens that are masked may be no numbers.
                    moved[row][name] = max(moved[row][name], greatest(
                        np.nan_to_num(np.abs(value - wanted[row][name][0]))))
        weights.noise = None
        return moved

    def compare(self, wanted, got, batches, noise):
        cache = self.spec.get("precision", {}).get("cache", "f32")
        tolerance = TOLERANCE
        if "decoder" in self.spec:
            tolerance = CACHE.get(cache, TOLERANCE)
        worst = 0.0
        for row, outputs in enumerate(wanted):
            for name, (value, is_one, stack) in outputs.items():
                if name not in got:
                    raise Fault("differs", f"no output {name}, only "
                                f"{sorted(got)}")
                visible = batches[stack].sequence(row).visible
                found = got[name][row]
                if found.shape != value.shape:
                    raise Fault("differs", f"{name} row {row}: expected "
                                f"shape {value.shape}, got {found.shape}")
                if not is_one:
                    value, found = value[visible], found[visible]
                let = tolerance * max(1, greatest(np.abs(value))) + \
                    10 * noise[row][name]
                if not np.isfinite(value).all() or let > 1e30:
                    continue # more than f32 holds, or a masked token's row
                distance = greatest(np.abs(found - value))
                worst = max(worst, distance / let)
                if not distance <= let:
                    raise Fault("differs", f"{name} row {row}: by "
                                f"{distance:.3g}, {let:.3g} is let")
        return worst


def greatest(values):
    return float(values.max()) if values.size else 0.0


# ---- Smaller ---------------------------------------------------------------


def list_places(value, path=()):
    """Paths of all members, the larger ones first."""
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        return []
    places = [path + (key,) for key, _ in items]
    for key, member in items:
        places += list_places(member, path + (key,))
    return places


def without(spec, path):
    """A copy in which a member is dropped, or a count is 1."""
    spec = copy.deepcopy(spec)
    parent = spec
    for key in path[:-1]:
        parent = parent[key]
    if path[-1] == "repeat" and parent["repeat"] > 1:
        parent["repeat"] = 1
    else:
        del parent[path[-1]]
    return spec


def shrink(trial, fault, tries):
    """The smallest spec that fails in the same way."""
    trial.stores, kept = False, trial.stores
    try:
        trial.run()
        trial.stores = kept
    except Exception as error:
        trial.stores = getattr(error, "kind", "") != fault.kind and kept
    progress = True
    while progress and tries > 0:
        progress = False
        for path in list_places(trial.spec):
            tries -= 1
            whole = trial.spec
            try:
                trial.spec = without(whole, path)
                trial.run()
            except Fault as other:
                if other.kind == fault.kind:
                    fault, progress = other, True
                    break
            except Exception:
                pass # no longer a spec
            trial.spec = whole
            if tries <= 0:
                break
    try:
        trial.run()
    except Fault as last:
        fault = last
    return fault


def check(args, scratch, seed):
    """Whether the spec of a seed gives its numbers."""
    trial = Trial(args, scratch, seed)
    try:
        worst = trial.run()
        if args.verbose:
            print(f"{seed}: {worst:.2f} of what is let, {trial.spec['kind']}",
                  flush=True)
        return True
    except Fault as fault:
        print(f"seed {seed}: {fault}", flush=True)
        fault = shrink(trial, fault, args.tries)
        print(f"smaller: {fault}\n{json.dumps(trial.spec)}\n"
              f"again: {sys.argv[0]} --tfc {args.tfc} --tfc-run "
              f"{args.tfc_run} --seed {seed} --count 1", flush=True)
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", required=True)
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("TFC_SEED", 0)) or
                        random.randrange(1 << 31))
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--tries", type=int, default=120)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    print(f"seeds {args.seed} to {args.seed + args.count - 1}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        good = [check(args, scratch, args.seed + i)
                for i in range(args.count)]
    print(f"{sum(good)} of {len(good)} specs give their numbers")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
