#!/usr/bin/env python3
# Draws random models, lets Hugging Face and tfc run them, and compares. A
# failure is made as small as possible and printed with the command to repeat.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import contextlib
import copy
import json
import os
import random
import sys
import tempfile
import time
import unittest.mock

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

import draw_pairs
import families
import hashes
import reference
import sentence
import tensors
from compare import check_floats, check_names
from tool import Failure, Tool

# Below this the second-best token may win by rounding.
MARGIN = 1e-3
# Of these a pad token has no position, wherever it stands.
PAD_IS_NO_TOKEN = ("M2M100ForConditionalGeneration",
                   "FSMTForConditionalGeneration")
# Without its cache a token sees those that come later, or the start is hidden,
# being a pad token.
CACHED = ("FSMTForConditionalGeneration", "T5GemmaForConditionalGeneration")
# How often rounding is tried before a difference is called more than that.
SAMPLES = 16


def to_plain(values):
    """torch tensors as those of tensors.py."""
    names = {torch.int32: "I32", torch.int64: "I64", torch.float32: "F32"}
    return {name: tensors.Tensor(names[value.dtype], value.shape,
                                 value.flatten().tolist())
            for name, value in values.items()}


def check_tokens(case, inputs, model, got):
    """Tokens must agree up to the first that rounding could decide."""
    pair = "decoder_rows" in case
    # The cache of transformers has as many layers as T5's encoder, and with a
    # window of 1 it keeps everything ("-sliding_window + 1" is the first key).
    options = {}
    if (pair and case["class"] not in CACHED) or case.get("window") == 1:
        options["use_cache"] = False
    wanted, margins = reference.search(model, inputs, case["generate"],
                                       **options)
    start = 1 if pair else inputs["input_ids"].shape[1]
    rows = [row.tolist() for row in got["sequences"].rows()]
    faults = []
    if case["class"] in PAD_IS_NO_TOKEN:
        # transformers counts what follows a pad token in more ways than one.
        margins = [[value if 1 not in wanted[row, 1:start + i].tolist() else 0
                    for i, value in enumerate(margin)]
                   for row, margin in enumerate(margins)]
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


def settle_routers(model):
    """Scores of experts that differ in f32: where many inputs make few scores,
    random weights make them so large that their sigmoids are all 1, and which
    of equals topk takes it does not say."""
    with torch.no_grad():
        for module in model.modules():
            if not type(module).__name__.endswith("Router"):
                continue
            for value in module.parameters():
                if value.dim() == 2:
                    value.mul_((min(value.shape) / value.shape[1]) ** 0.5)


def make_model(case, weights):
    """Writes the folder; returns what transformers computes by it."""
    family = families.family_of(case["class"])
    cls = families.class_of(hf, case["class"])
    module = families.MODULES[family]
    model = reference.build(cls, module.make_config(hf, case), case["seed"],
                            **families.SCALES[family])
    settle_routers(model)
    if "decoder_rows" in case:
        if module is draw_pairs:
            draw_pairs.untie(torch, case, model)
        if case["class"].endswith(("ForConditionalGeneration",
                                   "MarianMTModel")):
            model.generation_config = hf.GenerationConfig(
                **module.generation(case))
    model.to(getattr(torch, case["dtype"])).save_pretrained(
        weights, **({"max_shard_size": "60KB"} if case["shards"] else {}))
    if case.get("sentence"):
        sentence.write_modules(torch, weights, case)
    if family in ("bert", "gpt2"):
        return model.float()
    path = os.path.join(weights, "config.json")
    with open(path) as stream:
        keys = json.load(stream)
    if hasattr(module, "patch_config"):
        module.patch_config(case, keys)
    with open(path, "w") as stream:
        json.dump(keys, stream)
    # Not the model at hand: its angles went through the narrow type, too.
    return reference.load(cls, weights, dtype=torch.float32)


def forward(case, model, inputs):
    """What tfc is to compute."""
    outputs = reference.forward(model, inputs)
    if not case.get("sentence"):
        return outputs
    return sentence.embed(torch, outputs, inputs, case)


