# Makes a folder of CLIP of its two encoders: join_towers.py TEXT IMAGE OUT.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "..", "golden"))

import tensors

text, image, out = sys.argv[1:]


def config(folder):
    with open(os.path.join(folder, "config.json")) as stream:
        return json.load(stream)


os.mkdir(out)
with open(os.path.join(out, "config.json"), "w") as stream:
    json.dump({"architectures": ["CLIPModel"], "model_type": "clip",
               "text_config": config(text), "vision_config": config(image),
               "projection_dim": 37, "logit_scale_init_value": 2.6}, stream)
both = {name: tensor for folder in (text, image) for name, tensor in
        tensors.read(os.path.join(folder, "model.safetensors")).items()}
both["logit_scale"] = tensors.Tensor("F32", [], [2.6])
tensors.write(os.path.join(out, "model.safetensors"), both)
