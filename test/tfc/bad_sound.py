# Runs a model of sound with wrong inputs, and checks what is said of them:
# bad_sound.py TFC_RUN LIBRARY WEIGHTS.
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
TEXT = {"decoder_input_ids": ids(1, 2)}
CASES = (
    (TEXT, PATCHES + "expected a tensor, got none"),
    ({"patches": floats(1, 5, 20)},
     'input "decoder_input_ids": expected a tensor, got none'),
    ({"patches": floats(1, 5, 21), **TEXT},
     PATCHES + "expected shape [batch, length, 20], each at least 1, got "
     "[1, 5, 21]"),
    ({"patches": floats(1, 14, 20), **TEXT},
     PATCHES + "expected a length of at most 13 (the model's positions), got "
     "14"),
    ({"patches": floats(1, 5, 20), "input_ids": ids(1, 5), **TEXT},
     'input "input_ids": expected one of patches, '),
    ({"patches": floats(1, 5, 20), "attention_mask": Tensor(
        "I64", [1, 5], [1, 0, 1, 1, 1]), **TEXT},
     'input "attention_mask": expected no masked token between others'),
    ({"patches": floats(2, 5, 20), **TEXT},
     'input "decoder_input_ids": expected 2 rows'),
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
