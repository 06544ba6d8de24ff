#!/usr/bin/env python3
# Prints how similar the sentences of a run are: the cosine of their mean
# hidden states over the tokens that the mask keeps.
#   similarity.py SENTENCES.json INPUTS.safetensors OUTPUTS.safetensors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import math
import sys

import tensors


def embed(hidden, mask, row, tokens, width):
    """The mean of the row's kept hidden states, of length 1."""
    kept = [t for t in range(tokens) if mask[row * tokens + t]]
    start = [(row * tokens + t) * width for t in kept]
    mean = [sum(hidden[s + w] for s in start) / len(kept) for w in range(width)]
    length = math.sqrt(sum(value * value for value in mean))
    return [value / length for value in mean]


def main():
    sentences, inputs, outputs = sys.argv[1:]
    with open(sentences, encoding="utf-8") as file:
        texts = json.load(file)
    (rows, tokens, width), hidden = tensors.read(outputs, "last_hidden_state")
    _, mask = tensors.read(inputs, "attention_mask")
    vectors = [embed(hidden, mask, r, tokens, width) for r in range(rows)]
    print("cosine similarity" + " " * 35
          + "".join(f"{column + 1:6}" for column in range(rows)))
    for row, text in enumerate(texts):
        cosines = (sum(a * b for a, b in zip(vectors[row], other))
                   for other in vectors)
        print(f"{row + 1:3} {text[:46]:47} "
              + "".join(f"{cosine:6.2f}" for cosine in cosines))


if __name__ == "__main__":
    main()
