#!/usr/bin/env python3
# PyTorch with Hugging Face's own model code through torch.compile (inductor,
# weights frozen), with the static cache that generate uses then.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import torch._inductor.config
import transformers

import worker
from pytorch import PyTorch


class PyTorchCompile(PyTorch):
    def __init__(self, model, cache, threads, dtype):
        if dtype == "int8":
            raise NotImplementedError("its quantised modules are not compiled")
        super().__init__(model, cache, threads, dtype)
        # Weights are packed for its products; a third faster on BERT.
        torch._inductor.config.freezing = True
        # A shape is compiled when it is met: nothing is slower for being
        # dynamic.
        self.forward = torch.compile(self.model, dynamic=False)

    def make_step(self, prompt, token):
        batch, past = prompt.shape
        cache = transformers.StaticCache(config=self.model.config,
                                         max_cache_len=past + 1)
        self.model(input_ids=prompt, past_key_values=cache, use_cache=True,
                   logits_to_keep=1)
        position = torch.full((batch, 1), past)

        def run():
            # The next key goes into the same place again.
            for layer in cache.layers:
                layer.cumulative_length.fill_(past)
            return self.forward(input_ids=token, past_key_values=cache,
                                position_ids=position, use_cache=True).logits

        return run


if __name__ == "__main__":
    worker.serve(PyTorchCompile)
