#!/usr/bin/env python3
# Sounds of any length with their times, by models with random weights: tokens
# and segments are transformers'.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: run_times.py --library libtfc_runtime.so --tfc tfc [--models N]
[--seed N]"""
import argparse
import os
import random
import sys
import tempfile
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "golden"),
                os.path.join(HERE, "..", "python"),
                os.path.join(HERE, "..", "..", "python")]

try:
    import numpy as np
    import torch
    import transformers as hf
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

MELS, START, END, NONE = 8, 60, 59, 65
BEFORE = 58  # what was said before a sound begins so


class Numbers:
    """A tokenizer that says ids."""

    def encode(self, text, **how):
        return types.SimpleNamespace(ids=list(map(int, text.split())))

    def decode(self, ids, skip_special=True):
        return " ".join(map(str, ids))


def make_model(draw, folder):
    """A model in a folder, as transformers has it, and its window's frames."""
    import reference
    positions = draw.choice((9, 16, 25))
    config = hf.WhisperConfig(
        vocab_size=NONE + 2 + positions, num_mel_bins=MELS, d_model=28,
        encoder_layers=1, decoder_layers=draw.randint(1, 2),
        encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=40, decoder_ffn_dim=40, max_source_positions=positions,
        max_target_positions=draw.choice((20, 40)), pad_token_id=END,
        bos_token_id=END, eos_token_id=END, decoder_start_token_id=START)
    model = reference.build(
        hf.WhisperForConditionalGeneration, config, draw.randrange(1 << 30),
        token=draw.choice((0.2, 0.3, 0.5)), position=1.5, bias=0.06)
    nearest = draw.choice((None, 0, 3, 50))
    settings = dict(
        decoder_start_token_id=START, eos_token_id=END, pad_token_id=END,
        bos_token_id=END, lang_to_id={"<|en|>": 61, "<|de|>": 62},
        task_to_id={"transcribe": 63, "translate": 64},
        prev_sot_token_id=BEFORE,
        no_timestamps_token_id=NONE, is_multilingual=True,
        max_length=config.max_target_positions,
        suppress_tokens=[5, *range(START, NONE + 1)],
        begin_suppress_tokens=[6, END])
    if nearest is not None:
        settings["max_initial_timestamp_index"] = nearest
    model.save_pretrained(folder)
    hf.GenerationConfig(**settings).save_pretrained(folder)
    model.generation_config = hf.GenerationConfig.from_pretrained(folder)
    return model, 2 * positions


def compare(draw, model, window, made):
    """One sound; what is wrong with it."""
    frames = draw.choice((window, draw.randint(window + 1, 5 * window)))
    features = torch.randn(1, MELS, frames, generator=torch.Generator(
        ).manual_seed(draw.randrange(1 << 30)))
    words = {}
    if draw.random() < 0.5:
        words["language"] = draw.choice(("en", "de", "german"))
    if draw.random() < 0.4:
        words["task"] = draw.choice(("transcribe", "translate"))
    if draw.random() < 0.3:
        words["num_beams"] = draw.randint(2, 3)
    if draw.random() < 0.3:
        words["repetition_penalty"] = 1.2
    if draw.random() < 0.5:
        words["max_new_tokens"] = draw.randint(3, 15)
    prompt, said_before = None, {}
    if draw.random() < 0.5:
        ids = [draw.randint(7, 57) for _ in range(draw.choice((1, 3, 6)))]
        prompt = " ".join(map(str, ids))
        said_before["prompt_ids"] = torch.tensor([BEFORE, *ids])
        words["max_new_tokens"] = draw.randint(3, 9)
    with torch.no_grad():
        wanted = model.generate(features, return_timestamps=True,
                                return_segments=True, **said_before, **words)
    got, = made.generate(input_features=features.numpy(),
                         return_timestamps=True, prompt=prompt, **words)
    parts = [(float(part["start"]), float(part["end"]),
              tuple(part["tokens"].tolist())) for part in wanted["segments"][0]]
    found = [(part.start, part.end, part.tokens) for part in got.segments]
    said = " ".join(str(token) for token in wanted["sequences"][0].tolist()
                    if token < NONE)
    if found != parts:
        return len(parts), [f"{frames} frames of {window}, {words}, behind "
                            f"{prompt}: expected {parts}, got {found}"]
    if got.text != said:
        return len(parts), [f"{frames} frames, {words}, behind {prompt}: "
                            f"expected {said}, got {got.text}"]
    return len(parts), []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True)
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--models", type=int, default=6)
    parser.add_argument("--sounds", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ.update(TFC=options.tfc, TFC_RUNTIME=options.library)
    import tfcompiler as tfc
    hf.logging.set_verbosity_error()
    faults, segments, sounds = [], 0, 0
    for number in range(options.models):
        draw = random.Random(1000 * options.seed + number)
        with tempfile.TemporaryDirectory() as folder:
            model, window = make_model(draw, folder)
            made = tfc.compile(folder, os.path.join(folder, "model.so"),
                               target="cpu", tokenizer=Numbers())
            for _ in range(options.sounds):
                count, found = compare(draw, model, window, made)
                faults += [f"model {number}: {fault}" for fault in found]
                segments, sounds = segments + count, sounds + 1
    for fault in faults:
        print(fault)
    print(f"{sounds} sounds of {options.models} models, {segments} segments: "
          f"{len(faults)} faults")
    # Or the sounds were too dull to say anything.
    return int(bool(faults) or segments < 2 * sounds)


if __name__ == "__main__":
    sys.exit(main())
