#!/usr/bin/env python3
# Writes scores.txt: rows of scores before and after the logits processors that
# transformers' generate makes of its options. Committed; ScoresTest reads it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: make_scores.py, with torch 2.13.0 and transformers 5.23.0."""
import os
import random

import torch
import transformers as hf
from transformers.generation.logits_process import \
    WhisperTimeStampLogitsProcessor

from hashing_model import HashingConfig, HashingModel

HERE = os.path.dirname(os.path.abspath(__file__))
TORCH, TRANSFORMERS = "2.13.0", "5.23.0"

# Options of generate, and of the rows: prompt (its length), padding (masked
# tokens at the row's begin), grid (scores are multiples of 1/grid: a coarse one
# has many equal scores), width, flat (all scores are 0), ends (its last
# tokens). timestamp_begin and max_initial_timestamp are Whisper's rule.
CASES = {
    "nothing": {},
    "repetition": dict(repetition_penalty=1.3),
    "repetition-reward": dict(repetition_penalty=0.7),
    "repetition-padded": dict(repetition_penalty=1.3, padding=4),
    "repetition-beyond": dict(repetition_penalty=2.0, width=9),
    "ngram-1": dict(no_repeat_ngram_size=1),
    "ngram-2": dict(no_repeat_ngram_size=2, width=9),
    "ngram-3": dict(no_repeat_ngram_size=3, width=5, length=40),
    "ngram-padded": dict(no_repeat_ngram_size=2, padding=3, width=9),
    "ngram-all": dict(no_repeat_ngram_size=12),
    "ngram-longer": dict(no_repeat_ngram_size=13),
    "min-length-below": dict(min_length=13),
    "min-length-reached": dict(min_length=12),
    "min-length-one-eos": dict(min_length=13, eos_token_id=4),
    "min-length-no-eos": dict(min_length=13, eos_token_id=None),
    "min-new-below": dict(min_new_tokens=5, prompt=8),
    "min-new-reached": dict(min_new_tokens=4, prompt=8),
    "forced-bos": dict(forced_bos_token_id=6, length=1, prompt=1),
    "forced-bos-late": dict(forced_bos_token_id=6, length=2, prompt=1),
    "forced-eos": dict(forced_eos_token_id=4, max_length=13),
    "forced-eos-early": dict(forced_eos_token_id=4, max_length=14),
    "temperature": dict(do_sample=True, temperature=0.7),
    "top-k": dict(do_sample=True, top_k=5),
    "top-k-equal": dict(do_sample=True, top_k=7, grid=1),
    "top-k-wide": dict(do_sample=True, top_k=50),
    "top-k-all": dict(do_sample=True, top_k=40),
    "top-k-beams": dict(do_sample=True, top_k=1, num_beams=4),
    "top-p": dict(do_sample=True, top_p=0.6),
    "top-p-most": dict(do_sample=True, top_p=0.999),
    "top-p-none": dict(do_sample=True, top_p=0.0),
    "top-p-beams": dict(do_sample=True, top_p=0.1, num_beams=4),
    "top-p-wide": dict(do_sample=True, top_p=0.9, width=300),
    "top-p-exact": dict(do_sample=True, top_p=0.75, width=4, flat=True),
    "min-p": dict(do_sample=True, min_p=0.05),
    "min-p-one": dict(do_sample=True, min_p=1.0),
    "min-p-beams": dict(do_sample=True, min_p=1.0, num_beams=4),
    "min-p-equal": dict(do_sample=True, min_p=1.0, num_beams=4, grid=0.25,
                        width=8),
    "warpers": dict(do_sample=True, temperature=1.5, top_k=20, top_p=0.9,
                    min_p=0.02),
    "warpers-after-ngrams": dict(do_sample=True, temperature=0.9, top_k=6,
                                 top_p=0.9, no_repeat_ngram_size=1,
                                 repetition_penalty=1.2),
    "warpers-not-sampled": dict(temperature=1.5, top_k=20, top_p=0.9,
                                min_p=0.02),
    "all": dict(do_sample=True, repetition_penalty=1.1, no_repeat_ngram_size=2,
                min_length=20, min_new_tokens=9, forced_eos_token_id=4,
                max_length=30, temperature=0.8, top_k=12, top_p=0.95,
                min_p=0.01, padding=2, prompt=6),
    **{"times-" + name: dict(eos_token_id=20, timestamp_begin=25, **how)
       for name, how in {
           "first": dict(prompt=12),
           "first-near": dict(prompt=12, max_initial_timestamp=3),
           "first-far": dict(prompt=12, max_initial_timestamp=99),
           "one": dict(prompt=11, ends=[28]),
           "text": dict(ends=[26, 3, 4]),
           "none": dict(prompt=11, ends=[3]),
           "second": dict(ends=[26, 3, 30]),
           "pair": dict(ends=[26, 3, 30, 30]),
           "behind-pair": dict(ends=[26, 3, 30, 31, 5]),
           "in-prompt": dict(prompt=10, ends=[39, 39, 4, 5]),
           "last": dict(ends=[26, 3, 39, 2]),
           "close": dict(ends=[26, 3], grid=1),
           "flat": dict(ends=[26, 3], flat=True),
           "drawn": dict(ends=[26, 3], do_sample=True, temperature=3.0,
                         top_k=5),
           "penalized": dict(ends=[26, 3, 3], repetition_penalty=1.7,
                             no_repeat_ngram_size=1),
       }.items()},
}
ROWS = ("length", "prompt", "padding", "grid", "width", "flat", "ends")


