# Sentence encoders of the differential test: a folder's modules, and what they
# make of a model's rows.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os

# sentence-transformers' words.
POOLINGS = ("mean", "max", "mean_sqrt_len_tokens", "cls", "lasttoken")


def write_modules(folder, pooling):
    names = ("Transformer", "Pooling", "Normalize")
    with open(os.path.join(folder, "modules.json"), "w") as stream:
        json.dump([{"type": "a." + name, "path": name.lower() if index else ""}
                   for index, name in enumerate(names)], stream)
    os.makedirs(os.path.join(folder, "pooling"))
    with open(os.path.join(folder, "pooling", "config.json"), "w") as stream:
        json.dump({"pooling_mode": pooling}, stream)


def pool(rows, pooling):
    """Of the rows of a sentence's tokens."""
    if pooling == "max":
        return rows.max(0).values
    if pooling in ("cls", "lasttoken"):
        return rows[0 if pooling == "cls" else -1]
    divisor = len(rows) if pooling == "mean" else len(rows) ** 0.5
    return rows.sum(0) / divisor


def embed(torch, outputs, inputs, pooling):
    """The outputs of the library, by those of the model."""
    hidden = outputs["last_hidden_state"]
    mask = inputs.get("attention_mask")
    kept = torch.ones(hidden.shape[:2]) if mask is None else mask
    vectors = torch.stack([pool(row[seen == 1], pooling)
                           for row, seen in zip(hidden, kept)])
    return {"last_hidden_state": hidden,
            "sentence_embedding": torch.nn.functional.normalize(vectors)}
