#!/usr/bin/env python3
# Draws models over every field of the spec and compiles each for many programs.
# Those that have a law (a native program and its emulation, matrices in 16 bits and
# the same numbers in 32, integers on any machine, threads, company) are compared
# bit for bit; all of f32, a device's by its stand-in too, with the formulas and
# with the interpreter. What differs is made small and printed.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import collections
import json
import os
import random
import shutil
import sys
import tempfile
import time

import run_random
from run_random import Fault, Trial, np, to_dtype
import draw_inputs
import draw_spec
import formulas
import tensors

for place in ("..", os.path.join("..", "reduce")):
    sys.path.insert(0, os.path.join(run_random.ROOT, place))
import ledger  # noqa: E402
import random_weights  # noqa: E402

FULL = ["x86-64-v3", "x86-64-v4", "x86-64-v4-emulated",
        "rv64gcv+zvl256b-emulated"]
DOTS = ["x86-64-v4+bf16", "x86-64-v4+bf16-emulated", "x86-64-v4", "x86-64-v3"]
INTEGERS = ["x86-64-v3", "x86-64-v3+avxvnni", "x86-64-v4+vnni",
            "x86-64-v4+vnni-emulated", "x86-64-v4+amx-int8-emulated",
            "armv8-a-emulated", "armv8-a+i8mm-emulated"]
TILES = ["x86-64-v4+amx-bf16", "x86-64-v4+amx-bf16-emulated"]
# Programs that give the same bits, of a library.
SAME = {"f32": [("x86-64-v4", "x86-64-v4-emulated"),
                ("x86-64-v3", "rv64gcv+zvl256b-emulated")],
        "bf16": [("x86-64-v4+bf16", "x86-64-v4+bf16-emulated")],
        "int8": [("x86-64-v3", "x86-64-v3+avxvnni"),
                 ("x86-64-v3", "armv8-a-emulated"),
                 ("x86-64-v3", "armv8-a+i8mm-emulated"),
                 ("x86-64-v4+vnni", "x86-64-v4+vnni-emulated"),
                 ("x86-64-v4+vnni-emulated",
                  "x86-64-v4+amx-int8-emulated")],
        "tiles": [tuple(TILES)]}


class Absent(Exception):
    """A program that this machine does not run."""


def is_moe(spec):
    return '"moe"' in json.dumps(spec)


