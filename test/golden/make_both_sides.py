# The golden models of decoders whose tokens see those after them as well, as
# embedders and classifiers are made of them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import transformers as hf

from inputs import VOCAB
from make_families import decoder
from make_llama import ALL, SMALL, SOME, config, llama_config
from reference import build
from writer import write_forward


def gpt2_config():
    return hf.GPT2Config(
        vocab_size=VOCAB, n_embd=52, n_layer=3, n_head=2, n_inner=75,
        n_positions=60, bos_token_id=1, eos_token_id=2, is_causal=False,
        scale_attn_by_inverse_layer_idx=True)


def write(out):
    for seed, (name, cls, made, cases) in enumerate((
            ("llama-both-sides", hf.LlamaModel, llama_config(
                is_causal=False, num_hidden_layers=3, rope_parameters={
                    "rope_type": "linear", "factor": 2.0,
                    "rope_theta": 1000.0}), ALL),
            ("llama-both-sides-sequence", hf.LlamaForSequenceClassification,
             llama_config(**SMALL, is_causal=False, num_labels=3,
                          pad_token_id=0), SOME + ("holes", "one")),
            ("qwen2-both-sides", hf.Qwen2Model, config(
                hf.Qwen2Config, is_causal=False, num_attention_heads=2), ALL),
            ("mistral-both-sides", hf.MistralModel, config(
                hf.MistralConfig, **SMALL, is_causal=False,
                sliding_window=None), SOME),
            ("gpt2-both-sides", hf.GPT2Model, gpt2_config(),
             ALL + ("types",)),
            # Without a window in some layers, and with one in others.
            ("gemma3-both-sides", hf.Gemma3TextModel, hf.Gemma3TextConfig(
                **decoder(head_dim=14, num_hidden_layers=3, sliding_window=5,
                          use_bidirectional_attention=True, layer_types=[
                              "sliding_attention", "full_attention",
                              "sliding_attention"])),
             SOME + ("one", "longest")))):
        if not out.wants(name):
            continue
        model = build(cls, made, 301 + seed)
        out.save(name, model)
        # As transformers reads it back.
        loaded = out.load(cls, name)
        assert (getattr(loaded.config, "is_causal", True) is False or
                loaded.config.use_bidirectional_attention)
        write_forward(out.folder(name), loaded, cases, 301 + seed)
        out.add(name, cases)
