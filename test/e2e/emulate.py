#!/usr/bin/env python3
# The emulated program for AVX-512 gives what the program for AVX2 gives, and bit
# for bit what the native one gives where there is one.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
import tensors  # noqa: E402
from tool import Failure, Tool  # noqa: E402

INPUTS = "inputs-ragged.safetensors"
FULL, TIED = "x86-64-v4", "x86-64-v4-emulated"


def outputs(tool, golden, program):
    library = tool.path(program + ".so")
    tool.compile("model.json", library, f"--target=cpu:{program}")
    inputs = tensors.read(os.path.join(golden, INPUTS))
    return tool.run(library, golden, inputs)


def main():
    tfc, tfc_run, golden = sys.argv[1:]
    tool = Tool(shutil.which(tfc), shutil.which(tfc_run), ".")
    tool.import_model(golden, "model.json")
    emulated, plain = (outputs(tool, golden, name)
                       for name in (TIED, "x86-64-v3"))
    for name, tensor in plain.items():
        worst = max(abs(one - other) for one, other in
                    zip(tensor.data, emulated[name].data))
        if worst > 1e-4:
            sys.exit(f"{name}: expected what the program for AVX2 gives, got "
                     f"{worst} beside it")
    print("the tokens or values of x86-64-v3")
    try:
        native = outputs(tool, golden, FULL)
    except Failure as failure:
        if "machine lacks avx512" not in str(failure):
            raise
        print("no AVX-512 here to compare with")
        return
    for name, tensor in native.items():
        if tensor.data.tobytes() != emulated[name].data.tobytes():
            sys.exit(f"{name}: expected the bits of the native program")
    print("the bits of x86-64-v4")


main()
