#!/usr/bin/env python3
# bart-g2p-us, a real BART that says how English words are spoken: tfc gives the
# phonemes of its golden.json, greedily and by four beams.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import sys

from real import as_batch, as_row, check_head, main
from tool import decoding_options

START, PAD, END, LONGEST = 1, 0, 2, 50


def without_padding(tokens):
    # Beams fill with the end token where the pad token is 0, as generate does.
    return list(tokens[:tokens.index(END) + 1] if END in tokens else tokens)


def check(tool, library, folder, golden):
    faults, cases = [], golden["cases"]
    rows = [case["input_ids"] for case in cases]

    def generate(inputs, key):
        ways = {"greedy_ids": {}, "beam4_ids": {"num_beams": 4}}
        got = tool.generate(library, folder, inputs, LONGEST - 1, None,
                            *decoding_options(ways[key]))
        return [without_padding(row) for row in got["sequences"].rows()]

    for case in cases:
        logits = tool.run(library, folder, {
            "input_ids": as_row(case["input_ids"]),
            "decoder_input_ids": as_row([START])})["logits"]
        faults += check_head(case["input"], case["first_logits_head"], logits)
    letters = os.path.join(folder, "target_tokenizer.json")
    texts = sum((["--text", case["input"]] for case in cases), [])
    for key, beams in (("greedy", "1"), ("beam4", "4")):
        done = tool.answer(folder, "--output-tokenizer", letters, "--beams",
                           beams, *texts)
        lines = done.stdout.splitlines()
        if len(lines) != len(cases):
            faults.append(f"expected {len(cases)} lines, got {len(lines)}")
        for case, spoken in zip(cases, lines):
            if spoken != case[key]:
                faults.append(f"{case['input']}: {key} by text: expected "
                              f"{case[key]!r}, got {spoken!r}")
    for key in ("greedy_ids", "beam4_ids"):
        together = generate(as_batch(rows, PAD), key)
        for case, row, batched in zip(cases, rows, together):
            alone = generate({"input_ids": as_row(row)}, key)[0]
            for label, tokens in (("alone", alone), ("batched", batched)):
                if tokens != case[key]:
                    faults.append(f"{case['input']}: {key} {label}: expected "
                                  f"{case[key]}, got {tokens}")
    return faults, f"{len(cases)} words, greedily and by beams"


sys.exit(main("bart-g2p-us", check))
