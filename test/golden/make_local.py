# The golden models of encoders whose tokens see those near them: Longformer,
# LED and LongT5.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import transformers as hf

import make_t5
from make_families import (SOME, encoder, pair, write_encoders,
                           write_pairs_of)
from make_llama import left
from reference import build
from writer import find_greedy, set_generation, write_pairs


def longformer(**changes):
    """Positions from 2 on, as RoBERTa's."""
    return encoder(**dict(dict(max_position_embeddings=42, pad_token_id=1),
                          **changes))


def led(**changes):
    keys = pair(decoder_start_token_id=2, max_encoder_position_embeddings=56,
                max_decoder_position_embeddings=50, **changes)
    del keys["max_position_embeddings"]
    return keys


ENCODERS = (
    # A window of each width, one of them twice, and one of all.
    ("longformer-mlm", hf.LongformerForMaskedLM, hf.LongformerConfig(
        **longformer(num_hidden_layers=5, type_vocab_size=3,
                     attention_window=[4, 8, 4, 20, 40])), ("one",) + SOME,
     3),
    ("longformer-model", hf.LongformerModel, hf.LongformerConfig(
        **longformer(hidden_size=30, num_attention_heads=3, hidden_act="relu",
                     type_vocab_size=1, attention_window=6)),
     # The first token says something of all.
     ("ragged", "longest"), 0),
    ("longformer-token", hf.LongformerForTokenClassification,
     hf.LongformerConfig(**longformer(
         num_hidden_layers=1, num_labels=5, attention_window=8)),
     ("ragged", "left"), 2),
)
PAIRS = (
    ("led-lm", hf.LEDForConditionalGeneration, hf.LEDConfig(**led(
        encoder_layers=3, attention_window=[12, 4, 12]))),
    ("led-model", hf.LEDModel, hf.LEDConfig(**led(
        attention_window=14, activation_function="relu"))),
)
# Positions count columns.
COUNTING = ("led-lm",)


def write_longt5(out):
    name = "longt5-lm"
    if out.wants(name):
        out.save(name, build(
            hf.LongT5ForConditionalGeneration, make_t5.config(
                hf.LongT5Config, num_layers=3, local_radius=4), 1451,
            **make_t5.SCALES))
        model = out.load(hf.LongT5ForConditionalGeneration, name)
        cases = make_t5.SOME + ("longest",)
        write_pairs(out.folder(name), model, cases, 1451)
        set_generation(model, pad_token_id=0, decoder_start_token_id=0)
        inputs, _ = find_greedy(model, left, 145100)
        out.add(name, cases, [
            out.write_step(name, model, "generate-left", inputs, "none")])
    name = "longt5-gated"
    if out.wants(name):
        out.save(name, build(
            hf.LongT5Model, make_t5.config(
                hf.LongT5Config, local_radius=1, num_decoder_layers=1,
                feed_forward_proj="gated-gelu"), 1452, **make_t5.SCALES))
        model = out.load(hf.LongT5Model, name)
        write_pairs(out.folder(name), model, ("ragged", "mixed"), 1452)
        out.add(name, ("ragged", "mixed"))
    name = "longt5-encoder"
    if out.wants(name):
        out.save(name, build(
            hf.LongT5EncoderModel, make_t5.config(
                hf.LongT5Config, local_radius=9), 1453, **make_t5.SCALES))
        model = out.load(hf.LongT5EncoderModel, name)
        write_pairs(out.folder(name), model, ("ragged", "left", "longest"),
                    1453)
        out.add(name, ("ragged", "left", "longest"))


def write(out):
    write_encoders(out, ENCODERS, 1401)
    write_pairs_of(out, PAIRS, 1431, COUNTING, {})
    write_longt5(out)
