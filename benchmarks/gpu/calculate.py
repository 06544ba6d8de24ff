#!/usr/bin/env python3
# What steps would take on GPUs, calculated: tfc inspect's operations and bytes,
# at the shares of a device's peaks that kernels reach, and a time for each
# launch. With --check beside what an H200 measured.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.abspath(__file__))
SPECS = os.path.join(ROOT, "..", "..", "examples", "specs", "published")

# Of the bandwidth of the data sheet what a kernel that only reads gets: an H200
# copies at 0.875 of it, and long products reach 0.95 of that.
READS = 0.83
# The same of products of 17 to 64 rows, which read x from the second-level cache
# as often as the weights from memory: an H200's 32 sequences.
CROWDED_READS = 0.5
# The same of matrices of int4, and what is left of the tiles' share below: 4 bits
# are widened in registers, and sums scaled by groups of 32.
FOURS_READS, FOURS_TILES = 0.45, 0.5
# Seconds of a launch, its beginning and end and the gap in front of it: what is
# left of the tokens of a LLaMA and a GPT-2 XL on an H200 behind their reads.
LAUNCH = 4.2e-6
# Of tensor cores' peak what tiles reach, of sums of 4096 steps and more, of
# shorter ones, and attention of a prompt: measured on an H200 (wgmma), and by
# the instructions of the main loops elsewhere (mma.sync), where nothing ran.
TILES = {"h100": (0.57, 0.30, 0.26), "h200": (0.57, 0.30, 0.26)}
OTHER_TILES = (0.75, 0.45, 0.40)
LONG = 4096
PEAKS = re.compile(r"machine \S+: ([\d.]+) TFLOP/s.* ([\d.]+) TB/s")
OP = re.compile(r"^(\S+(?: \+ \S+)*) +\d+ +(\d+) +(\d+) +[\d.]+ +\w+ ", re.M)

MODELS = (("llama-7b", "bf16", 4096), ("gemma2-2b", "bf16", 2304),
          ("llama-7b", "int4", 4096), ("bert-base", "bf16", 768))
STEPS = ("decode:1x1024", "decode:8x1024", "decode:32x1024", "decode:128x1024",
         "prefill:1x2048")
MACHINES = ("a100", "h100", "l40s", "rtx4090")
# Milliseconds on an H200, 27 November 2026: the same shapes, but for a head.
MEASURED = (("mistral-7b", "bf16", 4096, "decode:1x1024", 5.08),
            ("mistral-7b", "bf16", 4096, "decode:8x1024", 5.45),
            ("mistral-7b", "bf16", 4096, "decode:32x1024", 8.17),
            ("mistral-7b", "bf16", 4096, "prefill:1x512", 15.39),
            ("mistral-7b", "bf16", 4096, "prefill:1x2048", 55.57),
            ("mistral-7b", "int4", 4096, "decode:1x1024", 3.33),
            ("mistral-7b", "int4", 4096, "decode:8x1024", 3.84),
            ("mistral-7b", "int4", 4096, "prefill:1x512", 28.98),
            ("bert-base", "bf16", 768, "prefill:32x128", 2.99))


def calculate(tfc, name, dtype, hidden, step, machine):
    """Milliseconds by peaks alone, and by the formula."""
    text = subprocess.run(
        [tfc, "inspect", os.path.join(SPECS, name + ".json"), "--step", step,
         "--machine", machine, "--dtype", dtype], check=True,
        capture_output=True, text=True).stdout
    peak, bandwidth = map(float, PEAKS.search(text).groups())
    launches = int(re.search(r"launches of entry .*: (\d+) of", text)[1])
    long, short, attention = TILES.get(machine, OTHER_TILES)
    limit = float(re.search(r"^total .* ([\d.]+)$", text, re.M)[1]) / 1e3
    total = launches * LAUNCH
    rows = int(re.search(r"entry \w+: (\d+) tokens", text)[1])
    weights = (FOURS_READS if dtype == "int4" else
               CROWDED_READS if 16 < rows <= 64 else READS)
    if dtype == "int4":
        long, short = long * FOURS_TILES, short * FOURS_TILES
    for path, operations, moved in OP.findall(text):
        is_attention = path.endswith(".attn")
        tiles = attention if is_attention else long if hidden >= LONG else short
        reads = READS if is_attention else weights
        total += max(int(operations) / (tiles * peak * 1e12),
                     int(moved) / (reads * bandwidth * 1e12))
    return limit, total * 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfc", default="tfc")
    parser.add_argument("--check", action="store_true",
                        help="beside what was measured")
    args = parser.parse_args()
    if args.check:
        for name, dtype, hidden, step, measured in MEASURED:
            limit, made = calculate(args.tfc, name, dtype, hidden, step, "h200")
            print(f"{name} {dtype} {step}: limit {limit:.2f} ms, calculated "
                  f"{made:.2f}, measured {measured} ({made / measured:.2f})")
        return
    print("| | " + " | ".join(MACHINES) + " |")
    print("|---" * (len(MACHINES) + 1) + "|")
    for name, dtype, hidden in MODELS:
        steps = ("prefill:32x128",) if name == "bert-base" else STEPS
        for step in steps:
            cells = []
            for machine in MACHINES:
                limit, made = calculate(args.tfc, name, dtype, hidden, step,
                                        machine)
                cells.append(f"{made:.3g} ms, {100 * limit / made:.0f} %")
            print(f"| {name} {dtype}, {step} | " + " | ".join(cells) + " |",
                  flush=True)


if __name__ == "__main__":
    main()
