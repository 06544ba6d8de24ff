#!/usr/bin/env python3
# PyTorch with Hugging Face's own model code, as it is.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import transformers

import onnx_export
import worker

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16,
          "int8": torch.float32, "int4": torch.float32}
# Columns that have a scale of int4.
GROUP = 32


def as_linear(model):
    """GPT-2's own kind of products as those that can be quantised."""
    for module in model.modules():
        for name, child in module.named_children():
            if isinstance(child, transformers.pytorch_utils.Conv1D):
                inner, outer = child.weight.shape
                linear = torch.nn.Linear(inner, outer)
                linear.weight = torch.nn.Parameter(child.weight.T.contiguous())
                linear.bias = child.bias
                setattr(module, name, linear)


def quantize(model):
    """Products of integers: rows are quantised as they come, matrices with a
    scale a row."""
    as_linear(model)
    kind = torch.ao.quantization.per_channel_dynamic_qconfig
    return torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear: kind})


class Int4Linear(torch.nn.Module):
    """A product of four bits by the kernel that PyTorch has for it, which is
    fast for rows of bf16 alone."""

    def __init__(self, linear):
        super().__init__()
        self.bias = linear.bias
        groups = linear.weight.detach().unflatten(1, (-1, GROUP))
        greatest = groups.gather(2, groups.abs().argmax(2, keepdim=True))
        scales = (greatest / -8).bfloat16().float()
        scales[scales == 0] = 1
        integers = (groups / scales).round().clamp(-8, 7).int() + 8
        self.packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(
            integers.flatten(1), 1)
        scales = scales.squeeze(2).T
        self.scales = torch.stack([scales, torch.zeros_like(scales)],
                                  2).bfloat16().contiguous()

    def forward(self, rows):
        product = torch.ops.aten._weight_int4pack_mm_for_cpu(
            rows.flatten(0, -2).contiguous(), self.packed, GROUP, self.scales)
        product = product.unflatten(0, rows.shape[:-1])
        return product if self.bias is None else product + self.bias


class Int8Head(torch.nn.Module):
    """Logits, of which four bits would take 3 dB, by its kernel for bytes."""

    def __init__(self, linear):
        super().__init__()
        weight = linear.weight.detach()
        self.scales = weight.abs().amax(1).div(127).bfloat16()
        self.packed = (weight / self.scales[:, None]).round().clamp(
            -128, 127).char()

    def forward(self, rows):
        return torch.ops.aten._weight_int8pack_mm(
            rows.flatten(0, -2).contiguous(), self.packed,
            self.scales).unflatten(0, rows.shape[:-1])


def quantize_int4(model):
    as_linear(model)
    for module in model.modules():
        for name, child in module.named_children():
            if isinstance(child, torch.nn.Linear):
                kind = Int8Head if name == "lm_head" else Int4Linear
                setattr(module, name, kind(child))
    return model.bfloat16()


class PyTorch:
    def __init__(self, model, cache, threads, dtype):
        del cache
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        config = transformers.AutoConfig.from_pretrained(model)
        self.vocab = config.vocab_size
        model_class = getattr(transformers, config.architectures[0])
        self.model = model_class.from_pretrained(
            model, dtype=DTYPES[dtype],
            attn_implementation=onnx_export.fast_attention(model_class)).eval()
        if dtype == "int8":
            self.model = quantize(self.model)
        if dtype == "int4":
            self.model = quantize_int4(self.model)
        self.is_decoder = worker.is_decoder(worker.read_config(model))
        self.forward = self.model
        self.version = f"torch {torch.__version__}"

    def prepare(self, kind, lengths):
        with torch.inference_mode():
            run = self.make_run(kind, lengths)

        def guarded():
            with torch.inference_mode():
                run()

        return guarded

    def make_run(self, kind, lengths):
        ids, mask = (torch.from_numpy(a)
                     for a in worker.padded(lengths, self.vocab))
        if kind == "encode":
            # A mask without holes would only cost time.
            mask = None if bool(mask.all()) else mask
            return lambda: self.forward(input_ids=ids, attention_mask=mask)
        if not bool(mask.all()):
            raise NotImplementedError("prompts of different lengths")
        if kind == "prefill":
            return lambda: self.forward(input_ids=ids, logits_to_keep=1,
                                        use_cache=True)
        return self.make_step(ids, ids[:, :1])

    def make_step(self, prompt, token):
        """A function that runs `token` [batch, 1] after the prompts, each time
        anew, and returns its logits."""
        filled = self.model(input_ids=prompt, use_cache=True, logits_to_keep=1)
        cache = filled.past_key_values

        def run():
            logits = self.forward(input_ids=token, past_key_values=cache,
                                  use_cache=True).logits
            cache.crop(-1)
            return logits

        return run

    @torch.inference_mode()
    def check(self, ids, mask):
        ids, mask = torch.from_numpy(ids), torch.from_numpy(mask)
        if self.is_decoder:
            values = self.make_step(ids[:, :-1], ids[:, -1:])()
        else:
            values = self.forward(input_ids=ids, attention_mask=mask)[0]
        return values.float().numpy()


if __name__ == "__main__":
    worker.serve(PyTorch)
