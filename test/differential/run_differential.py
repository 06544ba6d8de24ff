#!/usr/bin/env python3
# Draws random models, lets Hugging Face and tfc run them, and compares. A
# failure is made as small as possible and printed with the command to repeat.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import random
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "..", "golden"))
# What ctest takes for "skipped".
SKIPPED = 77

try:
    import torch
    import transformers as hf
except ImportError as error:
    print(f"skipped: {error} (the differential test compares with torch and "
          "transformers)")
    sys.exit(SKIPPED)

import draw
import reference
import tensors
from compare import check_floats, check_names
from tool import Failure, Tool

# Below this the second-best token may win by rounding.
MARGIN = 1e-3


def make_config(case):
    if case["class"] in draw.BERT:
        return hf.BertConfig(
            vocab_size=case["vocab"], hidden_size=case["hidden"],
            num_hidden_layers=case["layers"],
            num_attention_heads=case["heads"],
            intermediate_size=case["width"], hidden_act=case["act"],
            max_position_embeddings=case["positions"],
            type_vocab_size=case["types"], layer_norm_eps=case["eps"],
            tie_word_embeddings=case["tie"], num_labels=2 if
            case["class"] == "BertForQuestionAnswering" else case["labels"])
    return hf.GPT2Config(
        vocab_size=case["vocab"], n_embd=case["hidden"],
        n_layer=case["layers"], n_head=case["heads"], n_inner=case["width"],
        n_positions=case["positions"], activation_function=case["act"],
        layer_norm_epsilon=case["eps"], scale_attn_weights=case["scale"],
        scale_attn_by_inverse_layer_idx=case["scale_by_layer"],
        tie_word_embeddings=case["tie"], bos_token_id=None,
        eos_token_id=case["eos"], pad_token_id=0, num_labels=case["labels"])


def make_inputs(case):
    generator = torch.Generator().manual_seed(case["seed"])

    def draw_below(limit):
        return torch.randint(0, limit, mask.shape, generator=generator)

    mask = torch.tensor(case["rows"])
    bert = case["class"] in draw.BERT
    inputs = {"input_ids": draw_below(case["vocab"])}
    if case["class"] == "GPT2ForSequenceClassification":
        # The last token that is not the pad must be one that is not masked.
        inputs["input_ids"].clamp_(min=1)
        inputs["input_ids"][mask == 0] = 0
    if case["given_mask"] or not bool(mask.all()):
        inputs["attention_mask"] = mask
    if case["given_types"]:
        inputs["token_type_ids"] = draw_below(
            case["types"] if bert else case["vocab"])
    if case["given_positions"]:
        # Generation counts on from them.
        inputs["position_ids"] = draw_below(
            case["positions"] - case["generate"])
    return {name: value.to(getattr(torch, case["integers"]))
            for name, value in inputs.items()}


def to_plain(values):
    """torch tensors as those of tensors.py."""
    names = {torch.int32: "I32", torch.int64: "I64", torch.float32: "F32"}
    return {name: tensors.Tensor(names[value.dtype], value.shape,
                                 value.flatten().tolist())
            for name, value in values.items()}


def check_tokens(case, inputs, model, got):
    """Tokens must agree up to the first that rounding could decide."""
    wanted, margins = reference.search(model, inputs, case["generate"])
    start = inputs["input_ids"].shape[1]
    rows = [row.tolist() for row in got["sequences"].rows()]
    faults = []
    for row, margin in enumerate(margins):
        sure = next((i for i, value in enumerate(margin) if value < MARGIN),
                    len(margin))
        expected = wanted[row, start:start + sure].tolist()
        found = rows[row][start:start + sure]
        if expected != found:
            faults.append(f"sequences: row {row}: expected {expected}, got "
                          f"{found}")
    decided = all(min(margin) >= MARGIN for margin in margins)
    if decided and wanted.tolist() != rows:
        faults.append(f"sequences: expected {wanted.tolist()}, got {rows}")
    return faults


def check_case(case, options):
    """The differences between Hugging Face and tfc, as messages."""
    model = reference.build(getattr(hf, case["class"]), make_config(case),
                            case["seed"], token=0.3, position=1.5)
    with tempfile.TemporaryDirectory(prefix="tfc-differential-") as scratch:
        tool = Tool(options.tfc, options.tfc_run, scratch)
        weights = tool.path("weights")
        model.to(getattr(torch, case["dtype"])).save_pretrained(
            weights, **({"max_shard_size": "60KB"} if case["shards"] else {}))
        model.float()
        inputs = make_inputs(case)
        try:
            _, library = tool.build(weights, "model")
            threads = ("--threads", str(case["threads"]))
            got = tool.run(library, weights, to_plain(inputs), *threads)
            expected = to_plain(reference.forward(model, inputs))
            faults = check_names(expected, got)
            if not faults:
                for name in expected:
                    faults += check_floats(name, expected[name], got[name])
            if case["generate"]:
                got = tool.generate(library, weights, to_plain(inputs),
                                    case["generate"], None, *threads)
                faults += check_tokens(case, inputs, model, got)
        except Failure as failure:
            return [str(failure)]
    return faults


def shrink(case, options, deadline):
    """Takes simpler cases as long as they fail."""
    while time.time() < deadline:
        for one in draw.smaller(case):
            if time.time() > deadline:
                break
            if check_case(one, options):
                case = one
                break
        else:
            break
    return case


def report(case, options):
    print("\n".join(check_case(case, options)), file=sys.stderr)
    print("smallest failing case; to repeat:\n"
          f"  {sys.executable} {os.path.abspath(__file__)} --tfc {options.tfc}"
          f" --tfc-run {options.tfc_run} --case '{json.dumps(case)}'",
          file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(
        description="compares random models with Hugging Face, live")
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", required=True)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=200,
                        help="draw no more cases after this time")
    parser.add_argument("--classes", nargs="+", metavar="CLASS",
                        help="only these classes of transformers")
    parser.add_argument("--case", help="one case, as a failure prints it")
    options = parser.parse_args()
    if options.case:
        faults = check_case(json.loads(options.case), options)
        print("\n".join(faults) or "ok")
        return 1 if faults else 0

    seed = random.randrange(1 << 30) if options.seed is None else options.seed
    print(f"seed {seed} (--seed {seed} repeats the run)", flush=True)
    source = random.Random(seed)
    start = time.time()
    for number in range(options.count):
        if time.time() - start > options.seconds:
            print(f"stopped after {number} cases: the time is over")
            break
        case = draw.draw_case(source, options.classes)
        if check_case(case, options):
            print(f"case {number} failed: {json.dumps(case)}",
                  file=sys.stderr)
            report(shrink(case, options, time.time() + options.seconds),
                   options)
            return 1
        print(f"ok {number}: {case['class']}, {case['layers']} layers, hidden "
              f"{case['hidden']}, {len(case['rows'])} x "
              f"{len(case['rows'][0])} tokens", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
