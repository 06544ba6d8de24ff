# Weights for any spec: random ones, of the names and sizes that its model asks
# for.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "golden"))
import tensors  # noqa: E402

PARAMETER = re.compile(
    r"transformer\.parameter @\S+ : tensor<([\dx]+)x[a-z]\w*>(.*) from<(.*)> loc")


def list_tensors(tfc, spec):
    """(name, shape) of every stored tensor; None where the spec is refused."""
    done = subprocess.run([tfc, "compile", spec, "--stop-after=model",
                           "--target=cpu", "-o", "-"], capture_output=True,
                          text=True)
    if done.returncode:
        return None
    found = []
    for shape, places, source in PARAMETER.findall(done.stdout):
        if "tied_to" in source:
            continue
        shape = [int(size) for size in shape.split("x")]
        numbers = dict(re.findall(r"(layers|first_layer|layer_step|experts) "
                                  r"=? ?(\d+)", places + source))
        layers = int(numbers.get("layers", 1))
        experts = int(numbers.get("experts", 1))
        pattern = re.search(r'\["([^"]*)"', source).group(1)
        first = int(numbers.get("first_layer", 0))
        step = int(numbers.get("layer_step", 1))
        for number in range(layers * experts):
            name = pattern.replace(
                "{i}", str(first + number // experts * step)).replace(
                "{e}", str(number % experts))
            found.append((name, shape))
    return found


def write(tfc, spec, folder, seed=1):
    """Writes folder/model.safetensors; whether the spec is one. A spec must have
    no map of its own."""
    wanted = list_tensors(tfc, spec)
    if wanted is None:
        return False
    source = random.Random(seed)
    stored = {}
    for name, shape in wanted:
        size = 1
        for each in shape:
            size *= each
        scale = shape[-1] ** -0.5 if len(shape) > 1 else 0.5
        middle = 1.0 if len(shape) == 1 and name.endswith("weight") else 0.0
        stored[name] = tensors.Tensor(
            "F32", shape, (source.uniform(middle - scale, middle + scale)
                           for _ in range(size)))
    tensors.write(os.path.join(folder, "model.safetensors"), stored)
    return True
