# Runs a model of pictures with wrong inputs, and checks what is said of them:
# bad_patches.py TFC_RUN LIBRARY WEIGHTS.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "..", "golden"))

import tensors
from tensors import Tensor

tfc_run, library, weights = sys.argv[1:]


def floats(*shape):
    count = 1
    for size in shape:
        count *= size
    return Tensor("F32", shape, [0.5] * count)


def ids(*shape):
    count = shape[0] * shape[1]
    return Tensor("I64", shape, [1] * count)


PATCHES = 'input "patches": '
CASES = (
    ({}, PATCHES + "expected a tensor, got none"),
    ({"input_ids": ids(1, 10)},
     'input "input_ids": expected one of patches, position_ids, attention_mask,'
     " got another name"),
    ({"patches": ids(1, 9)}, PATCHES + "expected dtype F32, got another"),
    ({"patches": floats(1, 9, 24)},
     PATCHES + "expected shape [batch, length, 25], each at least 1, got "
     "[1, 9, 24]"),
    ({"patches": floats(9, 25)},
     PATCHES + "expected shape [batch, length, 25], each at least 1, got "
     "[9, 25]"),
    ({"patches": floats(1, 10, 25)},
     PATCHES + "expected a length of at most 10 (the model's positions), got "
     "11"),
    ({"patches": floats(2, 9, 25), "attention_mask": ids(2, 9)},
     PATCHES + "expected shape [2, 8, 25] (columns of attention_mask, of which "
     "1 are the model's own), got [2, 9, 25]"),
    ({"patches": floats(1, 9, 25), "position_ids": ids(1, 9)},
     'input "position_ids": expected shape [1, 10] (that of patches), got '
     "[1, 9]"),
)
for number, (inputs, wanted) in enumerate(CASES):
    path = f"bad-{number}.safetensors"
    tensors.write(path, inputs)
    done = subprocess.run(
        [tfc_run, library, "--weights", weights, "--inputs", path, "--outputs",
         "out.safetensors"], capture_output=True, text=True)
    if done.returncode != 1 or wanted not in done.stderr:
        sys.exit(f"case {number}: expected status 1 and {wanted!r}, got "
                 f"{done.returncode} and {done.stderr}")
    if os.path.exists("out.safetensors"):
        sys.exit(f"case {number}: expected no outputs, got some")
