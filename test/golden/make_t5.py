# The golden models of T5 and mT5: relative positions in buckets.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import transformers as hf

from inputs import VOCAB
from make_llama import BEAMS, left, right
from reference import build
from writer import (find_beams, find_ended, find_greedy, set_generation,
                    write_pairs)

ALL = ("one", "ragged", "left", "mixed", "longest", "holes")
SOME = ("ragged", "left", "mixed")
# Distances count columns, masked ones too.
HOLES = {"holes": "attention_mask"}
# Tokens of a model that repeats itself less: what comes from the encoder is
# the same in each step.
SCALES = dict(token=0.3, layer=2.0, cross=0.4, final=4)


def config(cls=hf.T5Config, **changes):
    # The heads together are wider than the hidden state.
    keys = dict(vocab_size=VOCAB, d_model=28, d_kv=10, num_heads=3, d_ff=37,
                num_layers=2, num_decoder_layers=2,
                relative_attention_num_buckets=10,
                relative_attention_max_distance=24, decoder_start_token_id=0)
    keys.update(changes)
    return cls(**keys)


def wide(**changes):
    return dict(d_model=22, d_kv=26, num_heads=2, num_layers=1,
                num_decoder_layers=1, **changes)


def store(out, name, tensors):
    out.rename(name, lambda key: key, tensors)


def t5_generation(out):
    base = "t5-lm"
    out.save(base, build(hf.T5ForConditionalGeneration, config(
        num_layers=3), 201, **SCALES))
    model = out.load(hf.T5ForConditionalGeneration, base)
    write_pairs(out.folder(base), model, ALL, 201)
    begin = dict(pad_token_id=0, decoder_start_token_id=0)
    set_generation(model, **begin)
    inputs, first, second = find_ended(model, left, 11000, 1)
    steps = [out.write_step(base, model, "generate-left", inputs, "none")]
    given, _ = find_greedy(model, right, 12000)
    steps.append(out.write_step(base, model, "generate-right", given, "none"))
    set_generation(model, eos_token_id=first, **begin)
    steps += [out.write_step(base, model, "generate-eos", inputs, str(first)),
              out.write_step(base, model, "generate-min", inputs, str(first),
                             min_length=25)]
    out.add(base, [case for case in ALL if case != "holes"], steps,
            refused=HOLES)

    name = "t5-lm-eos-list"
    out.patch(name, "generation_config.json", base,
              eos_token_id=[first, second])
    model = out.load(hf.T5ForConditionalGeneration, name, base)
    steps = [out.write_step(name, model, "generate", inputs)]
    given = find_beams(model, right, 13000, [way for _, way in BEAMS])
    steps += [out.write_step(name, model, step, given, **way)
              for step, way in BEAMS]
    out.add(name, generate=steps, base=base)

    # What an encoder leaves unused in the file of both.
    name = "t5-lm-encoder"
    out.patch(name, "config.json", base, architectures=["T5EncoderModel"])
    model = out.load(hf.T5EncoderModel, name, base)
    write_pairs(out.folder(name), model, SOME, 202)
    out.add(name, ("ragged", "left"), base=base)


def t5_gated(out):
    """Version 1.1: a head of its own, which old files say by a tie that is
    none and new ones by a scale that is none."""
    base = "t5-gated"
    model = build(hf.T5ForConditionalGeneration, config(
        **wide(feed_forward_proj="gated-gelu")), 211, **SCALES)
    out.save(base, model)
    generator = torch.Generator().manual_seed(212)
    shared = model.shared.weight.detach()
    table = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias"
    store(out, base, {
        "lm_head.weight": torch.randn(VOCAB, 22, generator=generator) / 5,
        # The first releases store the table three times, and one without use.
        "encoder.embed_tokens.weight": shared.clone(),
        "decoder.embed_tokens.weight": shared.clone(),
        table + ".weight": torch.ones(10, 2)})
    out.patch(base, "config.json", tie_word_embeddings=False,
              scale_decoder_outputs=..., dense_act_fn=..., is_gated_act=...,
              decoder_start_token_id=0, dtype=..., torch_dtype="float32",
              transformers_version="4.12.0")
    model = out.load(hf.T5ForConditionalGeneration, base)
    assert not torch.equal(model.lm_head.weight, model.shared.weight)
    assert not model.config.scale_decoder_outputs
    write_pairs(out.folder(base), model, SOME, 211)
    eos = model.generation_config.eos_token_id
    assert eos == 1 and model.generation_config.decoder_start_token_id == 0
    set_generation(model, pad_token_id=0, decoder_start_token_id=0)
    inputs, _ = find_greedy(model, left, 14000)
    steps = [out.write_step(base, model, "generate", inputs, "none")]
    out.add(base, SOME, steps)

    for index, (name, scaled) in enumerate((("t5-gated-new", False),
                                            ("t5-gated-scaled", True))):
        out.patch(name, "config.json", base, tie_word_embeddings=True,
                  scale_decoder_outputs=scaled, dense_act_fn="gelu_new",
                  is_gated_act=True, transformers_version="5.23.0")
        model = out.load(hf.T5ForConditionalGeneration, name, base)
        assert model.config.scale_decoder_outputs == scaled
        write_pairs(out.folder(name), model, ("ragged",), 213 + index)
        out.add(name, ("ragged",), base=base)


def t5_classes(out):
    name = "t5-model"  # with the buckets of the real models, all reached
    out.save(name, build(hf.T5Model, config(
        **dict(wide(feed_forward_proj="gated-silu"), num_decoder_layers=2,
               d_kv=14),
        relative_attention_num_buckets=32,
        relative_attention_max_distance=128), 221))
    # Old files do not say it.
    out.patch(name, "config.json", relative_attention_max_distance=...)
    cases = SOME + ("far",)
    write_pairs(out.folder(name), out.load(hf.T5Model, name), cases, 221)
    out.add(name, cases)

    name = "t5-encoder"
    out.save(name, build(hf.T5EncoderModel, config(
        num_heads=2, feed_forward_proj="relu"), 222))
    cases = ("one", "ragged", "left", "longest", "holes")
    write_pairs(out.folder(name), out.load(hf.T5EncoderModel, name), cases,
                222)
    out.add(name, cases[:-1], refused=HOLES)


def mt5(out):
    name, base = "mt5-lm", "t5-gated"  # says untied, and never scales
    out.patch(name, "config.json", base, model_type="mt5",
              architectures=["MT5ForConditionalGeneration"])
    model = out.load(hf.MT5ForConditionalGeneration, name, base)
    assert not torch.equal(model.lm_head.weight, model.shared.weight)
    write_pairs(out.folder(name), model, SOME, 231)
    set_generation(model, pad_token_id=0, decoder_start_token_id=0)
    inputs, _ = find_greedy(model, left, 15000)
    out.add(name, SOME, [
        out.write_step(name, model, "generate", inputs, "none")], base=base)

    name, base = "mt5-tied", "t5-lm"
    out.patch(name, "config.json", base, model_type="mt5",
              architectures=["MT5ForConditionalGeneration"],
              scale_decoder_outputs=...)
    model = out.load(hf.MT5ForConditionalGeneration, name, base)
    write_pairs(out.folder(name), model, ("ragged",), 233)
    out.add(name, ("ragged",), base=base)


def write(out):
    t5_generation(out)
    t5_gated(out)
    t5_classes(out)
    mt5(out)
