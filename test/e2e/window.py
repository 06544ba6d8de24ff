#!/usr/bin/env python3
# A decoder with a window generates far beyond it, and beyond several blocks of
# its cache, which are given back meanwhile: every token is the likeliest one of
# a forward pass over the whole text, which gives nothing back.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import array
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
import tensors  # noqa: E402
from tool import Tool  # noqa: E402

# Blocks have 64 positions, with --opt none 16.
PROMPT, NEW = 100, 200


def batch(tokens):
    return {"input_ids": tensors.Tensor("I64", [1, len(tokens)],
                                        array.array("q", tokens))}


def main():
    tfc, tfc_run, golden, *options = sys.argv[1:]
    shutil.copytree(golden, "model")
    with open("model/config.json") as stream:
        config = json.load(stream)
    config["max_position_embeddings"] = PROMPT + NEW
    with open("model/config.json", "w") as stream:
        json.dump(config, stream)
    tool = Tool(shutil.which(tfc), shutil.which(tfc_run), ".", options)
    _, library = tool.build("model", "window")
    prompt = [1 + 7 * i % (config["vocab_size"] - 1) for i in range(PROMPT)]
    tokens = list(tool.generate(library, "model", batch(prompt), NEW,
                                "none")["sequences"].data)
    logits = tool.run(library, "model", batch(tokens))["logits"]
    width = logits.shape[-1]
    if len(tokens) != PROMPT + NEW or len(set(tokens[PROMPT:])) < 20:
        sys.exit(f"expected {NEW} new tokens of many kinds, got {tokens}")
    for place in range(PROMPT, PROMPT + NEW):
        row = logits.data[(place - 1) * width:place * width]
        if row.index(max(row)) != tokens[place]:
            sys.exit(f"expected token {row.index(max(row))} at {place}, got "
                     f"{tokens[place]}")


if __name__ == "__main__":
    main()
