# The golden models of LLaMA and of the families that are LLaMA with other
# numbers: Mistral, Qwen2.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import transformers as hf

from inputs import VOCAB, prompts
from reference import build
from writer import (find_beams, find_ended, find_greedy, set_generation,
                    write_forward)

ALL = ("one", "ragged", "left", "holes", "longest", "positions")
SOME = ("ragged", "left", "positions")
FAR = ("ragged", "longest", "positions")
# No width is a multiple of 4, and the heads together are wider than what they
# read.
SMALL = dict(hidden_size=30, num_attention_heads=3, num_key_value_heads=1,
             head_dim=26, intermediate_size=37)


def config(cls, **changes):
    keys = dict(vocab_size=VOCAB, hidden_size=52, intermediate_size=59,
                num_hidden_layers=2, num_attention_heads=4,
                num_key_value_heads=2, max_position_embeddings=60,
                bos_token_id=1, eos_token_id=2, pad_token_id=None)
    keys.update(changes)
    return cls(**keys)


def llama_config(**changes):
    return config(hf.LlamaConfig, **{"head_dim": 26, **changes})


def left(generator):
    return prompts("left", generator)


def right(generator):
    return prompts("right", generator)


# Ways of beam search whose results must differ.
BEAMS = (("beams", dict(num_beams=4)),
         ("beams-early", dict(num_beams=4, early_stopping=True,
                              length_penalty=2.0, no_repeat_ngram_size=2)),
         ("beams-never", dict(num_beams=4, early_stopping="never",
                              length_penalty=-0.5, num_return_sequences=3)))


def write_beams(out, name, model, draw, seed, eos=None):
    inputs = find_beams(model, draw, seed, [way for _, way in BEAMS])
    return [out.write_step(name, model, step, inputs, eos, **way)
            for step, way in BEAMS]


def llama_generation(out):
    base = "llama-lm"
    out.save(base, build(hf.LlamaForCausalLM, llama_config(), 101, layer=2.0))
    model = out.load(hf.LlamaForCausalLM, base)
    write_forward(out.folder(base), model, ALL, 101)
    set_generation(model, pad_token_id=0)
    inputs, first, second = find_ended(model, left, 1000, 8)
    steps = [out.write_step(base, model, "generate-left", inputs, "none")]
    given, _ = find_greedy(model, right, 2000)
    steps.append(out.write_step(base, model, "generate-right", given, "none"))
    set_generation(model, pad_token_id=0, eos_token_id=first)
    steps += [out.write_step(base, model, "generate-eos", inputs, str(first)),
              out.write_step(base, model, "generate-min", inputs, str(first),
                             min_length=30)]
    out.patch(base, "generation_config.json", eos_token_id=2, pad_token_id=0)
    out.add(base, ALL, steps)

    name = "llama-lm-eos-list"
    out.patch(name, "generation_config.json", base,
              eos_token_id=[first, second], pad_token_id=0)
    model = out.load(hf.LlamaForCausalLM, name, base)
    steps = [out.write_step(name, model, "generate", inputs)]
    steps += write_beams(out, name, model, left, 3000)
    out.add(name, generate=steps, base=base)