class Model(Trial):
    """A drawn spec, and everything that is done with it."""

    def __init__(self, args, scratch, seed, counts):
        super().__init__(args, scratch, seed)
        self.spec = draw_spec.draw(seed, experts=True)
        self.counts = counts
        # The stand-in compiles every kernel: a part of the models.
        self.has_device = seed % args.device_each == 0

    def compile(self, library, *options):
        self.call("compile", self.args.tfc, "compile", self.path("spec.json"),
                  "-o", self.path(library), "--force", *options)

    def execute(self, library, program, *options, inputs="in", weights="w"):
        """The outputs of a program as arrays."""
        out = self.path("out.safetensors")
        try:
            self.call("run", self.args.tfc_run, self.path(library),
                      "--weights", self.path(weights + ".safetensors"),
                      "--inputs", self.path(inputs + ".safetensors"),
                      "--outputs", out, "--program", program, *options)
        except Fault as fault:
            if "the machine lacks " in str(fault):
                raise Absent(program)
            raise
        self.counts["runs"] += 1
        return {name: np.array(tensor.data, np.float32).reshape(tensor.shape)
                for name, tensor in tensors.read(out).items()}

    def check_bits(self, law, one, other):
        self.counts[law] += 1
        for name, value in one.items():
            same = value.view(np.uint32) == other[name].view(np.uint32)
            # Which of all NaNs it is says nothing.
            same |= np.isnan(value) & np.isnan(other[name])
            if not same.all():
                raise Fault("bits", f"{law}: {name} at "
                            f"{np.argwhere(~same)[0].tolist()}")

    # -- what is drawn, as files --

    def write_inputs(self, name, batches, rows=None):
        inputs = {}
        for batch in batches.values():
            for key, grid in batch.named().items():
                grid = [grid[i] for i in rows] if rows else grid
                inputs[key] = draw_inputs.to_tensor(grid)
        tensors.write(self.path(name + ".safetensors"), inputs)

    def prepare(self):
        """Batches, and what formulas make of them; nothing for experts, whose
        scores f32 and f64 order differently where they are near."""
        self.batches = draw_inputs.draw(self.spec, self.seed + 1)
        self.write_inputs("in", self.batches)
        if is_moe(self.spec):
            # The weights are drawn in f32.
            self.spec.get("precision", {}).pop("weights", None)
            self.write_spec(self.spec)
            if not random_weights.write(self.args.tfc, self.path("spec.json"),
                                        self.scratch, self.seed):
                raise Fault("compile", "no model of experts")
            os.replace(self.path("model.safetensors"),
                       self.path("w.safetensors"))
            self.wanted = None
            return
        self.weights = formulas.Weights(self.seed)
        self.outputs(self.weights, self.batches)
        self.write(self.weights)
        os.replace(self.path("weights.safetensors"), self.path("w.safetensors"))
        self.wanted = self.outputs(self.weights, self.batches)
        self.moved = self.noise(self.weights, self.batches, self.wanted)

    def round_weights(self, dtype):
        """w16: the stored tensors with values of 16 bits, as f32."""
        rounded = {}
        for name, tensor in tensors.read(self.path("w.safetensors")).items():
            values = np.array(tensor.data)
            if tensor.dtype == "F32":
                values = to_dtype(values.astype(np.float32), dtype)[1]
                values = values.tolist()
            rounded[name] = tensors.Tensor(tensor.dtype, tensor.shape,
                                           values)
        tensors.write(self.path("w16.safetensors"), rounded)

    def check_values(self, got, counted):
        if self.wanted is not None:
            self.compare(self.wanted, got, self.batches, self.moved)
            self.counts[counted] += 1

    # -- programs --

    def all_of(self, library, names):
        """By program what it gives, of those that run here."""
        given = {}
        for name in names:
            try:
                given[name] = self.execute(library, name)
            except Absent:
                self.counts["absent " + name] += 1
        return given

    def check_library(self, kind, names, *options):
        library = kind + ".so"
        self.compile(library, "--target",
                     ",".join("cpu:" + name for name in names), *options)
        given = self.all_of(library, names)
        for one, other in SAME[kind]:
            if one in given and other in given:
                self.check_bits(f"{one} = {other}", given[one], given[other])
        return given

    def check_company(self, library, program, whole):
        """A row alone, and two threads, to the bit."""
        self.check_bits("one thread = two", whole, self.execute(
            library, program, "--threads", "1"))
        rows = len(next(iter(self.batches.values())).ids)
        row = self.seed % rows
        self.write_inputs("alone", self.batches, [row])
        alone = self.execute(library, program, inputs="alone")
        self.check_bits("alone = in a batch", alone, {
            name: value[row:row + 1] for name, value in whole.items()})

    def check_plain(self):
        self.compile("none.so", "--target", "cpu", "--opt", "none")
        self.check_values(self.execute("none.so", "cpu"),
                          "formulas: opt none")

    def check_storage(self, dtype):
        """Matrices in 16 bits compute what the same numbers do in f32."""
        if self.spec.get("precision", {}).get("weights", "f32") != "f32":
            return
        self.round_weights(dtype.upper())
        one = self.execute("f32.so", "x86-64-v3", weights="w16")
        self.compile("stored.so", "--target", "cpu:x86-64-v3", "--dtype",
                     dtype, "--cache",
                     self.spec.get("precision", {}).get("cache", "f32"))
        self.check_bits(f"kept in {dtype} = in f32", one, self.execute(
            "stored.so", "x86-64-v3", weights="w16"))

    def verify(self, opt):
        if self.spec.get("precision", {}).get("cache", "f32") != "f32" or \
                self.wanted is None:
            return
        shutil.rmtree(self.path("folder"), ignore_errors=True)
        os.makedirs(self.path("folder"))
        shutil.copy(self.path("w.safetensors"),
                    self.path("folder/model.safetensors"))
        self.call("verify", self.args.tfc, "verify", self.path("spec.json"),
                  "--weights", self.path("folder"), "--opt", opt)
        self.counts["interpreter: opt " + opt] += 1

    def check_device(self, opt):
        if not self.args.driver or (
                "decoder" in self.spec and
                self.spec.get("precision", {}).get("cache") == "int8"):
            return
        self.compile("cuda.so", "--target", "cuda:sm_80", "--opt", opt)
        whole = self.execute("cuda.so", "cuda")
        self.check_values(whole, f"formulas: device, opt {opt}")

    def run(self):
        source = random.Random(self.seed + 6)

        def is_drawn():
            return source.random() < self.args.share
        self.prepare()
        given = self.check_library("f32", FULL if is_drawn() else
                                   source.choice(SAME["f32"]))
        for program, values in given.items():
            self.check_values(values, "formulas: " + program)
        if is_drawn():
            self.check_plain()
        if is_drawn():
            program = source.choice(sorted(given))
            self.check_company("f32.so", program, given[program])
        if "x86-64-v3" in given and is_drawn():
            self.check_storage(source.choice(["f16", "bf16"]))
        if is_drawn():
            self.check_library("bf16", DOTS, "--dtype", "bf16")
        if is_drawn():
            for program, values in self.check_library(
                    "tiles", TILES, "--dtype", "bf16").items():
                self.check_company("tiles.so", program, values)
        if is_drawn():
            self.check_library("int8", INTEGERS, "--dtype", "int8")
        if is_drawn():
            self.verify(source.choice(["full", "full", "none"]))
        if self.has_device:
            self.check_device(source.choice(["full", "none"]))
        return 0.0


