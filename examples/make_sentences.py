#!/usr/bin/env python3
# Writes sentences.safetensors: the token ids of sentences.json, by the MiniLM
# model's own tokenizer. Both are committed; run it when the sentences change.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: make_sentences.py MODEL_FOLDER, with transformers and safetensors."""
import json
import os
import sys

from safetensors.numpy import save_file
from transformers import AutoTokenizer

folder = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(folder, "sentences.json")) as stream:
    sentences = json.load(stream)
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
rows = tokenizer(sentences, padding=True, return_tensors="np")
save_file({name: rows[name].astype("int64")
           for name in ("input_ids", "attention_mask", "token_type_ids")},
          os.path.join(folder, "sentences.safetensors"))
