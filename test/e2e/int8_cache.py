#!/usr/bin/env python3
# A decoder whose cache keeps bytes, beside the same with f32: logits of texts in
# one piece and as they grew, in every program, and the tokens that it says.
#   int8_cache.py TFC TFC_RUN MODEL DRIVER
# DRIVER is what stands in for CUDA's.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import array
import json
import math
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
import tensors  # noqa: E402
from tool import Tool  # noqa: E402

PROGRAMS = {"x86-64-v3": "--target=cpu:x86-64-v3",
            "x86-64-v4-emulated": "--target=cpu:x86-64-v4-emulated",
            "plain loops": "--opt=none"}
DEVICES = {"device": ["--target=cuda:sm_80"],
           "plain loops of a device": ["--target=cuda:sm_80", "--opt=none"],
           "device bf16": ["--target=cuda:sm_80", "--dtype=bf16"]}
# Decibels: of the logits, from those with keys and values in f32.
LEAST_SNR = 35.0
ODD = 77  # a token that no text has


def batch(rows):
    longest = max(map(len, rows))
    ids = [token for row in rows for token in row + [0] * (longest - len(row))]
    mask = [int(at < len(row)) for row in rows for at in range(longest)]
    return {name: tensors.Tensor("I64", [len(rows), longest],
                                 array.array("q", values))
            for name, values in (("input_ids", ids), ("attention_mask", mask))}


def logits(tool, library, folder, rows):
    """A list of rows of logits for each text."""
    tensor = tool.run(library, folder, batch(rows))["logits"]
    longest, width = tensor.shape[1:]
    places = [(text, at) for text, row in enumerate(rows)
              for at in range(len(row))]
    return {(text, at): tensor.data[(text * longest + at) * width:
                                    (text * longest + at + 1) * width]
            for text, at in places}


def decibels(exact, got):
    signal = sum(x * x for row in exact.values() for x in row)
    noise = sum((x - y) ** 2 for place, row in exact.items()
                for x, y in zip(row, got[place]))
    return 10 * math.log10(signal / noise) if noise else math.inf


def spoil(folder):
    """The token ODD has a NaN in its row of the table, which is the head's."""
    os.mkdir("spoiled")
    for name in os.listdir(folder):
        shutil.copy(os.path.join(folder, name), "spoiled")
    path = os.path.join("spoiled", "model.safetensors")
    weights = tensors.read(path)
    table = weights["model.embed_tokens.weight"]
    table.data[ODD * table.shape[1] + 3] = {"F16": 0x7e00,
                                            "F32": math.nan}[table.dtype]
    tensors.write(path, weights)


def check_not_finite(tool, library, texts):
    clean = [[token for token in text if token != ODD] for text in texts[:2]]
    sick = clean[0][:9] + [ODD] + clean[0][9:]
    spoil("weights")
    got = logits(tool, library, "spoiled", [sick, clean[1]])
    alone = logits(tool, library, "spoiled", [clean[1]])
    for (text, at), row in got.items():
        others = [x for token, x in enumerate(row) if token != ODD]
        if text == 0 and at >= 9 and not all(map(math.isnan, others)):
            sys.exit(f"expected NaNs from place 9 on, got {others[0]} at {at}")
        if text == 0 and at < 9 and any(map(math.isnan, others)):
            sys.exit(f"expected numbers before place 9, got a NaN at {at}")
        if text == 1 and row.tobytes() != alone[0, at].tobytes():
            sys.exit("expected the bits that a text has without NaNs beside it")
    print("what is not finite is not a number, and nobody else's")


def check_near(tool, name, options, texts, exact):
    library = name.replace(" ", "-") + ".so"
    tool.compile("model.json", library, "--cache=int8", *options)
    snr = decibels(exact, logits(tool, library, "weights", texts))
    print(f"{name}: {snr:.1f} dB", file=sys.stderr)
    if not LEAST_SNR <= snr < 100:
        sys.exit(f"{name}: expected logits of rounded keys and values, "
                 f"{LEAST_SNR} dB above the noise, got {snr:.1f}")
    print(f"{name}: near")


def main():
    tfc, tfc_run, folder, driver = sys.argv[1:]
    shutil.copytree(folder, "weights")
    tool = Tool(shutil.which(tfc), shutil.which(tfc_run), ".")
    tool.import_model("weights", "model.json")
    with open(os.path.join(folder, "golden.json"), encoding="utf-8") as stream:
        texts = [[token for token in row if token]
                 for row in json.load(stream)["greedy"]]
    tool.compile("model.json", "f32.so", PROGRAMS["x86-64-v3"])
    exact = logits(tool, "f32.so", "weights", texts)
    for name, option in PROGRAMS.items():
        check_near(tool, name, [option], texts, exact)
    prompts = batch([text[:20] for text in texts])
    said = [tool.generate(library, "weights", prompts, 60)["sequences"].data
            for library in ("f32.so", "x86-64-v3.so")]
    same = sum(one == other for one, other in zip(*said)) / len(said[0])
    print(f"the same tokens: {same:.3f}", file=sys.stderr)
    if len(said[0]) != len(said[1]) or same < 1:
        sys.exit(f"expected the tokens that f32 says, got {same:.1%} of them")
    print("the tokens of f32")
    check_not_finite(tool, "x86-64-v3.so", texts)
    os.environ["TFC_CUDA_DRIVER"] = driver
    for name, options in DEVICES.items():
        check_near(tool, name, options, texts[:2],
                   {place: row for place, row in exact.items() if place[0] < 2})
    shutil.rmtree("spoiled")
    check_not_finite(tool, "device.so", texts)


if __name__ == "__main__":
    main()