def make_inputs(case):
    module = families.MODULES[families.family_of(case["class"])]
    return {name: value if value.is_floating_point() else
            value.to(getattr(torch, case["integers"]))
            for name, value in module.make_inputs(torch, case).items()}


def settled_inputs(case, model):
    """Those of the case; of others by its seed, where a hash is near a tie."""
    def attempt(number):
        inputs = make_inputs(dict(case, seed=case["seed"] + number))
        forward(case, model, inputs)
        return inputs

    return hashes.settle(attempt)


def moved(model, seed):
    """The model with each weight moved by up to a unit in its last place."""
    generator = torch.Generator().manual_seed(seed)
    model = copy.deepcopy(model)
    with torch.no_grad():
        for value in model.parameters():
            value.mul_(1 + (2 * torch.rand(value.shape, generator=generator)
                            - 1) * torch.finfo(value.dtype).eps)
    return model


def is_rounding(case, model, inputs, name, got):
    """Whether no value of tfc is further from transformers in f64 than
    transformers in f32 is at its worst, by these weights or by some that f32
    can hardly tell from them: a random model can magnify rounding beyond the
    tolerance (T5's scores are not scaled, a norm may divide by little), which
    says nothing of either. One sample is not enough: transformers' own is
    small by chance as often as tfc's. Never with a NaN."""
    def result(model):
        return forward(case, model, inputs)[name].double()

    # Its norms and softmaxes ask for f32 by name, and f64's smallest number,
    # its mask, is -inf there: NaN where all is masked.
    with contextlib.ExitStack() as stack:
        stack.enter_context(hashes.same_rotations())
        stack.enter_context(unittest.mock.patch.object(
            torch, "float32", torch.float64))
        if case["class"].startswith("FSMT"):  # its mask asks for a method
            stack.enter_context(unittest.mock.patch.object(
                torch.Tensor, "float", torch.Tensor.double))
        exact = result(copy.deepcopy(model).double())
    samples = [model] + [moved(model, seed) for seed in range(SAMPLES)]
    worst = max((result(one) - exact).abs().max() for one in samples)
    values = torch.tensor(got.data, dtype=torch.float64)
    return bool(((values - exact.flatten()).abs() <= worst).all())


def check_case(case, options):
    """The differences between Hugging Face and tfc, as messages."""
    with tempfile.TemporaryDirectory(prefix="tfc-differential-") as scratch:
        tool = Tool(options.tfc, options.tfc_run, scratch)
        weights = tool.path("weights")
        model = make_model(case, weights)
        hashed = hasattr(model.config, "hash_seed")
        inputs = settled_inputs(case, model) if hashed else make_inputs(case)
        try:
            _, library = tool.build(weights, "model")
            threads = ("--threads", str(case["threads"]))
            got = tool.run(library, weights, to_plain(inputs), *threads)
            expected = to_plain(forward(case, model, inputs))
            faults = check_names(expected, got)
            if not faults:
                for name in expected:
                    found = check_floats(name, expected[name], got[name])
                    if found and not is_rounding(case, model, inputs, name,
                                                 got[name]):
                        faults += found
            if case["generate"]:
                prompt = {name: value for name, value in inputs.items()
                          if not name.startswith("decoder_")}
                got = tool.generate(library, weights, to_plain(prompt),
                                    case["generate"], None, *threads)
                faults += check_tokens(case, prompt, model, got)
        except Failure as failure:
            return [str(failure)]
    return faults


def shrink(case, options, deadline):
    """Takes simpler cases as long as they fail."""
    while time.time() < deadline:
        for one in families.smaller(case):
            if time.time() > deadline:
                break
            try:
                fails = check_case(one, options)
            except Exception:  # transformers cannot run what it became
                continue
            if fails:
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
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("TFC_SEED", "0")),
                        help="of the draws; 0: a new one")
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

    seed = options.seed or random.randrange(1, 1 << 30)
    print(f"seed {seed} (--seed {seed} or TFC_SEED repeats the run)",
          flush=True)
    source = random.Random(seed)
    start = time.time()
    for number in range(options.count):
        if time.time() - start > options.seconds:
            print(f"stopped after {number} cases: the time is over")
            break
        case = families.draw_case(source, options.classes)
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
