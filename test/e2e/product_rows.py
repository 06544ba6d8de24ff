#!/usr/bin/env python3
# A model in bf16 on a CUDA device and on the CPU, for numbers of rows on both sides
# of each choice between the kernels of a product: outputs differ by no more than
# values of 16 bits between ops do, and the first tokens' have the same bits in all
# steps that one kind of kernel does.
#   product_rows.py TFC TFC_RUN GOLDEN
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
import tensors  # noqa: E402
from tool import Tool  # noqa: E402

ROWS = (2, 40, 65)
FEW = 64  # the most that the kernels for few rows do
LEAST_SNR = 26.0  # decibels, as golden models have in bf16


def snr(wanted, got):
    signal = sum(x * x for x in wanted)
    noise = sum((x - y) ** 2 for x, y in zip(wanted, got))
    return 10 * math.log10(signal / noise) if noise else math.inf


def main():
    tfc, tfc_run, golden = sys.argv[1:]
    tool = Tool(shutil.which(tfc), shutil.which(tfc_run), ".",
                ["--dtype=bf16", "--target=cpu:x86-64-v3,cuda"])
    spec, library = tool.build(golden, "model")
    draw = random.Random(os.environ.get("TFC_SEED", "1"))
    tokens = [draw.randint(1, 90) for _ in range(max(ROWS))]
    firsts = {}
    for rows in ROWS:
        inputs = {"input_ids": tensors.Tensor("I64", [1, rows], tokens[:rows]),
                  "attention_mask": tensors.Tensor("I64", [1, rows],
                                                   [1] * rows)}
        wanted, got = (tool.run(library, golden, inputs, "--program", program)
                       for program in ("x86-64-v3", "cuda"))
        for name, tensor in wanted.items():
            near = snr(tensor.data, got[name].data)
            if near < LEAST_SNR:
                sys.exit(f"{rows} rows: expected {name} within {LEAST_SNR} dB "
                         f"of the CPU's, got {near:.1f}")
            firsts.setdefault((name, rows <= FEW), set()).add(
                got[name].rows()[0][:tensor.shape[-1]].tobytes())
    for (name, few), values in firsts.items():
        if len(values) != 1:
            sys.exit(f"{name}: expected the same bits of the first row in "
                     f"steps of {'at most' if few else 'more than'} {FEW} rows")
    print("outputs are near the CPU's, whatever the number of rows")


main()
