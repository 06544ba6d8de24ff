# Generation by the program of a device, on the stand-in for CUDA's driver, of a
# checkpoint half of whose vocabulary is the other half again:
#   greatest.py GOLDEN
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "golden"))
import tensors  # noqa: E402
from tool import Failure, Tool  # noqa: E402

PROMPTS = [28, 75, 8, 84, 42], [90, 28, 83, 17, 43], [3, 3, 3, 3, 3]
NEW_TOKENS = 6
TABLE, NORM = "transformer.wte.weight", "transformer.ln_f.weight"
# Choices that look at logits.
READING = (["--repetition-penalty", "1.3"], ["--sample", "true"],
           ["--no-repeat-ngram", "2"])


def double(table):
    """The rows of the second half become those of the first; how many."""
    half, width = table.shape[0] // 2, table.shape[1]
    table.data[half * width:2 * half * width] = table.data[:half * width]
    return half


def store(golden, folder, stored):
    shutil.copytree(golden, folder)
    tensors.write(os.path.join(folder, "model.safetensors"), stored)
    return folder


def count_down(tool, library, folder, inputs, *options):
    """(the rows with their new tokens, bytes that the host got)."""
    os.environ["TFC_FAKECUDA"] = "races=0,counters=counted.json"
    rows = tool.generate(library, folder, inputs, NEW_TOKENS, "none",
                         *options)["sequences"]
    os.environ["TFC_FAKECUDA"] = "races=0"
    with open("counted.json", encoding="utf-8") as stream:
        return rows, json.load(stream)["copies"]["down"]


def check_tokens(tool, library, folder, rows, half):
    """Each new token is the first of the greatest logits in front of it."""
    length = rows.shape[1]
    logits = tool.run(library, folder, {"input_ids": rows})["logits"]
    width, equals = logits.shape[-1], 0
    for number, row in enumerate(rows.rows()):
        for place in range(length - NEW_TOKENS, length):
            begin = (number * length + place - 1) * width
            scores = logits.data[begin:begin + width].tolist()
            best = max(scores)
            if row[place] != scores.index(best):
                sys.exit(f"expected token {scores.index(best)} at {place} of "
                         f"row {number}, got {row[place]}")
            equals += scores.count(best) > 1
            if scores[:half] != scores[half:2 * half]:
                sys.exit("expected logits of equal rows to be equal")
    if not equals:
        sys.exit("expected a token whose logit another one has, too")


def main():
    golden, = sys.argv[1:]
    tool = Tool(shutil.which("tfc"), shutil.which("tfc-run"), ".", [])
    stored = tensors.read(os.path.join(golden, "model.safetensors"))
    half = double(stored[TABLE])
    folder = store(golden, "doubled", stored)
    tool.import_model(golden, "m.json")
    inputs = {"input_ids": tensors.Tensor(
        "I64", [len(PROMPTS), len(PROMPTS[0])], sum(PROMPTS, []))}
    vocab, chosen = stored[TABLE].shape[0], len(PROMPTS) * NEW_TOKENS
    for opt in ("none", "full"):
        library = tool.path(f"{opt}.so")
        tool.compile("m.json", library, "--target=cuda:sm_80", f"--opt={opt}")
        rows, down = count_down(tool, library, folder, inputs)
        if down != 4 * chosen:
            sys.exit(f"--opt={opt}: expected {4 * chosen} bytes for {chosen} "
                     f"tokens, got {down}")
        check_tokens(tool, library, folder, rows, half)
        for options in READING:
            _, down = count_down(tool, library, folder, inputs, *options)
            if down != 4 * vocab * chosen:
                sys.exit(f"--opt={opt} {' '.join(options)}: expected "
                         f"{4 * vocab * chosen} bytes, got {down}")
    stored[NORM].data[3] = float("nan")
    folder = store(golden, "broken", stored)
    try:
        tool.generate(tool.path("full.so"), folder, inputs, 1)
    except Failure as failure:
        if "scores that are not numbers (NaN)" in str(failure):
            return
        raise
    sys.exit("expected no token where logits are no numbers")


main()
