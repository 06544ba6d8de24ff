#!/usr/bin/env python3
# Libraries of --sanitize=address under a runtime that is built with it: golden
# models touch nothing but what they were lent, and a store that was moved behind
# its buffer is named by op and layer. With a seed one of the models. Skips where
# there is no such runtime (cmake --preset asan).
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "..", "golden"))
import compare  # noqa: E402
import tensors  # noqa: E402
from tool import Failure, Tool  # noqa: E402

SKIPPED = 77
MODELS = ["bert-model", "gpt2-lm", "llama-lm", "mistral-window", "t5-lm",
          "bart-lm"]
# A store of vectors goes 16 of them further.
FAULT = "tfc-convert-to-llvm#1 shift llvm.store {}"
REPORT = re.compile(r"tfc: error: (\S+?)(, layer (\d+) of its loop)?: expected "
                    r"accesses within a buffer, got a write of \d+ bytes")


def folder_of(name):
    return os.path.join(ROOT, "..", "golden", "models", name)


def forward_of(name):
    """The cases of a forward pass that are no errors."""
    with open(os.path.join(ROOT, "..", "golden", "cases.json"),
              encoding="utf-8") as stream:
        models = json.load(stream)["models"]
    return next(model["forward"] for model in models if model["name"] == name)


def check_model(args, scratch, name, options):
    """Faults of a golden model: what differs, or what the runtime reports."""
    tool = Tool(args.tfc, args.tfc_run, scratch, options)
    weights = folder_of(name)
    spec, library = tool.path("m.json"), tool.path("m.so")
    tool.import_model(weights, spec)
    tool.compile(spec, library, "--sanitize=address")
    forward = forward_of(name)
    faults = []
    for path in sorted(glob.glob(os.path.join(weights, "inputs-*"))):
        case = os.path.basename(path)[len("inputs-"):]
        inputs = tensors.read(path)
        if case == "generate-left":
            tool.generate(library, weights, inputs, 6)
        if case not in forward:
            continue
        expected = tensors.read(os.path.join(weights, "expected-" + case))
        # What is generated behind them is another step's.
        expected.pop("sequences", None)
        got = tool.run(library, weights, inputs)
        for output in expected:
            faults += compare.check_floats(f"{name} {case} {output}",
                                           expected[output], got[output])
    return faults


def count_stores(args, scratch):
    """How many vectors a model stores that is compiled so."""
    done = subprocess.run(
        [args.faulty, "compile", "m.json", "-o", "count.so", "--target=cpu",
         "--sanitize=address"], cwd=scratch, capture_output=True, text=True,
        env=dict(os.environ, TFC_FAULT="tfc-convert-to-llvm#1 count llvm.store"))
    return int(re.search(r"fault: (\d+)", done.stderr).group(1))


def report_has_layer(found):
    return any(layer is not None for _, layer in found.values())


def check_planted(args, scratch, source):
    """Stores that were moved are reported, at least one of some in a layer: not
    each of them is near the end of its buffer, nor reached."""
    Tool(args.tfc, args.tfc_run, scratch).import_model(
        folder_of("gpt2-lm"), os.path.join(scratch, "m.json"))
    stores = count_stores(args, scratch)
    found = {}
    for number in source.sample(range(stores // 3),
                                min(args.planted, stores // 3)):
        tool = Tool(args.faulty, args.tfc_run, scratch, ["--target=cpu"])
        os.environ["TFC_FAULT"] = FAULT.format(number)
        try:
            tool.compile(tool.path("m.json"), tool.path("faulty.so"),
                         "--sanitize=address", "--force")
            tool.run(tool.path("faulty.so"), folder_of("gpt2-lm"),
                     tensors.read(os.path.join(folder_of("gpt2-lm"),
                                               "inputs-ragged.safetensors")))
        except Failure as failure:
            report = REPORT.search(str(failure))
            if not report:
                return [f"{FAULT.format(number)}: expected a report, got "
                        f"{failure}"]
            found[number] = report.group(1), report.group(3)
        finally:
            del os.environ["TFC_FAULT"]
        if report_has_layer(found):
            break
    for number, (op, layer) in sorted(found.items()):
        print(f"store {number}: {op}, layer {layer}")
    if not report_has_layer(found):
        return [f"expected one of {args.planted} moved stores to be named with "
                f"its layer, got {found}"]
    return []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--faulty", required=True, help="tfc-faulty")
    parser.add_argument("--tfc-run", required=True,
                        help="that of the preset asan")
    parser.add_argument("--planted", type=int, default=40,
                        help="at most, until one is named with its layer")
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("TFC_SEED", 0)))
    args = parser.parse_args()
    args.faulty = os.path.abspath(args.faulty)
    if not os.path.exists(args.tfc_run):
        print(f"skipped: no {args.tfc_run} (cmake --preset asan && cmake "
              "--build --preset asan --target tfc-run)")
        return SKIPPED
    source = random.Random(args.seed or 1)
    models = [source.choice(MODELS)] if args.seed else MODELS
    faults = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in models:
            options = ["--target=" + source.choice(["cpu", "cpu:x86-64-v3"])]
            faults += check_model(args, scratch, name, options)
            print(f"{name}: within its buffers", flush=True)
        faults += check_planted(args, scratch, source)
    print("\n".join(faults) or "all accesses are where they may be")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
