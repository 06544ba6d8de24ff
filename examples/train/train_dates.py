#!/usr/bin/env python3
# Trains models/dates-iso: an encoder-decoder that reads a date as people write
# it and writes its ISO form. Packages: requirements.txt.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import itertools

import torch
from transformers import BartConfig, BartForConditionalGeneration

import dates
import training  # Makes the modules of the folder above known.
import text


NAME = "dates-iso"
PROMPTS = ["the third of March, nineteen ninety-four", "Mar 3rd 1994",
           "3-Mar-94", "Thursday, 14 July 2033", "24.12.1901",
           "february twenty-ninth, two thousand", "3/4/1994"]


def make_model():
    return BartForConditionalGeneration(BartConfig(
        vocab_size=text.VOCABULARY, d_model=128, max_position_embeddings=96,
        encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=320, decoder_ffn_dim=320,
        dropout=0.0, attention_dropout=0.0, activation_dropout=0.0,
        init_std=0.05, pad_token_id=text.PAD, bos_token_id=text.BEGIN,
        eos_token_id=text.END, decoder_start_token_id=text.BEGIN,
        forced_eos_token_id=text.END))


def make_batches(size):
    pairs = dates.make_pairs(training.SEED)
    while True:
        # Texts of one length beside each other: little padding.
        chunk = sorted(itertools.islice(pairs, 8 * size),
                       key=lambda pair: len(pair[0]))
        batches = [chunk[i:i + size] for i in range(0, len(chunk), size)]
        for index in torch.randperm(len(batches)).tolist():
            inputs = text.make_inputs([t for t, _ in batches[index]], True)
            yield {**{name: torch.tensor(rows)
                      for name, rows in inputs.items()},
                   "labels": torch.tensor([text.to_ids(iso) + [text.END]
                                           for _, iso in batches[index]])}


def generate(model, texts, **options):
    inputs = {name: torch.tensor(rows)
              for name, rows in text.make_inputs(texts, True).items()}
    with torch.no_grad():
        return model.generate(**inputs, **options).tolist()


def measure(model, count):
    """Of held-out dates: how many are right, of those with one reading; and
    of the others, how often two beams are the two readings."""
    pairs = list(itertools.islice(dates.make_pairs(1, held_out=True), count))
    right, plain, both, double = 0, 0, 0, 0
    for begin in range(0, count, 500):
        chunk = pairs[begin:begin + 500]
        single = [p for p in chunk if len(dates.readings(*p)) == 1]
        answers = generate(model, [t for t, _ in single])
        plain += len(single)
        for (given, iso), ids in zip(single, answers):
            right += text.to_text(ids) == iso
            if text.to_text(ids) != iso and plain < 4000:
                print(f"wrong: {given} -> {text.to_text(ids)}")
        twofold = [p for p in chunk if len(dates.readings(*p)) == 2]
        answers = generate(model, [t for t, _ in twofold], num_beams=4,
                           num_return_sequences=2)
        double += len(twofold)
        for index, pair in enumerate(twofold):
            both += dates.readings(*pair) == {
                text.to_text(ids) for ids in answers[2 * index:2 * index + 2]}
    print(f"held out: {right} of {plain} right ({100 * right / plain:.2f} %); "
          f"both readings in {both} of {double} ({100 * both / double:.2f} %)")


def main():
    parser = argparse.ArgumentParser(description="trains dates-iso")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--measure", type=int, default=20000)
    options = parser.parse_args()
    training.prepare()
    model = make_model()
    print(f"{model.num_parameters()} parameters")
    training.train(model, make_batches(options.batch), options.steps,
                   options.rate)
    model.generation_config.max_length = len("b1994-03-03e")
    folder, model = training.save(model, NAME)
    measure(model, options.measure)
    training.save_golden(folder, {
        "prompts": PROMPTS,
        "greedy": generate(model, PROMPTS, num_beams=1),
        # Two sequences a prompt, the better one first.
        "beams": generate(model, PROMPTS, num_beams=4,
                          num_return_sequences=2)})


if __name__ == "__main__":
    main()
