#!/usr/bin/env python3
# Text to token ids and back, for the byte-level models of models/: byte b is
# token b + 3, before them come padding, end and begin.
#   text.py write MODEL_FOLDER INPUTS.safetensors TEXT...
#   text.py read OUTPUTS.safetensors [TEXT...]
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import sys

import tensors

PAD, END, BEGIN, BYTES = 0, 1, 2, 3
VOCABULARY = BYTES + 256


def to_ids(text):
    return [byte + BYTES for byte in text.encode()]


def to_text(ids):
    """Up to the first end token; other special tokens are left out."""
    ids = list(ids)
    if END in ids:
        ids = ids[:ids.index(END)]
    return bytes(token - BYTES for token in ids
                 if token >= BYTES).decode(errors="replace")


def make_inputs(texts, is_encoder_decoder):
    """What a model is asked with. An encoder reads text and end token, padded
    behind; a decoder continues begin token and text, padded in front."""
    rows = [to_ids(text) + [END] if is_encoder_decoder else
            [BEGIN] + to_ids(text) for text in texts]
    length = max(map(len, rows))
    inputs = {"input_ids": [], "attention_mask": []}
    for row in rows:
        padding, ones = [PAD] * (length - len(row)), [1] * len(row)
        zeros = [0] * len(padding)
        inputs["input_ids"].append(row + padding if is_encoder_decoder
                                   else padding + row)
        inputs["attention_mask"].append(ones + zeros if is_encoder_decoder
                                        else zeros + ones)
    return inputs


def write(model, path, *texts):
    with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    tensors.write_integers(path, make_inputs(
        texts, config.get("is_encoder_decoder", False)))


def read(path, *texts):
    """Prints the sequences, beside the texts that they answer if given."""
    (rows, length), ids = tensors.read(path, "sequences")
    width = max(map(len, texts), default=0)
    for row in range(rows):
        line = to_text(ids[row * length:(row + 1) * length])
        if texts:
            line = f"{texts[row * len(texts) // rows]:{width}}  {line}"
        print(line)


def main():
    commands = {"write": (write, 4), "read": (read, 2)}
    command, count = commands.get(sys.argv[1] if len(sys.argv) > 1 else "",
                                  (None, 0))
    if not command or len(sys.argv) - 1 < count:
        sys.exit("usage: text.py write MODEL_FOLDER INPUTS.safetensors "
                 "TEXT... | text.py read OUTPUTS.safetensors [TEXT...]")
    command(*sys.argv[2:])


if __name__ == "__main__":
    main()
