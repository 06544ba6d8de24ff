# Text to token ids and back, for the byte-level models of ../models: byte b is
# token b + 3, before them come padding, end and begin.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
