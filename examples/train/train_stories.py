#!/usr/bin/env python3
# Trains models/stories-tiny: a decoder that continues the beginning of a short
# story. Packages: requirements.txt.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import itertools

import torch
from transformers import LlamaConfig, LlamaForCausalLM

import stories
import training  # Makes the modules of the folder above known.
import text

NAME = "stories-tiny"
LONGEST = 512
PROMPTS = ["Once upon a time a small fox named Mina lived by the river.",
           "It was the birthday of Hugo the owl",
           "One night the wind blew the roof off the house of Leo, a brave "
           "mouse who lived",
           "Zora the snail lived near the sea and was afraid of"]


def make_model():
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=text.VOCABULARY, hidden_size=128, intermediate_size=320,
        num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=LONGEST, tie_word_embeddings=True,
        initializer_range=0.05, pad_token_id=text.PAD, bos_token_id=text.BEGIN,
        eos_token_id=text.END))


def make_batches(size, seed):
    source = stories.make_stories(seed)
    while True:
        rows = [[text.BEGIN] + text.to_ids(story) + [text.END]
                for story in itertools.islice(source, size)]
        # Padding is behind and is not learned: no mask is needed.
        yield {"input_ids": training.pad(rows, text.PAD),
               "labels": training.pad(rows, -100)}


def generate(model, prompts, **options):
    inputs = {name: torch.tensor(rows)
              for name, rows in text.make_inputs(prompts, False).items()}
    with torch.no_grad():
        return model.generate(**inputs, max_length=LONGEST,
                              **options).tolist()


def measure(model, count):
    """Of stories with held-out heroes, continued from their first sentence:
    how many are whole stories of the grammar."""
    right = 0
    source = stories.make_stories(1, held_out=True)
    for begin in range(0, count, 100):
        prompts = [story.split(". ")[0] + "." for story in
                   itertools.islice(source, min(100, count - begin))]
        for ids in generate(model, prompts):
            story = text.to_text(ids)
            good = stories.parse_story(story) is not None
            right += good
            if not good and begin == 0:
                print(f"no story: {story}")
    print(f"held out: {right} of {count} continuations are right "
          f"({100 * right / count:.1f} %)")


def main():
    parser = argparse.ArgumentParser(description="trains stories-tiny")
    parser.add_argument("--steps", type=int, default=1400)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--measure", type=int, default=500)
    parser.add_argument("--seed", type=int, default=training.SEED,
                        help="of the stories")
    parser.add_argument("--more", action="store_true",
                        help="go on from the weights that are there")
    options = parser.parse_args()
    training.prepare()
    model = training.load(LlamaForCausalLM, NAME) if options.more else \
        make_model()
    print(f"{model.num_parameters()} parameters")
    training.train(model, make_batches(options.batch, options.seed),
                   options.steps, options.rate)
    folder, model = training.save(model, NAME)
    measure(model, options.measure)
    training.save_golden(folder, {"prompts": PROMPTS,
                                  "greedy": generate(model, PROMPTS)})


if __name__ == "__main__":
    main()
