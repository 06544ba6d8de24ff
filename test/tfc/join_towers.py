# Makes a folder of CLIP, MetaCLIP 2 or SigLIP of its two encoders:
#   join_towers.py TEXT IMAGE OUT
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


family = config(text)["model_type"].removesuffix("_text_model")
os.mkdir(out)
with open(os.path.join(out, "config.json"), "w") as stream:
    json.dump({"architectures": [{"clip": "CLIPModel",
                                  "metaclip_2": "MetaClip2Model",
                                  "siglip": "SiglipModel"}[family]],
               "model_type": family,
               "text_config": config(text), "vision_config": config(image),
               **({"projection_dim": 37, "logit_scale_init_value": 2.6}
                  if family != "siglip" else {"initializer_factor": 1.0})},
              stream)


def named(name, tower):
    """What the whole model calls it: a class by itself may leave it out."""
    is_own = family == "siglip" and not name.startswith(tower)
    return tower + name if is_own else name


both = {named(name, tower): tensor
        for folder, tower in ((text, "text_model."), (image, "vision_model."))
        for name, tensor in tensors.read(
            os.path.join(folder, "model.safetensors")).items()}
for name in ("logit_scale",) + ("logit_bias",) * (family == "siglip"):
    both[name] = tensors.Tensor("F32", [], [2.6])
tensors.write(os.path.join(out, "model.safetensors"), both)