def check(args, scratch, seed, counts):
    """Whether nothing of the seed's model differs."""
    model = Model(args, scratch, seed, counts)
    begun = time.monotonic()
    try:
        model.run()
        if args.verbose:
            print(f"{seed}: {time.monotonic() - begun:.1f} s", flush=True)
        return True
    except Fault as fault:
        print(f"seed {seed}: {fault}", flush=True)
        fault = run_random.shrink(model, fault, args.tries)
        print(f"smaller: {fault}\n{json.dumps(model.spec)}\n"
              f"again: {sys.argv[0]} --tfc {args.tfc} --tfc-run "
              f"{args.tfc_run} --seed {seed} --count 1 "
              f"--share {args.share:g}", flush=True)
        return False


def summarise(args, counts, done, good, seconds):
    for name, count in sorted(counts.items()):
        print(f"  {name}: {count}")
    if args.ledger:
        ledger.append(args.ledger, ledger.row(
            "models", seconds, seed=args.seed, count=done,
            runs=counts["runs"], found=done - good))
    print(f"{good} of {done} models give their numbers")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", required=True)
    parser.add_argument("--driver", default="",
                        help="the stand-in for CUDA's driver")
    parser.add_argument("--device-each", type=int, default=8,
                        help="of so many models one has a device's program")
    parser.add_argument("--share", type=float, default=1,
                        help="of what is compiled and compared of a model, "
                        "but for some program of f32")
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("TFC_SEED", 0)) or
                        random.randrange(1 << 31))
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--hours", type=float, default=1000,
                        help="after which no other model begins")
    parser.add_argument("--ledger", help="a file that gets a row")
    parser.add_argument("--tries", type=int, default=120)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    if args.driver:
        os.environ["TFC_CUDA_DRIVER"] = args.driver
    print(f"seeds {args.seed} to {args.seed + args.count - 1}", flush=True)
    counts, begun = collections.Counter(), time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.setdefault("TFC_FAKECUDA_CACHE",
                              os.path.join(scratch, "kernels"))
        good = done = 0
        while done < args.count and \
                time.monotonic() - begun < args.hours * 3600:
            good += check(args, scratch, args.seed + done, counts)
            done += 1
    summarise(args, counts, done, good, time.monotonic() - begun)
    return 0 if good == done else 1


if __name__ == "__main__":
    sys.exit(main())
