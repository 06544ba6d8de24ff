# The golden models of Switch Transformers: T5 with experts in some layers.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import transformers as hf

import make_t5
from make_llama import left
from reference import build
from writer import find_greedy, set_generation, write_pairs


def config(**changes):
    keys = dict(vocab_size=make_t5.VOCAB, d_model=28, d_kv=10, num_heads=3,
                d_ff=14, num_layers=3, num_decoder_layers=2,
                num_sparse_encoder_layers=1, num_sparse_decoder_layers=1,
                num_experts=5, expert_capacity=60,
                relative_attention_num_buckets=10,
                relative_attention_max_distance=24, decoder_start_token_id=0)
    return hf.SwitchTransformersConfig(**dict(keys, **changes))


class Margins:
    """The least distance of an expert that is chosen from one that is not."""

    def __init__(self, model):
        self.least = 1.0
        for module in model.modules():
            if "Router" in type(module).__name__:
                module.register_forward_hook(self.look)

    def look(self, router, inputs, result):
        best = result[2].sort(-1, descending=True)[0]
        self.least = min(self.least, (best[..., 0] - best[..., 1]).min().item())

    def check(self, name):
        if self.least < 1e-4:
            raise ValueError(f"{name}: expected experts' scores that differ, "
                             f"got {self.least}: draw another")


def write(out):
    for name, seed, changes in (
            # Layer 1 of each has experts: of three in the encoder, whose step
            # is 3, of two in the decoder. There are no fewer in the encoder,
            # by which transformers makes the decoder's cache.
            ("switch-lm", 1101, {}),
            # All have.
            ("switch-wide", 1102, dict(
                d_model=22, d_kv=26, num_heads=2, num_layers=2,
                num_sparse_encoder_layers=2, num_sparse_decoder_layers=2,
                num_experts=3, router_bias=True, dense_act_fn="gelu_new"))):
        if not out.wants(name):
            continue
        out.save(name, build(hf.SwitchTransformersForConditionalGeneration,
                             config(**changes), seed, **make_t5.SCALES))
        model = out.load(hf.SwitchTransformersForConditionalGeneration, name)
        margins = Margins(model)
        write_pairs(out.folder(name), model, make_t5.SOME, seed)
        set_generation(model, pad_token_id=0, decoder_start_token_id=0)
        inputs, _ = find_greedy(model, left, 100 * seed)
        out.add(name, make_t5.SOME, [
            out.write_step(name, model, "generate-left", inputs, "none")])
        margins.check(name)
    name = "switch-encoder"
    if out.wants(name):
        out.save(name, build(hf.SwitchTransformersEncoderModel, config(
            num_layers=4, num_sparse_encoder_layers=2, dense_act_fn="silu"),
            1103, **make_t5.SCALES))
        model = out.load(hf.SwitchTransformersEncoderModel, name)
        margins = Margins(model)
        write_pairs(out.folder(name), model, ("ragged", "left"), 1103)
        out.add(name, ("ragged", "left"))
        margins.check(name)