def llama_classes(out):
    name = "llama-mqa-tied"
    out.save(name, build(hf.LlamaForCausalLM, llama_config(
        **SMALL, tie_word_embeddings=True, attention_bias=True, mlp_bias=True,
        rms_norm_eps=1e-5, eos_token_id=[2, 5], pad_token_id=0), 102,
        token=0.3, layer=2.0))
    model = out.load(hf.LlamaForCausalLM, name)
    write_forward(out.folder(name), model, SOME, 102)
    inputs, _ = find_greedy(
        model, left, 4000, accept=lambda rows, _: len(
            {row.tolist().count(0) for row in rows[:, 8:]}) == 3)
    out.add(name, SOME, [out.write_step(name, model, "generate", inputs)])

    name = "llama-model"
    out.save(name, build(hf.LlamaModel, llama_config(
        **dict(SMALL, num_key_value_heads=3),
        hidden_act="gelu"), 103))
    write_forward(out.folder(name), out.load(hf.LlamaModel, name), ALL, 103)
    out.add(name, ALL)

    name = "llama-sequence"
    out.save(name, build(hf.LlamaForSequenceClassification, llama_config(
        **SMALL, num_labels=3, num_hidden_layers=1, pad_token_id=0), 104))
    cases = SOME + ("holes", "one")
    write_forward(out.folder(name), out.load(
        hf.LlamaForSequenceClassification, name), cases, 104)
    out.add(name, cases)

    name = "llama-old"  # as version 4 and its converters wrote it
    out.save(name, build(hf.LlamaForCausalLM, config(
        hf.LlamaConfig, hidden_size=52, num_attention_heads=2,
        num_key_value_heads=2, intermediate_size=31, num_hidden_layers=1,
        rope_parameters={"rope_type": "default", "rope_theta": 500.0}), 105))
    out.patch(name, "config.json", rope_parameters=..., head_dim=...,
              num_key_value_heads=..., dtype=..., rope_theta=500.0,
              rope_scaling=None, torch_dtype="float32", pretraining_tp=1,
              transformers_version="4.31.0")
    out.rename(name, lambda key: key, {
        "model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(13)})
    write_forward(out.folder(name), out.load(hf.LlamaForCausalLM, name), SOME,
                  105)
    out.add(name, SOME)


def llama_rotary(out):
    """Each way to stretch the angles, over the same weights."""
    base = "llama-linear"
    theta = {"rope_theta": 10000.0}
    out.save(base, build(hf.LlamaModel, llama_config(
        **SMALL, num_hidden_layers=1, rope_parameters={
            "rope_type": "linear", "factor": 4.0, **theta}), 111))
    yarn = {"rope_type": "yarn", "factor": 4.0,
            "original_max_position_embeddings": 16, **theta}
    llama3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
              "original_max_position_embeddings": 32}
    for index, (name, changes) in enumerate((
            (base, {}),
            ("llama-llama3", dict(rope_parameters={
                "rope_type": "llama3", **llama3, "rope_theta": 500000.0})),
            ("llama-llama3-old", dict(
                rope_parameters=..., rope_theta=500000.0,
                rope_scaling={"rope_type": "llama3", **llama3})),
            ("llama-linear-old", dict(
                rope_parameters=..., rope_theta=1000.0,
                rope_scaling={"type": "linear", "factor": 2.0})),
            ("llama-dynamic", dict(rope_parameters={
                "rope_type": "dynamic", "factor": 2.0, **theta})),
            ("llama-yarn", dict(rope_parameters=yarn)),
            ("llama-yarn-betas", dict(rope_parameters={
                **yarn, "beta_fast": 4.0, "beta_slow": 0.1,
                "truncate": False, "attention_factor": 0.8})),
            ("llama-yarn-mscale", dict(rope_parameters={
                **yarn, "beta_fast": 2.0, "beta_slow": 0.05, "mscale": 1.2,
                "mscale_all_dim": 0.7})))):
        if changes:
            out.patch(name, "config.json", base, **changes)
        origin = base if changes else None
        model = out.load(hf.LlamaModel, name, origin)
        write_forward(out.folder(name), model, FAR, 111 + index)
        out.add(name, FAR, base=origin)


def mistral(out):
    base = "mistral-window"
    out.save(base, build(hf.MistralForCausalLM, config(
        hf.MistralConfig, **SMALL, sliding_window=5), 121, layer=2.0))
    model = out.load(hf.MistralForCausalLM, base)
    write_forward(out.folder(base), model, ALL, 121)
    set_generation(model, pad_token_id=0)
    inputs, first, _ = find_ended(model, left, 5000, 8)
    steps = [out.write_step(base, model, "generate-left", inputs, "none")]
    set_generation(model, pad_token_id=0, eos_token_id=first)
    steps += [out.write_step(base, model, "generate-eos", inputs, str(first))]
    out.patch(base, "generation_config.json", eos_token_id=first,
              pad_token_id=0)
    steps += write_beams(out, base, model, left, 6000)
    # The window counts columns, masked ones too: those in the middle, and those
    # between a prompt and what is generated.
    model = out.load(hf.MistralForCausalLM, base)
    given, _ = find_greedy(model, right, 6500)
    out.write_step(base, model, "generate-right", given)
    out.add(base, [case for case in ALL if case != "holes"], steps,
            refused={"holes": "attention_mask",
                     "generate-right": "attention_mask"})

    name = "mistral-no-window"
    out.patch(name, "config.json", base, sliding_window=None)
    model = out.load(hf.MistralForCausalLM, name, base)
    write_forward(out.folder(name), model, ("holes", "longest"), 122)
    out.add(name, ("holes", "longest"), base=base)


def qwen2(out):
    name = "qwen2-lm"
    out.save(name, build(hf.Qwen2ForCausalLM, config(
        hf.Qwen2Config, num_attention_heads=2, num_key_value_heads=1,
        intermediate_size=31, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 1000000.0}),
        131, token=0.3, layer=2.0))
    # As the models on the hub say that they have no window.
    out.patch(name, "config.json", layer_types=..., sliding_window=4,
              use_sliding_window=False, max_window_layers=1)
    model = out.load(hf.Qwen2ForCausalLM, name)
    write_forward(out.folder(name), model, ALL, 131)
    set_generation(model, pad_token_id=0)
    inputs, first, second = find_ended(model, left, 7000, 8)
    out.patch(name, "generation_config.json", eos_token_id=[first, second],
              pad_token_id=0)
    steps = [out.write_step(name, model, "generate-left", inputs, "none")]
    model = out.load(hf.Qwen2ForCausalLM, name)
    steps.append(out.write_step(name, model, "generate", inputs))
    out.add(name, ALL, steps)

    # Every other layer sees all that came before it.
    name = "qwen2-windows"
    out.save(name, build(hf.Qwen2ForCausalLM, config(
        hf.Qwen2Config, hidden_size=28, num_attention_heads=2,
        num_key_value_heads=1, intermediate_size=31, num_hidden_layers=4,
        use_sliding_window=True, sliding_window=5, max_window_layers=0,
        layer_types=["sliding_attention", "full_attention"] * 2), 132,
        token=0.3, layer=2.0))
    model = out.load(hf.Qwen2ForCausalLM, name)
    write_forward(out.folder(name), model, ALL, 132)
    set_generation(model, pad_token_id=0)
    inputs, first, _ = find_ended(model, left, 7500, 8)
    steps = [out.write_step(name, model, "generate-left", inputs, "none")]
    out.patch(name, "generation_config.json", eos_token_id=first,
              pad_token_id=0)
    out.add(name, [case for case in ALL if case != "holes"], steps,
            refused={"holes": "attention_mask"})


def write(out):
    llama_generation(out)
    llama_classes(out)
    llama_rotary(out)
    mistral(out)
    qwen2(out)
