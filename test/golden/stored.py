# The law of storage: a checkpoint of 16 bits gives the bits that it gives when
# its matrices are widened to f32 before.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import array
import glob
import json
import os
import struct

import tensors
from laws import repeat
from tool import decoding_options

# bf16 is the upper half of an f32.
NARROW = {
    "BF16": lambda value: struct.unpack("<I", struct.pack("<f", value))[0] >> 16,
    "F16": lambda value: struct.unpack("<H", struct.pack("<e", value))[0],
}


def narrow(folder, dtype):
    """Stores every f32 tensor of the folder as `dtype`."""
    for path in glob.glob(os.path.join(folder, "*.safetensors")):
        stored = tensors.read(path)
        for name, tensor in stored.items():
            if tensor.dtype == "F32":
                data = array.array("H", map(NARROW[dtype], tensor.data))
                stored[name] = tensors.Tensor(dtype, tensor.shape, data)
        tensors.write(path, stored)


def check_stored(model, dtype):
    """`model` is a run_golden.Model whose weights were narrowed; its library
    and one of --dtype f32 give the same bits."""
    with open(model.spec) as stream:
        kept = json.load(stream).get("precision", {}).get("weights")
    if kept != dtype.lower():
        return [f"expected a spec that keeps {dtype.lower()}, got {kept}"]
    wide = model.tool.path("wide.so")
    model.tool.compile(model.spec, wide, "--dtype", "f32")
    faults = []

    def compare(name, run):
        stored, widened = run(model.library), run(wide)
        for key in widened:
            if stored[key].data.tobytes() != widened[key].data.tobytes():
                faults.append(f"{name}: {key} differs from that of f32")

    for name in model.entry["forward"]:
        inputs, _ = model.case(name)
        compare(name, lambda library: model.tool.run(
            library, model.weights, inputs))
        # Tiles of a few rows and of many widen in different places.
        many = repeat(inputs, 4)
        compare(f"{name}, four times", lambda library: model.tool.run(
            library, model.weights, many))
    for step in model.entry["generate"]:
        inputs, _ = model.case(step["name"])
        compare(step["name"], lambda library: model.tool.generate(
            library, model.weights, inputs, step.get("new_tokens", 40),
            step.get("eos"), *decoding_options(step.get("options", {}))))
    return faults
