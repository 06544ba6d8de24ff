#!/usr/bin/env python3
# What the book's model is run with: weights of no meaning, the same on every
# machine (weights.safetensors), three sequences of 5, 3 and 1 tokens (a batch,
# with padding behind them: batch.safetensors) and each alone (alone-0.safetensors
# to alone-2).
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import array
import json
import struct

HIDDEN, VOCAB, WIDTH, LAYERS = 64, 96, 128, 2
SEQUENCES = [[11, 42, 7, 30, 3], [5, 60, 21], [17]]


def numbers(count, seed):
    """Even numbers in [-0.25, 0.25), of a linear congruential generator."""
    state, drawn = seed, []
    for _ in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        drawn.append((state >> 8) / 2**25 - 0.25)
    return drawn


def write(path, tensors):
    """tensors: name -> (dtype, shape, array)"""
    header, body = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        data = values.tobytes()
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    with open(path, "wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text + body)


def shapes():
    yield "decoder.embeddings.token.weight", [VOCAB, HIDDEN]
    for layer in range(LAYERS):
        stem = f"decoder.layers.{layer}."
        for name in ("q", "k", "v", "o"):
            yield f"{stem}attn.{name}.weight", [HIDDEN, HIDDEN]
        yield stem + "ffn.gate.weight", [WIDTH, HIDDEN]
        yield stem + "ffn.up.weight", [WIDTH, HIDDEN]
        yield stem + "ffn.down.weight", [HIDDEN, WIDTH]
        yield stem + "attn.pre_norm.weight", [HIDDEN]
        yield stem + "ffn.pre_norm.weight", [HIDDEN]
    yield "decoder.final_norm.weight", [HIDDEN]


def ids(rows):
    """Rows of token ids, and a mask of what is none."""
    longest = max(map(len, rows))
    padded = [token for row in rows
              for token in row + [0] * (longest - len(row))]
    mask = [int(i < len(row)) for row in rows for i in range(longest)]
    shape = [len(rows), longest]
    return {"input_ids": ("I64", shape, array.array("q", padded)),
            "attention_mask": ("I64", shape, array.array("q", mask))}


def main():
    tensors = {}
    for seed, (name, shape) in enumerate(shapes()):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        tensors[name] = ("F32", shape, array.array("f", numbers(count, seed)))
    write("weights.safetensors", tensors)
    write("batch.safetensors", ids(SEQUENCES))
    for number, sequence in enumerate(SEQUENCES):
        write(f"alone-{number}.safetensors", ids([sequence]))


if __name__ == "__main__":
    main()