def of_times(times, prompt, eos):
    """As generate of Whisper makes it."""
    if not times:
        return []
    config = hf.GenerationConfig(
        eos_token_id=eos, no_timestamps_token_id=times["timestamp_begin"] - 1,
        max_initial_timestamp_index=times.get("max_initial_timestamp"))
    return [WhisperTimeStampLogitsProcessor(config, begin_index=prompt)]


def run(name, options):
    """(values of the case, in the words of ScoresTest)."""
    rows = dict(length=12, prompt=7, padding=0, grid=64, width=40, flat=False)
    rows.update({key: options[key] for key in ROWS if key in options})
    keys = {key: options[key] for key in options if key not in ROWS}
    eos = keys.pop("eos_token_id", [4, 7])
    times = {key: keys.pop(key) for key in list(keys) if "timestamp" in key}
    random.seed(name)
    width, length = rows["width"], rows["length"]
    # Tokens beyond the scores exist where an embedding is larger than a head.
    top = width + 3 if name == "repetition-beyond" else width
    tokens = [random.randrange(top) for _ in range(length)]
    if "ends" in rows:
        tokens[-len(rows["ends"]):] = rows["ends"]
    grid = rows["grid"]
    scores = [0.0 if rows["flat"] else
              random.randrange(int(-8 * grid), int(8 * grid) + 1) / grid
              for _ in range(width)]
    config = hf.GenerationConfig(**{"top_k": 0, "eos_token_id": eos, **keys})
    model = HashingModel(HashingConfig(vocab_size=width))
    model._prepare_special_tokens(config)
    mask = [[0] * rows["padding"] + [1] * (length - rows["padding"])]
    processors = model._get_logits_processor(
        config, input_ids_seq_length=rows["prompt"],
        model_kwargs={"attention_mask": torch.tensor(mask)},
        logits_processor=of_times(times, rows["prompt"], eos))
    after = processors(torch.tensor([tokens]), torch.tensor([scores]))
    eos = [eos] if isinstance(eos, int) else eos or []
    return {**keys, **times, "eos": eos, "prompt": rows["prompt"],
            "padding": rows["padding"], "tokens": tokens, "before": scores,
            "after": after[0].tolist()}


def main():
    assert torch.__version__.split("+")[0] == TORCH
    assert hf.__version__ == TRANSFORMERS
    with open(os.path.join(HERE, "scores.txt"), "w") as out:
        for name, options in CASES.items():
            print("case", name, file=out)
            for key, value in run(name, options).items():
                values = value if isinstance(value, list) else [value]
                print(key, *(str(v) for v in values), file=out)


if __name__ == "__main__":
    main()
