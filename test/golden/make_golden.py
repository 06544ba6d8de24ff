#!/usr/bin/env python3
# Writes the golden models: tiny random Hugging Face directories, inputs, and
# what transformers computes for them. All of it is committed; tests read it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: make_golden.py [--families [NAME...]], with torch 2.13.0 and
transformers 5.23.0. --families: only the models of make_families.py,
make_relatives.py, make_mamba.py, make_switch.py, make_kimi.py,
make_sentence.py, make_papers.py, make_tiles.py, make_distant.py,
make_groupwise.py, make_streams.py, make_reformer.py, make_memories.py,
make_text_parts.py,
make_pictures.py, make_local.py and make_extended.py, or
those of them with these names.

Each model is a folder under models/ with inputs-CASE.safetensors and
expected-CASE.safetensors. A model with a "base" has only the files in which it
differs from that model. cases.json lists everything.
"""
import json
import os
import sys

import torch
import transformers as hf

import make_bart
import make_both_sides
import make_distant
import make_families
import make_groupwise
import make_kimi
import make_llama
import make_local
import make_memories
import make_mamba
import make_extended
import make_papers
import make_pictures
import make_reformer
import make_relatives
import make_sentence
import make_sound
import make_streams
import make_switch
import make_t5
import make_t5gemma
import make_text_parts
import make_tiles
from inputs import VOCAB, draw_ids
from reference import build, forward, greedy
from writer import (Writer, find_beams, find_prompts, find_row, pick_ends,
                    set_generation, store, write_forward, write_generation)

TORCH, TRANSFORMERS = "2.13.0", "5.23.0"


def bert_config(**changes):
    keys = dict(vocab_size=VOCAB, hidden_size=52, num_hidden_layers=2,
                num_attention_heads=2, intermediate_size=75,
                max_position_embeddings=40, type_vocab_size=2)
    keys.update(changes)
    return hf.BertConfig(**keys)


def gpt2_config(**changes):
    keys = dict(vocab_size=VOCAB, n_embd=52, n_layer=2, n_head=2, n_inner=75,
                n_positions=60, bos_token_id=1, eos_token_id=2,
                pad_token_id=None)
    keys.update(changes)
    return hf.GPT2Config(**keys)


SMALL_BERT = dict(hidden_size=26, num_attention_heads=1, intermediate_size=59)
SMALL_GPT2 = dict(n_embd=26, n_head=1, n_inner=59)


ALL = ("one", "ragged", "left", "holes", "longest", "positions", "types")
SOME = ("ragged", "left", "types")


def bert_classes(out):
    for name, cls, changes, cases in (
            ("bert-model", hf.BertModel,
             dict(num_hidden_layers=2, intermediate_size=150), ALL),
            ("bert-mlm", hf.BertForMaskedLM, SMALL_BERT, ALL),
            ("bert-sequence", hf.BertForSequenceClassification,
             dict(SMALL_BERT, num_labels=3, num_hidden_layers=3,
                  hidden_act="relu"), SOME + ("holes", "one")),
            ("bert-regression", hf.BertForSequenceClassification,
             dict(SMALL_BERT, num_labels=1), ("ragged",)),
            ("bert-token", hf.BertForTokenClassification,
             dict(SMALL_BERT, num_labels=5, hidden_act="silu",
                  type_vocab_size=3), SOME + ("holes",)),
            ("bert-question", hf.BertForQuestionAnswering,
             dict(SMALL_BERT, hidden_act="gelu_pytorch_tanh"),
             SOME + ("holes", "one"))):
        seed = len(out.models) + 1
        model = build(cls, bert_config(**changes), seed)
        out.save(name, model)
        write_forward(out.folder(name), model, cases, seed)
        out.add(name, cases)


def bert_variants(out):
    """Other ways to store the same thing."""
    small = bert_config(**SMALL_BERT)

    name = "bert-gamma"  # what converters of TensorFlow checkpoints wrote
    model = build(hf.BertModel, small, 21)
    out.save(name, model)
    out.rename(name, lambda key: key.replace("LayerNorm.weight",
                                             "LayerNorm.gamma")
               .replace("LayerNorm.bias", "LayerNorm.beta"),
               {"embeddings.position_ids": torch.arange(40).unsqueeze(0)})
    write_forward(out.folder(name), model, SOME, 21)
    out.add(name, SOME)

    name = "bert-pretraining"  # more heads than the class uses
    model = build(hf.BertForPreTraining, small, 22)
    out.save(name, model)
    out.patch(name, "config.json", architectures=["BertForMaskedLM"])
    masked = hf.BertForMaskedLM.from_pretrained(out.folder(name)).eval()
    write_forward(out.folder(name), masked, ("ragged",), 22)
    out.add(name, ("ragged",))
    body = "bert-pretraining-body"
    out.patch(body, "config.json", name, architectures=["BertModel"])
    write_forward(out.folder(body), model.bert, ("left",), 22)
    out.add(body, ("left",), base=name)

    name = "bert-no-pooler"
    model = build(hf.BertModel, small, 23)
    bare = hf.BertModel(small, add_pooling_layer=False)
    bare.load_state_dict(model.state_dict(), strict=False)
    out.save(name, bare)
    write_forward(out.folder(name), bare.eval(), ("ragged",), 23)
    out.add(name, ("ragged",))

    name = "bert-untied"
    model = build(hf.BertForMaskedLM, bert_config(
        **SMALL_BERT, tie_word_embeddings=False), 24)
    model.cls.predictions.bias = model.cls.predictions.decoder.bias
    out.save(name, model)
    # The tensors decide, whatever the config says.
    out.patch(name, "config.json", tie_word_embeddings=True)
    write_forward(out.folder(name), model, ("ragged",), 24)
    out.add(name, ("ragged",))

    name = "bert-sharded"
    model = build(hf.BertModel, small, 25)
    out.save(name, model, max_shard_size="20KB")
    write_forward(out.folder(name), model, ("ragged",), 25)
    out.add(name, ("ragged",))

    for name, dtype, seed, changes in (
            ("bert-f16", torch.float16, 26,
             dict(hidden_size=78, num_attention_heads=3,
                  intermediate_size=31)),
            ("bert-bf16", torch.bfloat16, 27, {})):
        model = build(hf.BertModel, bert_config(**changes), seed).to(dtype)
        out.save(name, model)
        write_forward(out.folder(name), model.float(), SOME, seed)
        out.add(name, SOME)


def gpt2_classes(out):
    for name, cls, changes, cases in (
            ("gpt2-model", hf.GPT2Model, dict(n_inner=101), ALL),
            ("gpt2-sequence", hf.GPT2ForSequenceClassification,
             dict(SMALL_GPT2, num_labels=3, pad_token_id=0, n_layer=3),
             SOME + ("holes", "one")),
            ("gpt2-scales", hf.GPT2LMHeadModel,
             dict(SMALL_GPT2, scale_attn_weights=False, n_layer=3,
                  scale_attn_by_inverse_layer_idx=True,
                  activation_function="gelu"), SOME),
            ("gpt2-default-inner", hf.GPT2Model,
             dict(SMALL_GPT2, n_inner=None), ("ragged",)),
            ("gpt2-untied", hf.GPT2LMHeadModel,
             dict(SMALL_GPT2, tie_word_embeddings=False), SOME)):
        seed = len(out.models) + 31
        model = build(cls, gpt2_config(**changes), seed)
        out.save(name, model)
        write_forward(out.folder(name), model, cases, seed)
        steps = []
        if cls is hf.GPT2LMHeadModel:
            row = find_row(model, seed)
            write_generation(out.folder(name), "generate", row,
                             greedy(model, row, 40, None, None))
            steps = [{"name": "generate", "eos": "none"}]
        out.add(name, cases, steps)


def gpt2_variants(out):
    name = "gpt2-buffers"  # old files store the causal masks, and no prefix
    model = build(hf.GPT2LMHeadModel, gpt2_config(**SMALL_GPT2), 51)
    out.save(name, model)
    buffers = {}
    for layer in range(2):
        mask = torch.ones(60, 60, dtype=torch.uint8).tril()
        buffers[f"h.{layer}.attn.bias"] = mask.view(1, 1, 60, 60)
        buffers[f"h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
    out.rename(name, lambda key: key.replace("transformer.", ""), buffers)
    write_forward(out.folder(name), model, ("ragged",), 51)
    out.add(name, ("ragged",))

    name, base = "gpt2-sequence-no-pad", "gpt2-sequence"
    out.patch(name, "config.json", base, pad_token_id=None)
    model = hf.GPT2ForSequenceClassification.from_pretrained(out.folder(base))
    model.config.pad_token_id = None
    model.eval()
    generator = torch.Generator().manual_seed(52)
    inputs = {"input_ids": draw_ids(generator, 1, 5)}
    inputs["input_ids"][0, 3:] = 0
    store(out.folder(name), "inputs-row", inputs)
    store(out.folder(name), "expected-row", forward(model, inputs))
    out.add(name, ("row",), base=base)


def gpt2_generation(out):
    base = "gpt2-lm"
    # Where the position counts more than the last token, a tied model does not
    # repeat that token for ever.
    model = build(hf.GPT2LMHeadModel, gpt2_config(), 61, token=0.3,
                  position=1.5)
    out.save(base, model)
    write_forward(out.folder(base), model, ALL, 61)
    left, tokens = find_prompts(model, "left", 1000)
    right, _ = find_prompts(model, "right", 5000)
    first, second = pick_ends(tokens)
    for name, inputs, eos in (("generate-left", left, None),
                              ("generate-right", right, None),
                              ("generate-eos", left, first)):
        write_generation(out.folder(base), name, inputs,
                         greedy(model, inputs, 40, eos, 0))
    steps = [{"name": "generate-left", "eos": "none"},
             {"name": "generate-right", "eos": "none"},
             {"name": "generate-eos", "eos": str(first)}]
    set_generation(model, eos_token_id=first, pad_token_id=0)
    steps.append(out.write_step(
        base, model, "generate-rules", left, str(first), min_new_tokens=20,
        repetition_penalty=1.3, no_repeat_ngram_size=2))
    out.patch(base, "generation_config.json", eos_token_id=2, pad_token_id=0)
    out.add(base, ALL, steps)

    for name, eos, pad in (("gpt2-lm-eos-int", first, 0),
                           ("gpt2-lm-eos-list", [first, second], 0),
                           ("gpt2-lm-eos-no-pad", first, None),
                           ("gpt2-lm-no-eos", None, 0),
                           ("gpt2-lm-no-eos-no-pad", None, None)):
        out.patch(name, "generation_config.json", base, eos_token_id=eos,
                  pad_token_id=pad)
        loaded = out.load(hf.GPT2LMHeadModel, name, base)
        assert loaded.generation_config.eos_token_id == eos
        step = out.write_step(name, loaded, "generate", left)
        out.add(name, generate=[step], base=base)

    # Beams that the options ask for, and beams that the file asks for.
    name = "gpt2-lm-beams"
    out.patch(name, "generation_config.json", base,
              eos_token_id=[first, second], pad_token_id=0, num_beams=4)
    loaded = out.load(hf.GPT2LMHeadModel, name, base)
    steps = make_llama.write_beams(out, name, loaded, make_llama.left, 7000)
    inputs = find_beams(loaded, make_llama.right, 8000, [dict(num_beams=4)])
    steps += [out.write_step(name, loaded, "beams-file", inputs),
              out.write_step(name, loaded, "generate", left, num_beams=1)]
    out.add(name, generate=steps, base=base)


def check_versions():
    if (torch.__version__.split("+")[0], hf.__version__) != (
            TORCH, TRANSFORMERS):
        raise SystemExit(f"expected torch {TORCH} and transformers "
                         f"{TRANSFORMERS} (the files are made by these), got "
                         f"{torch.__version__} and {hf.__version__}")


def main():
    if sys.argv[1:2] not in ([], ["--families"]):
        sys.exit(__doc__)
    check_versions()
    root = os.path.dirname(os.path.abspath(__file__))
    if "--families" in sys.argv:
        only = sys.argv[2:]
        with open(os.path.join(root, "cases.json")) as stream:
            out = Writer(root, json.load(stream)["models"], only)
    else:
        out = Writer(root)
        bert_classes(out)
        bert_variants(out)
        gpt2_classes(out)
        gpt2_variants(out)
        gpt2_generation(out)
        make_llama.write(out)
        make_t5.write(out)
        make_bart.write(out)
    make_both_sides.write(out)
    make_families.write(out)
    make_relatives.write(out)
    make_mamba.write(out)
    make_extended.write(out)
    make_local.write(out)
    make_switch.write(out)
    make_t5gemma.write(out)
    make_kimi.write(out)
    make_sentence.write(out)
    make_papers.write(out)
    make_tiles.write(out)
    make_distant.write(out)
    make_groupwise.write(out)
    make_streams.write(out)
    make_reformer.write(out)
    make_memories.write(out)
    make_text_parts.write(out)
    make_pictures.write(out)
    make_sound.write(out)
    with open(os.path.join(root, "cases.json"), "w") as stream:
        json.dump({"torch": TORCH, "transformers": TRANSFORMERS,
                   "models": out.models}, stream, indent=1)
        stream.write("\n")


if __name__ == "__main__":
    main()
