# Runs a model with wrong inputs, and checks what is said of them: what
# bad_patches.py and bad_sound.py have in common, whose arguments are TFC_RUN
# LIBRARY WEIGHTS.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "..", "golden"))

import tensors
from tensors import Tensor


def floats(*shape):
    return Tensor("F32", shape, [0.5] * math.prod(shape))


def ids(*shape):
    return Tensor("I64", shape, [1] * math.prod(shape))


def check(cases):
    """Each is inputs by name, and a part of the message."""
    tfc_run, library, weights = sys.argv[1:]
    for number, (inputs, wanted) in enumerate(cases):
        path = f"bad-{number}.safetensors"
        tensors.write(path, inputs)
        done = subprocess.run(
            [tfc_run, library, "--weights", weights, "--inputs", path,
             "--outputs", "out.safetensors"], capture_output=True, text=True)
        if done.returncode != 1 or wanted not in done.stderr:
            sys.exit(f"case {number}: expected status 1 and {wanted!r}, got "
                     f"{done.returncode} and {done.stderr}")
        if os.path.exists("out.safetensors"):
            sys.exit(f"case {number}: expected no outputs, got some")
