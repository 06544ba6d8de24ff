#!/usr/bin/env python3
# Runs the GGUF files that llama.cpp's converter wrote, and compares their
# logits with what Hugging Face computed of the folders.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "golden"))
from compare import check_floats  # noqa: E402
from tensors import Tensor, read, write  # noqa: E402

FILES = os.path.join(HERE, "..", "golden", "gguf")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: expected no error, got\n"
                         f"{done.stderr[:2000]}")
    return done.stderr


def check(name):
    file = os.path.join(FILES, name + ".gguf")
    expected = read(os.path.join(FILES, name + ".safetensors"))
    ids = expected["input_ids"]
    count = len(ids.data)
    write("inputs.safetensors", {
        "input_ids": Tensor("I32", [1, count], ids.data),
        "attention_mask": Tensor("I32", [1, count], [1] * count)})
    said = run("tfc", "import", file, "-o", "model.json")
    # Of tensors that have no effect, and keys that it does not know.
    if "warning" in said and "more than 60 positions" not in said:
        raise SystemExit(f"{name}: expected no warning, got\n{said}")
    run("tfc", "compile", "model.json", "-o", "model.so", "--dtype", "f32",
        "--target=cpu:x86-64-v3")
    run("tfc-run", "./model.so", "--weights", file, "--inputs",
        "inputs.safetensors", "--outputs", "outputs.safetensors")
    output, = expected.keys() - {"input_ids"}
    got = read("outputs.safetensors")[output]
    expected[output].shape = got.shape
    return check_floats(name, expected[output], got)


parser = argparse.ArgumentParser()
parser.add_argument("names", nargs="*")
given = parser.parse_args()
names = given.names or sorted(each[:-5] for each in os.listdir(FILES)
                              if each.endswith(".gguf"))
faults = [fault for name in names
          for fault in check(name)]
print(f"{len(names)} files, {len(faults)} differ")
sys.exit("\n".join(faults) or None)
