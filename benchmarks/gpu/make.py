#!/usr/bin/env python3
# Makes a folder that tests and times tfc on a machine with a GPU: tiny models of
# every family with taps, large models without weights, tfc-run and tfc-bench.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys

import shapes

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GOLDEN = os.path.join(ROOT, "test", "golden", "models")
MOST_BYTES = 128 << 20
DTYPES, INTEGERS = ("bf16", "f32", "f16"), ("int8", "int4")
MACHINES = ("a100", "h100", "h200")
# Of these also with --opt=none, whose results are the CPU's bits.
PLAIN = ("bert", "gpt2", "llama", "t5")
COPIED = ("run.sh", "run.py", "torch_step.py", "README.md")


class Refused(Exception):
    """A command that did not exit with 0."""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(f"{' '.join(command)}:\n{done.stderr}")
    return done.stdout


class Bundle:
    def __init__(self, out, binaries, target, is_small):
        self.out, self.binaries, self.target = out, binaries, target
        self.is_small = is_small
        self.tiny, self.large = [], []

    def path(self, *parts):
        path = os.path.join(self.out, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def tfc(self, *arguments):
        return run(os.path.join(self.binaries, "tfc"), *arguments)

    def compile(self, spec, library, *options):
        self.tfc("compile", spec, "-o", self.path(library),
                 f"--target={self.target}", *options)

    def copy_programs(self):
        for name in ("tfc-run", "tfc-bench"):
            shutil.copy2(os.path.join(self.binaries, name),
                         self.path("bin", name))
            if shutil.which("strip"):
                run("strip", self.path("bin", name))
        for name in COPIED:
            shutil.copy2(os.path.join(HERE, name), self.path(name))

    def add_family(self, family, model):
        """Its golden weights, and a library a level with taps."""
        spec = self.path("specs", f"{family}.json")
        self.tfc("import", os.path.join(GOLDEN, model), "-o", spec)
        weights = os.path.join("tiny", family, "model.safetensors")
        shutil.copy2(os.path.join(GOLDEN, model, "model.safetensors"),
                     self.path(weights))
        for level in ("full", "none") if family in PLAIN else ("full",):
            library = os.path.join("tiny", f"{family}-{level}.so")
            self.compile(spec, library, "--taps", f"--opt={level}")
            self.tiny.append({"name": f"{family} --opt={level}",
                              "library": library, "weights": weights})

    def make_spec(self, name, shape):
        spec = self.path("specs", f"{name}.json")
        self.tfc("import", os.path.join(GOLDEN, shape["like"]), "-o", spec)
        with open(spec, encoding="utf-8") as stream:
            changed = shapes.change_spec(json.load(stream), name, shape)
        with open(spec, "w", encoding="utf-8") as stream:
            json.dump(changed, stream, indent=1)
        return spec

    def add_tiles(self, name, shape):
        """A tiny model like a large one, in each type; weights are drawn."""
        spec = self.make_spec(f"tiny-{name}",
                              shapes.tiny(shape, self.is_small))
        wanted = (shape["dtype"],) if shape["dtype"] in INTEGERS else DTYPES
        for dtype in wanted[:1] if self.is_small else wanted:
            library = os.path.join("tiny", f"{name}-{dtype}.so")
            # Programs of CPUs round the values that meet integers as well.
            taps = () if dtype in INTEGERS else ("--taps",)
            self.compile(spec, library, *taps, "--dtype", dtype)
            self.tiny.append({"name": f"{name} --dtype={dtype}",
                              "library": library, "weights": None})

    def limits(self, spec, shape, workload):
        """The least seconds that machines need for it, by their peaks."""
        limits = {}
        for machine in MACHINES:
            said = self.tfc("inspect", spec, "--machine", machine, "--dtype",
                            shape["dtype"], "--step",
                            shapes.inspect_step(workload))
            total = [line.split() for line in said.splitlines()
                     if line.startswith("total ")]
            limits[machine] = sum(float(line[-1]) for line in total) * 1e-6
        return limits

    def add_large(self, name, shape):
        spec = self.make_spec(name, shape)
        library = os.path.join("large", f"{name}.so")
        self.compile(spec, library, "--dtype", shape["dtype"])
        self.large.append({
            "name": name, "library": library, "shape": shape, "workloads": [
                {"workload": workload,
                 "limits": self.limits(spec, shape, workload)}
                for workload in shape["workloads"]]})

    def write(self):
        with open(self.path("bundle.json"), "w", encoding="utf-8") as stream:
            tiny = sorted(self.tiny, key=lambda test: test["name"])
            json.dump({"tfc": self.tfc("--version").splitlines(),
                       "tiny": tiny, "large": self.large}, stream, indent=1)
        size = sum(os.path.getsize(os.path.join(folder, name))
                   for folder, _, names in os.walk(self.out) for name in names)
        print(f"{self.out}: {len(self.tiny)} tiny and {len(self.large)} large "
              f"libraries, {size / 2**20:.1f} MiB")
        if size > MOST_BYTES:
            sys.exit(f"make.py: expected at most {MOST_BYTES >> 20} MiB")


def families():
    """Of each model_type with weights a model that generates, if there is one:
    {family: model}."""
    found = {}
    for model in sorted(os.listdir(GOLDEN), key=lambda n: (len(n), n)):
        folder = os.path.join(GOLDEN, model)
        if not all(os.path.exists(os.path.join(folder, name))
                   for name in ("config.json", "model.safetensors")):
            continue
        with open(os.path.join(folder, "config.json"),
                  encoding="utf-8") as stream:
            family = json.load(stream).get("model_type")
        is_better = model.endswith("-lm") and not found.get(
            family, "").endswith("-lm")
        if family and (family not in found or is_better):
            found[family] = model
    return found


def main():
    parser = argparse.ArgumentParser(description="makes the bundle for a GPU")
    parser.add_argument("out", help="a folder that is not there yet")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build/ci/bin"),
                        help="where tfc, tfc-run and tfc-bench are")
    parser.add_argument("--target", default="cpu:x86-64-v3,cuda:sm_80,cuda:sm_90a",
                        help="as of tfc compile: a CPU's, and a GPU's")
    parser.add_argument("--small", action="store_true",
                        help="large models in toy sizes")
    parser.add_argument("--families", type=lambda text: text.split(","),
                        help="tiny models of these alone: bert,gpt2")
    parser.add_argument("--large", type=lambda text: text.split(","),
                        default=list(shapes.LARGE), help="these alone")
    arguments = parser.parse_args()
    if os.path.exists(arguments.out):
        sys.exit(f"make.py: {arguments.out}: expected no such file or folder")
    known = families()
    for family in arguments.families or []:
        if family not in known:
            sys.exit(f"make.py: --families: expected of {', '.join(known)}, "
                     f"got {family}")
    bundle = Bundle(arguments.out, arguments.bin, arguments.target,
                    arguments.small)
    try:
        fill(bundle, known, arguments)
    except Refused as refused:
        sys.exit(f"make.py: {refused}")


def fill(bundle, known, arguments):
    bundle.copy_programs()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda family: bundle.add_family(family, known[family]),
                      arguments.families or sorted(known)))
    for name in arguments.large:
        shape = shapes.LARGE[name]
        bundle.add_tiles(name, shape)
        bundle.add_large(name, shapes.small(shape) if arguments.small
                         else shape)
    shutil.rmtree(bundle.path("specs"), ignore_errors=True)
    bundle.write()


if __name__ == "__main__":
    main()
