#!/usr/bin/env python3
# A batch for a small LLaMA, and a copy of one in which each group of columns has
# one that is far greater than the others: four bits do not hold both.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import array
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
import tensors  # noqa: E402


def write_inputs(name):
    ids = [2] + [c % 250 + 4 for c in range(40)]
    tensors.write(name, {"input_ids": tensors.Tensor(
        "I64", [1, len(ids)], array.array("q", ids))})


def write_model(source, folder):
    shutil.copytree(source, folder)
    name = os.path.join(folder, "model.safetensors")
    weights = tensors.read(name)
    for key, tensor in weights.items():
        if key.endswith("proj.weight"):
            for at in range(0, len(tensor.data), 32):
                # Of f16, the exponent.
                bits = tensor.data[at]
                exponent = min((bits >> 10 & 31) + 3, 30)
                tensor.data[at] = bits & 0x83ff | exponent << 10
    tensors.write(name, weights)


if sys.argv[1] == "inputs":
    write_inputs(*sys.argv[2:])
else:
    write_model(*sys.argv[2:])
