# The golden models of T5Gemma: Gemma 2's layers in an encoder and a decoder,
# whose attention to the encoder caps its scores, too.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import transformers as hf

from inputs import VOCAB
from make_llama import left, right
from reference import build
from writer import find_greedy, set_generation, write_pairs

CASES = ("one", "ragged", "left", "mixed", "longest", "holes")
# Windows count columns, masked ones too.
HOLES = {"holes": "attention_mask"}
SCALES = dict(token=0.3, layer=2.0)


def stack(**changes):
    # The heads together are wider than the hidden state.
    keys = dict(vocab_size=VOCAB, hidden_size=28, intermediate_size=37,
                num_hidden_layers=3, num_attention_heads=4,
                num_key_value_heads=2, head_dim=10, sliding_window=3,
                max_position_embeddings=48, query_pre_attn_scalar=11,
                attn_logit_softcapping=5.0, final_logit_softcapping=20.0)
    return hf.T5GemmaModuleConfig(**dict(keys, **changes))


def config(encoder, decoder, **changes):
    keys = dict(vocab_size=VOCAB, pad_token_id=0, bos_token_id=2,
                eos_token_id=1)
    return hf.T5GemmaConfig(encoder=encoder, decoder=decoder,
                            **dict(keys, **changes))


def quiet(model):
    """Makes less of what comes from the encoder, which is the same in each
    step: of others tokens repeat themselves."""
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "post_cross_attn" in name:
                value.mul_(0.1).sub_(0.7)  # beside the 1 that is added
    return model


def write(out):
    name = "t5gemma-lm"
    if out.wants(name):
        out.save(name, quiet(build(hf.T5GemmaForConditionalGeneration, config(
            stack(), stack(num_hidden_layers=4)), 1501, **SCALES)))
        model = out.load(hf.T5GemmaForConditionalGeneration, name)
        write_pairs(out.folder(name), model, CASES, 1501)
        set_generation(model, pad_token_id=0, bos_token_id=2)
        steps = []
        for seed, side in ((150100, left), (150200, right)):
            inputs, _ = find_greedy(model, side, seed)
            steps.append(out.write_step(
                name, model, "generate-" + side.__name__, inputs, "none"))
        out.add(name, CASES[:-1], steps, refused=HOLES)

    # All that the two stacks may have of their own; no caps in one of them.
    name = "t5gemma-untied"
    if out.wants(name):
        out.save(name, build(hf.T5GemmaForConditionalGeneration, config(
            stack(vocab_size=VOCAB + 4, num_hidden_layers=2, num_attention_heads=2,
                  head_dim=26, intermediate_size=45, attention_bias=True,
                  attn_logit_softcapping=None, rope_parameters={
                      "rope_type": "default", "rope_theta": 500.0}),
            stack(num_hidden_layers=2, num_key_value_heads=4, head_dim=12,
                  layer_types=["full_attention", "sliding_attention"],
                  attn_logit_softcapping=2.0, sliding_window=5,
                  final_logit_softcapping=None, hidden_activation="silu"),
            tie_word_embeddings=False), 1502, **SCALES))
        model = out.load(hf.T5GemmaForConditionalGeneration, name)
        write_pairs(out.folder(name), model, CASES[1:4], 1502)
        out.add(name, CASES[1:4])

    name = "t5gemma-model"
    if out.wants(name):
        model = build(hf.T5GemmaModel, config(
            stack(num_hidden_layers=1, sliding_window=4),
            stack(num_hidden_layers=2, layer_types=["full_attention"] * 2)),
            1503)
        out.save(name, model)
        write_pairs(out.folder(name), model, ("ragged", "left"), 1503)
        out.add(name, ("ragged", "left"))

    name = "t5gemma-encoder"
    if out.wants(name):
        model = build(hf.T5GemmaEncoderModel, config(
            stack(), stack(), is_encoder_decoder=False), 1504)
        out.save(name, model)
        write_pairs(out.folder(name), model, CASES[:-1], 1504)
        out.add(name, CASES[:-1])
