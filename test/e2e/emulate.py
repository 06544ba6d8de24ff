#!/usr/bin/env python3
# An emulated program gives what the program for AVX2 gives, and bit for bit what
# the native one gives where there is one: that for AVX-512, or, as
#   emulate.py TFC TFC_RUN GOLDEN bf16 [PROGRAM]
# one whose products multiply bf16, which is as far from AVX2's as that rounds.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
import tensors  # noqa: E402
from distances import greatest_two  # noqa: E402
from tool import Failure, Tool  # noqa: E402

INPUTS = "inputs-ragged.safetensors"
LEAST_SNR = 40.0  # decibels
MARGIN = 6  # deviations by which the greatest logit is above the next


def outputs(tool, golden, program):
    library = tool.path(program + ".so")
    tool.compile("model.json", library, f"--target=cpu:{program}")
    inputs = tensors.read(os.path.join(golden, INPUTS))
    return tool.run(library, golden, inputs)


def check_near(name, plain, emulated):
    worst = max(abs(one - other) for one, other in
                zip(plain.data, emulated.data))
    if worst > 1e-4:
        sys.exit(f"{name}: expected what the program for AVX2 gives, got "
                 f"{worst} beside it")


def check_rounded(name, plain, rounded):
    signal = sum(x * x for x in plain.data)
    noise = sum((x - y) ** 2 for x, y in zip(plain.data, rounded.data))
    if not noise:
        sys.exit(f"{name}: expected products of bf16, got the bits of f32")
    decibels = 10 * math.log10(signal / noise)
    if not decibels >= LEAST_SNR:
        sys.exit(f"{name}: expected it {LEAST_SNR} dB above its noise, got "
                 f"{decibels:.1f}")
    if name == "logits":
        deviation = math.sqrt(noise / len(plain.data))
        width = plain.shape[-1]
        for first in range(0, len(plain.data), width):
            best, margin = greatest_two(plain.data[first:first + width])
            token, _ = greatest_two(rounded.data[first:first + width])
            if token != best and margin > MARGIN * deviation:
                sys.exit(f"{name}: expected the token {best}, {margin} above "
                         f"the next, got {token}")


def main():
    tfc, tfc_run, golden, *rounded = sys.argv[1:]
    full = (rounded[1] if rounded[1:] else
            "x86-64-v4+bf16" if rounded else "x86-64-v4")
    tool = Tool(shutil.which(tfc), shutil.which(tfc_run), ".",
                ["--dtype=bf16"] if rounded else [])
    tool.import_model(golden, "model.json")
    emulated, plain = (outputs(tool, golden, name)
                       for name in (full + "-emulated", "x86-64-v3"))
    check = check_rounded if rounded else check_near
    for name, tensor in plain.items():
        check(name, tensor, emulated[name])
    print("the tokens or values of x86-64-v3")
    try:
        native = outputs(tool, golden, full)
    except Failure as failure:
        if "the machine lacks " not in str(failure):
            raise
        print(f"no {full} here to compare with")
        return
    for name, tensor in native.items():
        if tensor.data.tobytes() != emulated[name].data.tobytes():
            sys.exit(f"{name}: expected the bits of the native program")
    print(f"the bits of {full}")


main()
