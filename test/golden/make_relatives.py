# The golden models of families that are another one with a difference, and of
# heads that came to a family later.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import transformers as hf

import make_t5
from inputs import VOCAB
from make_families import (MOST, SOME, alike, decoder, encoder, modern, pair,
                           write_decoders, write_encoders, write_pairs_of)
from make_llama import left
from reference import build
from writer import find_greedy, set_generation, write_pairs

def xlm(**changes):
    return dict(dict(vocab_size=VOCAB, emb_dim=26, n_layers=1, n_heads=2,
                     n_langs=1, max_position_embeddings=40), **changes)


def esm(**changes):
    return dict(encoder(vocab_size=VOCAB + 1, mask_token_id=VOCAB,
                        pad_token_id=1, max_position_embeddings=42), **changes)


def of_llama(config, name="LlamaForCausalLM"):
    """The class of transformers for a model type that has none of its own."""
    return type(name, (hf.LlamaForCausalLM,), {"config_class": config})


# name, class, config, cases, what those of "types" draw from (0: no types).
ENCODERS = (
    ("modernbert-mean", hf.ModernBertForSequenceClassification,
     hf.ModernBertConfig(**modern(num_hidden_layers=2, num_labels=3,
                                  classifier_pooling="mean")),
     ("one", "ragged", "left"), 0),
    ("bertgeneration-encoder", hf.BertGenerationEncoder,
     hf.BertGenerationConfig(**encoder(hidden_act="relu")), MOST, 0),
    ("electra-choice", hf.ElectraForMultipleChoice, hf.ElectraConfig(
        **encoder(embedding_size=26, num_hidden_layers=1)),
     ("ragged", "left"), 2),
    ("xlm-sequence", hf.XLMForSequenceClassification, hf.XLMConfig(
        **xlm(num_labels=3, summary_activation="tanh")), ("ragged",), 0),
    ("xlm-choice", hf.XLMForMultipleChoice, hf.XLMConfig(
        **xlm(num_labels=3)), ("ragged",), 0),
    ("flaubert-sequence", hf.FlaubertForSequenceClassification,
     hf.FlaubertConfig(**xlm(num_labels=3, summary_use_proj=True)),
     ("ragged",), 0),
    # Its mask token, which would change what all others are scaled by, is the
    # last, and no row of tfc's.
    ("esm-rotary", hf.EsmModel, hf.EsmConfig(
        **esm(position_embedding_type="rotary", token_dropout=True,
              hidden_size=28)), ("one", "ragged", "longest"), 0),
    ("esm-mlm", hf.EsmForMaskedLM, hf.EsmConfig(
        **esm(token_dropout=True, emb_layer_norm_before=True)),
     ("ragged", "left"), 0),
    ("dpr-context", hf.DPRContextEncoder, hf.DPRConfig(
        **encoder(projection_dim=11)), ("ragged", "left"), 2),
    ("dpr-question", hf.DPRQuestionEncoder, hf.DPRConfig(
        **encoder(num_hidden_layers=1)), ("ragged",), 2),
    ("dpr-reader", hf.DPRReader, hf.DPRConfig(
        **encoder(num_hidden_layers=1)), ("ragged", "left"), 0),
)
DECODERS = (
    ("bertgeneration-lm", hf.BertGenerationDecoder, hf.BertGenerationConfig(
        **alike(is_decoder=True))),
    ("neoxjapanese-lm", hf.GPTNeoXJapaneseForCausalLM,
     hf.GPTNeoXJapaneseConfig(
         vocab_size=VOCAB, hidden_size=48, num_hidden_layers=3,
         num_attention_heads=3, intermediate_multiple_size=2,
         max_position_embeddings=60, bos_token_id=1, eos_token_id=2,
         pad_token_id=0, rope_parameters={
             "rope_type": "default", "rope_theta": 500.0,
             "partial_rotary_factor": 0.5})),
    ("modernbertdecoder-lm", hf.ModernBertDecoderForCausalLM,
     hf.ModernBertDecoderConfig(**modern(
         num_hidden_layers=5, local_attention=8, max_position_embeddings=60,
         intermediate_size=37))),
    ("phi3-longrope", hf.Phi3ForCausalLM, hf.Phi3Config(
        **decoder(hidden_size=36, max_position_embeddings=150,
                  original_max_position_embeddings=60, rope_parameters={
                      "rope_type": "longrope", "rope_theta": 500.0,
                      "partial_rotary_factor": 1.0,
                      "short_factor": [1.0, 1.05, 1.1, 1.3, 1.6, 2.0],
                      "long_factor": [1.0, 1.5, 3.0, 9.0, 20.0, 40.0]}))),
    ("ministral3-lm", hf.Ministral3ForCausalLM, hf.Ministral3Config(
        **decoder(head_dim=14, max_position_embeddings=240, rope_parameters={
            "rope_type": "yarn", "rope_theta": 900.0, "factor": 4.0,
            "original_max_position_embeddings": 60, "beta_fast": 8.0,
            "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0,
            "llama_4_scaling_beta": 0.5,
            "max_position_embeddings": 240}))),
    ("internlm3-lm", of_llama(hf.InternLM3Config), hf.InternLM3Config(
        **decoder(head_dim=14, attention_bias=True, mlp_bias=True))),
    ("iquestcoder-lm", of_llama(hf.IQuestCoderConfig, "IQuestCoderForCausalLM"),
     hf.IQuestCoderConfig(
        **decoder(head_dim=10))),
)
# Windows count columns.
DISTANCES = ("modernbertdecoder-lm",)
PAIRS = (
    ("blenderbotsmall-lm", hf.BlenderbotSmallForConditionalGeneration,
     hf.BlenderbotSmallConfig(**pair(pad_token_id=0, scale_embedding=True))),
)
# Those whose positions count columns, pad tokens or not.
COUNTING = ("blenderbotsmall-lm",)
SCALES = {}


def write_umt5(out):
    """A position bias of each layer."""
    name = "umt5-lm"
    if out.wants(name):
        out.save(name, build(hf.UMT5ForConditionalGeneration, make_t5.config(
            hf.UMT5Config, num_layers=3), 951, **make_t5.SCALES))
        model = out.load(hf.UMT5ForConditionalGeneration, name)
        write_pairs(out.folder(name), model, make_t5.SOME, 951)
        set_generation(model, pad_token_id=0, decoder_start_token_id=0)
        inputs, _ = find_greedy(model, left, 95100)
        out.add(name, make_t5.SOME, [
            out.write_step(name, model, "generate-left", inputs, "none")])
    name = "umt5-encoder"
    if out.wants(name):
        out.save(name, build(hf.UMT5EncoderModel, make_t5.config(
            hf.UMT5Config, feed_forward_proj="relu"), 952, **make_t5.SCALES))
        model = out.load(hf.UMT5EncoderModel, name)
        write_pairs(out.folder(name), model, ("ragged", "left"), 952)
        out.add(name, ("ragged", "left"))


def write(out):
    write_umt5(out)
    write_encoders(out, ENCODERS, 701)
    write_decoders(out, DECODERS, 801, DISTANCES, SCALES,
                   longest={"phi3-longrope": 60, "ministral3-lm": 60})
    write_pairs_of(out, PAIRS, 901, COUNTING, SCALES)
