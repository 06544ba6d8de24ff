# A Hugging Face folder as a CTranslate2 model.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

import torch
from ctranslate2.converters.transformers import _MODEL_LOADERS

import onnx_export


class Numbers:
    """A tokenizer whose words are numbers: a random model has none of its own,
    and the converter asks for one."""

    def __init__(self, size):
        self.size = size
        self.bos_token = self.eos_token = self.unk_token = str(size - 1)

    def get_vocab(self):
        return {str(i): i for i in range(self.size)}


def convert(folder, path):
    config, model = onnx_export.load(folder)
    loader = _MODEL_LOADERS[type(config).__name__]
    # It looks for a key that newer versions of transformers do not have.
    model.config.position_embedding_type = "absolute"
    with torch.no_grad():
        spec = loader(model, Numbers(config.vocab_size))
        spec.validate()
        spec.optimize()
    os.makedirs(path)
    spec.save(path)
