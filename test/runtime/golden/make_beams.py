#!/usr/bin/env python3
# Writes beams.txt: what transformers' generate finds with beams over a model
# whose scores are a hash of the sequence. Committed; BeamSearchTest reads it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: make_beams.py, with torch 2.13.0 and transformers 5.23.0.

The model's scores stand for logarithms of probabilities: log_softmax is left
out, so that all sums are exact and equal scores are equal.

A finished prompt of a batch is ranked again in every step in which others go
on, which swaps equal ones. So prompts that share a batch have many levels and
hardly any equal scores; alone, they have few.
"""
import os
import random
import unittest.mock

import torch
import transformers as hf

from hashing_model import HashingConfig, HashingModel

HERE = os.path.dirname(os.path.abspath(__file__))
TORCH, TRANSFORMERS = "2.13.0", "5.23.0"

# The first ones by hand: what the random ones may miss. `levels` few: many
# equal scores.
CASES = [
    dict(num_beams=4, levels=1, eos=[3]),
    dict(num_beams=4, levels=2, eos=[3]),
    dict(num_beams=4, levels=2, eos=[], vocab=600),
    dict(num_beams=4, levels=2, eos=[3], vocab=100),
    dict(num_beams=10, levels=3, eos=[3, 4], returned=10),
    dict(num_beams=2, levels=64, eos=[3], vocab=700),
    dict(num_beams=3, levels=8, eos=[3, 599], vocab=800, returned=3),
    dict(num_beams=4, eos=[3], vocab=3, max_length=9),
    dict(num_beams=5, eos=[0, 1, 2], vocab=4, max_length=9),
    dict(num_beams=4, eos=[3], prompt=1, forced_bos_token_id=5),
    dict(num_beams=4, eos=[3], forced_eos_token_id=3, returned=4),
    dict(num_beams=4, eos=[3], forced_eos_token_id=3, early_stopping=True),
    dict(num_beams=4, eos=[3], min_length=9, returned=4),
    dict(num_beams=4, eos=[3], no_repeat_ngram_size=2, max_length=16),
    dict(num_beams=3, eos=[3], no_repeat_ngram_size=1, max_length=16),
    dict(num_beams=4, eos=[3, 4, 5], length_penalty=-1.0),
    dict(num_beams=4, eos=[3, 4, 5], length_penalty=0.0),
    dict(num_beams=4, eos=[3], length_penalty=0.0, early_stopping="never"),
    dict(num_beams=4, eos=[3, 4, 5], length_penalty=-1.0,
         early_stopping="never"),
    dict(num_beams=2, eos=[3], max_length=4, prompt=3, returned=2),
    dict(num_beams=4, eos=[2], pad=2, batch=3, levels=997,
         repetition_penalty=1.3),
    dict(num_beams=4, eos=[1], pad=0, batch=3, levels=997,
         returned=2),
]

# Behind the random ones, since a case's number draws its prompts: with False
# this one ends eight tokens earlier.
LAST_CASES = [
    dict(num_beams=2, eos=[3], vocab=7, max_length=14, length_penalty=1.5,
         early_stopping="never"),
]


def random_case(seed):
    draw = random.Random(seed)
    prompt = draw.randint(1, 4)
    beams = draw.randint(2, 5)
    case = dict(num_beams=beams, returned=draw.randint(1, beams),
                vocab=draw.choice([7, 13, 20]),
                levels=draw.choice([3, 16, 64, 400]),
                prompt=prompt, max_length=prompt + draw.randint(2, 12),
                eos=draw.choice([[], [3], [3], [3, 5], [1, 2, 4]]),
                pad=draw.choice([0, 6]),
                length_penalty=draw.choice([0.5, 1.0, 2.0, -1.0]),
                early_stopping=draw.choice([False, True, "never"]))
    for key, values in dict(no_repeat_ngram_size=[2, 3], min_length=[5, 7],
                            repetition_penalty=[1.2],
                            forced_eos_token_id=[3]).items():
        if draw.random() < 0.2:
            case[key] = draw.choice(values)
    if draw.random() < 0.5:
        case.update(batch=draw.randint(2, 3), levels=50021)
    return case


def run(number, case):
    """The case with all its values, and what generate makes of it."""
    case = {**dict(vocab=13, levels=64, batch=1, prompt=2, max_length=12, pad=0,
                   returned=1, length_penalty=1.0, early_stopping=False),
            **case}
    draw = random.Random(1000 + number)
    prompts = [[draw.randrange(case["vocab"]) for _ in range(case["prompt"])]
               for _ in range(case["batch"])]
    model = HashingModel(HashingConfig(vocab_size=case["vocab"],
                                       levels=case["levels"]))
    own = ("vocab", "levels", "batch", "prompt", "returned", "eos", "pad")
    keys = {key: case[key] for key in case if key not in own}
    ids = torch.tensor(prompts)
    with unittest.mock.patch("torch.nn.functional.log_softmax",
                             lambda scores, dim: scores):
        got = model.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids),
            num_return_sequences=case["returned"], do_sample=False,
            eos_token_id=case["eos"] or None, pad_token_id=case["pad"],
            use_cache=False, return_dict_in_generate=True, output_scores=True,
            **keys)
    del case["batch"], case["prompt"]
    return {**case, "prompts": sum(prompts, []), "rows": len(prompts),
            "sequences": got.sequences.flatten().tolist(),
            "scores": got.sequences_scores.tolist()}


def main():
    assert torch.__version__.split("+")[0] == TORCH
    assert hf.__version__ == TRANSFORMERS
    hf.logging.set_verbosity_error()
    cases = CASES + [random_case(seed) for seed in range(80)] + LAST_CASES
    with open(os.path.join(HERE, "beams.txt"), "w") as out:
        for number, case in enumerate(cases):
            print("case", number, file=out)
            for key, value in run(number, case).items():
                values = value if isinstance(value, list) else [value]
                print(key, *(str(v) for v in values), file=out)


if __name__ == "__main__":
    main()
