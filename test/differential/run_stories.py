#!/usr/bin/env python3
# stories260k, a real LLaMA that tells children's stories: tfc tells each of
# its golden.json word for word.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import sys

from real import as_row, check_head, main


def check(tool, library, folder, golden):
    faults, count = [], 0
    for case in golden["cases"]:
        label, wanted = f"prompt {case['prompt']!r}", case["greedy_ids"]
        inputs = {"input_ids": as_row(case["input_ids"])}
        logits = tool.run(library, folder, inputs)["logits"]
        faults += check_head(label, case["first_logits_head"], logits)
        got = tool.generate(library, folder, inputs, len(wanted))
        tokens = list(got["sequences"].data)[len(case["input_ids"]):]
        count += len(tokens)
        if tokens != wanted:
            first = next((i for i, (one, two) in enumerate(
                zip(wanted, tokens)) if one != two), len(tokens))
            faults.append(f"{label}: token {first} of {len(wanted)}: expected "
                          f"{wanted[first:first + 5]}, got "
                          f"{tokens[first:first + 5]}")
        done = tool.answer(folder, "--text", case["prompt"],
                           "--max-new-tokens", str(len(wanted)), "--eos",
                           "none", "--json")
        told = json.loads(done.stdout)["generated"][0]
        if case["text"] not in (told, case["prompt"] + told):
            faults.append(f"{label}: expected {case['text']!r}, got {told!r}")
    return faults, f"{len(golden['cases'])} stories, {count} tokens"


sys.exit(main("stories260k", check))
