#!/usr/bin/env python3
# Writes test/golden/gguf by llama.cpp's converter.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes test/golden/gguf: small models of the architectures of GGUF that tfc
reads, as llama.cpp's own converter writes them, and what Hugging Face computes
of the folders that it was given. Matrices are in 16 bits, in the folder, too.

    make_gguf.py --llama-cpp DIR [NAME...]

DIR is llama.cpp's source, whose conversion/ and gguf-py/ are imported."""
import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import torch
import transformers as hf
from safetensors.torch import save_file

from reference import build

OUT = Path(__file__).parent / "gguf"
VOCABULARY, LENGTH = 61, 12
SIZES = dict(vocab_size=VOCABULARY, hidden_size=30, num_hidden_layers=2,
             num_attention_heads=3, num_key_value_heads=1,
             intermediate_size=37, max_position_embeddings=60, bos_token_id=1,
             eos_token_id=2, pad_token_id=0, attn_implementation="eager")
EXPERTS = dict(num_experts_per_tok=3, num_local_experts=5,
               intermediate_size=14)
ROUTED = dict(n_routed_experts=8, num_experts_per_tok=3, n_group=1,
              topk_group=1, n_shared_experts=2, moe_intermediate_size=14,
              routed_scaling_factor=1.7, norm_topk_prob=True,
              first_k_dense_replace=1, head_dim=12)
LONG = dict(rope_type="longrope", rope_theta=500.0,
            long_factor=[1.0, 1.5, 3.0, 9.0, 20.0],
            short_factor=[1.0, 1.05, 1.1, 1.3, 1.6],
            original_max_position_embeddings=60)
# Of heads of values, which llama.cpp has in another order.
DELTA = dict(num_hidden_layers=4, head_dim=12, rms_norm_eps=1e-3,
             linear_num_key_heads=2, linear_key_head_dim=7,
             linear_value_head_dim=9, layer_types=[
                 "linear_attention", "linear_attention", "full_attention",
                 "linear_attention"],
             rope_parameters=dict(rope_type="default", rope_theta=10000.0,
                                  partial_rotary_factor=0.5))

LATENTS = dict(
    kv_lora_rank=20, qk_nope_head_dim=10, qk_rope_head_dim=6, v_head_dim=9,
    n_routed_experts=8, num_experts_per_tok=3, n_group=4, topk_group=2,
    n_shared_experts=2, moe_intermediate_size=14, first_k_dense_replace=1,
    routed_scaling_factor=1.7, norm_topk_prob=True, num_key_value_heads=3)
GEMMA4 = dict(
    head_dim=14, global_head_dim=20, num_hidden_layers=5, sliding_window=4,
    final_logit_softcapping=20.0, layer_types=[
        "sliding_attention", "full_attention", "sliding_attention",
        "sliding_attention", "full_attention"],
    rope_parameters={
        "full_attention": {"rope_type": "proportional", "rope_theta": 900.0,
                           "partial_rotary_factor": 0.4},
        "sliding_attention": {"rope_type": "default", "rope_theta": 50.0}})
MAMBA = dict(num_hidden_layers=3, mamba_n_heads=4, mamba_d_head=16,
             mamba_d_state=9, mamba_n_groups=2, mamba_expand=2,
             hidden_act="silu", position_embedding_type=None, layer_types=[
                 "linear_attention", "full_attention", "linear_attention"])
SUBLAYERS = dict(
    head_dim=12, mamba_num_heads=8, mamba_head_dim=16, ssm_state_size=9,
    n_groups=2, n_routed_experts=8, num_experts_per_tok=3,
    moe_intermediate_size=14, moe_shared_expert_intermediate_size=22,
    routed_scaling_factor=2.5, n_group=1, topk_group=1)

# Class, and what of its configuration is not as SIZES has it.
MODELS = {
    "arcee": ("Arcee", dict(hidden_act="relu2", head_dim=14)),
    "dots1": ("Dots1", dict(ROUTED, attention_bias=True)),
    "ernie4_5": ("Ernie4_5", dict(use_bias=False, head_dim=14)),
    "ernie4_5-biased": ("Ernie4_5", dict(use_bias=True, head_dim=14)),
    "exaone4": ("Exaone4", dict(
        hidden_size=36, num_hidden_layers=4, sliding_window=4,
        sliding_window_pattern=4)),
    "exaone4-full": ("Exaone4", dict(
        hidden_size=36, sliding_window=None,
        layer_types=["full_attention"] * 2)),
    "falcon-h1": ("FalconH1", dict(
        num_hidden_layers=2, head_dim=10, hidden_act="silu", mamba_d_ssm=54,
        mamba_n_heads=6, mamba_d_head=9, mamba_d_state=9, mamba_n_groups=2,
        # The converter rounds matrices times these.
        mamba_conv_bias=True, embedding_multiplier=2.0,
        lm_head_multiplier=0.5, mlp_multipliers=[0.5, 2.0],
        key_multiplier=0.5, attention_in_multiplier=2.0,
        attention_out_multiplier=0.5, ssm_in_multiplier=2.0,
        ssm_out_multiplier=0.5, ssm_multipliers=[0.5, 2.0, 0.5, 1.0, 0.25])),
    "gemma": ("Gemma", dict(head_dim=14)),
    "gemma2": ("Gemma2", dict(
        head_dim=14, query_pre_attn_scalar=14, num_hidden_layers=3,
        sliding_window=4, attn_logit_softcapping=5.0,
        final_logit_softcapping=20.0)),
    "gemma3": ("Gemma3", dict(
        head_dim=14, query_pre_attn_scalar=14, num_hidden_layers=7,
        sliding_window=4, rope_parameters={
            "full_attention": {"rope_type": "linear", "factor": 2.0,
                               "rope_theta": 900.0},
            "sliding_attention": {"rope_type": "default",
                                  "rope_theta": 50.0}})),
    "glm4": ("Glm4", dict(head_dim=12, attention_bias=True, pad_token_id=0)),
    "glm4moe": ("Glm4Moe", dict(ROUTED, use_qk_norm=True, n_group=4,
                                topk_group=2, num_hidden_layers=3)),
    "gpt-oss": ("GptOss", dict(
        EXPERTS, head_dim=14, num_hidden_layers=3, sliding_window=5,
        rope_parameters=dict(
            rope_type="yarn", rope_theta=150000.0, factor=32.0, beta_fast=32.0,
            beta_slow=1.0, truncate=False,
            original_max_position_embeddings=4096))),
    "granite": ("Granite", dict(
        embedding_multiplier=3.0, attention_multiplier=0.3,
        residual_multiplier=0.7, logits_scaling=2.0, attention_bias=True)),
    "granitehybrid": ("GraniteMoeHybrid", dict(
        EXPERTS, **MAMBA, hidden_size=32, num_attention_heads=4,
        num_key_value_heads=2, shared_intermediate_size=22,
        embedding_multiplier=1.5, attention_multiplier=0.4,
        residual_multiplier=0.7, logits_scaling=1.3)),
    "granitehybrid-dense": ("GraniteMoeHybrid", dict(
        MAMBA, num_local_experts=0, hidden_size=32, num_attention_heads=4,
        num_key_value_heads=2, shared_intermediate_size=22)),
    "granitemoe": ("GraniteMoe", dict(
        EXPERTS, embedding_multiplier=1.5, attention_multiplier=0.4,
        residual_multiplier=0.7, logits_scaling=1.3)),
    "hunyuan": ("HunYuanDenseV1", dict(head_dim=14)),
    "lfm2": ("Lfm2", dict(
        num_hidden_layers=4, block_auto_adjust_ff_dim=False, layer_types=[
            "conv", "full_attention", "conv", "conv"])),
    "lfm2moe": ("Lfm2Moe", dict(
        num_hidden_layers=4, num_experts=5, num_experts_per_tok=2,
        moe_intermediate_size=14, num_dense_layers=2, layer_types=[
            "conv", "full_attention", "conv", "conv"])),
    "llama-yarn": ("Llama", dict(rope_parameters=dict(
        rope_type="yarn", rope_theta=10000.0, factor=4.0,
        original_max_position_embeddings=16))),
    "mamba2": ("Mamba2", dict(
        hidden_size=32, num_heads=4, head_dim=16, state_size=9, n_groups=2,
        expand=2)),
    "minimax-m2": ("MiniMaxM2", dict(
        EXPERTS, head_dim=14, rotary_dim=6,
        rope_parameters=dict(rope_type="default", rope_theta=5000000.0,
                             partial_rotary_factor=6 / 14))),
    "mixtral": ("Mixtral", dict(EXPERTS)),
    "nemotron_h": ("NemotronH", dict(
        SUBLAYERS, hidden_size=32, layer_types=[
            "linear_attention", "mlp", "full_attention"])),
    "nemotron_h_moe": ("NemotronH", dict(
        SUBLAYERS, hidden_size=32, moe_latent_size=12, layer_types=[
            "moe", "linear_attention", "full_attention", "moe"])),
    "olmo2": ("Olmo2", dict(num_attention_heads=5, num_key_value_heads=5)),
    "olmo3": ("Olmo3", dict(num_hidden_layers=4, sliding_window=4)),
    "olmoe": ("Olmoe", dict(num_key_value_heads=3, num_experts=5,
                            num_experts_per_tok=3, intermediate_size=14)),
    "phi3": ("Phi3", dict(sliding_window=5)),
    "phi3-longrope": ("Phi3", dict(
        sliding_window=None, max_position_embeddings=150,
        original_max_position_embeddings=60, rope_parameters=LONG)),
    "phi3-partial": ("Phi3", dict(hidden_size=48, rope_parameters=dict(
        rope_type="default", rope_theta=10000.0,
        partial_rotary_factor=0.75))),
    "qwen2moe": ("Qwen2Moe", dict(
        num_experts=5, num_experts_per_tok=3, moe_intermediate_size=14,
        shared_expert_intermediate_size=22)),
    "qwen3moe": ("Qwen3Moe", dict(
        num_experts=5, num_experts_per_tok=3, moe_intermediate_size=14,
        head_dim=14, norm_topk_prob=True)),
    "qwen35": ("Qwen3_5", dict(
        DELTA, linear_num_value_heads=6, attention_bias=False)),
    "qwen35-heads": ("Qwen3_5", dict(DELTA, linear_num_value_heads=2)),
    "qwen35moe": ("Qwen3_5Moe", dict(
        DELTA, linear_num_value_heads=4, num_experts=5, num_experts_per_tok=3,
        moe_intermediate_size=14, shared_expert_intermediate_size=22)),
    "seed_oss": ("SeedOss", dict(head_dim=14, attention_bias=True)),
    "smollm3": ("SmolLM3", dict(num_hidden_layers=5)),
    "starcoder2": ("Starcoder2", dict(sliding_window=None)),
    "bert": ("Bert", dict(type_vocab_size=2)),
    "bloom": ("Bloom", dict(intermediate_size=120)),
    "cohere2": ("Cohere2", dict(
        num_hidden_layers=5, sliding_window=4, logit_scale=0.5,
        rotary_pct=1.0)),
    "command-r": ("Cohere", dict(logit_scale=0.3)),
    "command-r-norms": ("Cohere", dict(logit_scale=0.3, use_qk_norm=True,
                                       num_key_value_heads=3)),
    "deepseek2": ("DeepseekV2", dict(
        LATENTS, q_lora_rank=None, topk_method="greedy", n_group=None,
        topk_group=None)),
    "deepseek2-groups": ("DeepseekV2", dict(
        LATENTS, q_lora_rank=18, topk_method="group_limited_greedy",
        rope_parameters=dict(
            rope_type="yarn", rope_theta=10000.0, factor=4.0, mscale=0.707,
            mscale_all_dim=0.707, original_max_position_embeddings=16))),
    "deepseek3": ("DeepseekV3", dict(LATENTS, q_lora_rank=18)),
    "falcon": ("Falcon", dict(num_kv_heads=1, multi_query=True,
                              intermediate_size=120)),
    "falcon2": ("Falcon", dict(
        hidden_size=36, num_attention_heads=6, num_kv_heads=2, new_decoder_architecture=True,
        num_ln_in_parallel_attn=1)),
    "falcon40": ("Falcon", dict(
        hidden_size=36, num_attention_heads=6, num_kv_heads=2, new_decoder_architecture=True)),
    "glm4moelite": ("Glm4MoeLite", dict(LATENTS, q_lora_rank=18, n_group=1,
                                        topk_group=1)),
    "gpt2": ("GPT2", dict(intermediate_size=120)),
    "gptneox": ("GPTNeoX", dict(rope_parameters=dict(
        rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.6))),
    "gptneox-turns": ("GPTNeoX", dict(use_parallel_residual=False)),
    "mpt": ("Mpt", dict(intermediate_size=120)),
    "nomic-bert": ("NomicBert", dict(type_vocab_size=2)),
    "olmo": ("Olmo", dict()),
    "phi2": ("Phi", dict(num_key_value_heads=3, intermediate_size=120, rope_parameters=dict(
        rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.4))),
    "stablelm": ("StableLm", dict(use_qkv_bias=True)),
    "stablelm-parallel": ("StableLm", dict(use_parallel_residual=True)),
    "gemma4": ("Gemma4", dict(
        GEMMA4, hidden_size_per_layer_input=0, num_kv_shared_layers=0,
        attention_k_eq_v=True, num_global_key_value_heads=1,
        num_key_value_heads=3)),
    "gemma4-inputs": ("Gemma4", dict(
        GEMMA4, hidden_size_per_layer_input=9, num_kv_shared_layers=2,
        use_double_wide_mlp=True, vocab_size_per_layer_input=VOCABULARY)),
    "qwen3next": ("Qwen3Next", dict(
        DELTA, linear_num_value_heads=4, num_experts=5, num_experts_per_tok=3,
        moe_intermediate_size=14, shared_expert_intermediate_size=22)),
    "bert-pooled": ("Bert", dict(type_vocab_size=2)),
    "qwen3-pooled": ("Qwen3", dict(head_dim=14)),
    "ernie4_5-moe": ("Ernie4_5_Moe", dict(
        num_hidden_layers=3, moe_num_experts=5, moe_k=3, use_bias=False,
        moe_num_shared_experts=2, moe_layer_start_index=1,
        moe_intermediate_size=14)),
    "llama4": ("Llama4", dict(
        num_hidden_layers=5, head_dim=10, num_local_experts=5,
        intermediate_size=14, intermediate_size_mlp=22,
        interleave_moe_layer_step=2, rope_parameters=dict(
            rope_type="default", rope_theta=500000.0))),
    "mistral3": ("Ministral3", dict(
        head_dim=14, rope_parameters=dict(
            rope_type="yarn", rope_theta=1000000.0, factor=4.0, mscale=1.0,
            mscale_all_dim=1.0, llama_4_scaling_beta=0.1, beta_fast=32.0,
            beta_slow=1.0, original_max_position_embeddings=60))),
    "nemotron": ("Nemotron", dict(rope_parameters=dict(
        rope_type="default", rope_theta=10000.0,
        partial_rotary_factor=0.4))),
    "modern-bert": ("ModernBert", dict(
        num_hidden_layers=4, local_attention=6, rope_parameters={
            "full_attention": {"rope_type": "default", "rope_theta": 900.0},
            "sliding_attention": {"rope_type": "default",
                                  "rope_theta": 50.0}})),
}
# Whose configuration llama.cpp reads as it was published.
PUBLISHED = ("GraniteMoeHybrid", "NemotronH", "NomicBert", "GPT2", "GPTNeoX",
             "Mpt")
# Of these the rows of the last layer are what is computed.
ENCODERS = ("Bert", "NomicBert", "ModernBert")
# How those of these are pooled; a vector has length 1 then.
POOLED = {"bert-pooled": "mean", "qwen3-pooled": "lasttoken"}
# Whose class for language has another name.
CLASSES = {"GPT2": "GPT2LMHeadModel"}
# Whose configuration class has another name.
CONFIGS = {"Gemma3": "Gemma3TextConfig", "Gemma4": "Gemma4TextConfig",
           "Llama4": "Llama4TextConfig",
           "Qwen3_5": "Qwen3_5TextConfig",
           "Qwen3_5Moe": "Qwen3_5MoeTextConfig"}


def make(name, seed):
    """The model, its numbers as 16 bits have them."""
    stem, sizes = MODELS[name]
    keys = {**SIZES, **sizes}
    if stem in ("Qwen3_5Moe", "Mamba2", "Mpt"):
        del keys["intermediate_size"]
    config = getattr(hf, CONFIGS.get(stem, stem + "Config"))(**keys)
    is_body = stem in ENCODERS or name in POOLED
    model = build(getattr(hf, stem + "Model" if is_body else CLASSES.get(
        stem, stem + "ForCausalLM")), config, seed)
    with torch.no_grad():
        for tensor in model.parameters():
            # What the converter keeps in 16 bits, and what it moves by 1.
            tensor.copy_(tensor.half().float())
    return model


def rename_types(path):
    """Words for layers that transformers has changed since."""
    with open(path) as stream:
        config = json.load(stream)
    words = {"full_attention": "attention", "linear_attention": "mamba"}
    if config["model_type"] == "nomic_bert":
        for ours, theirs in (
                ("hidden_size", "n_embd"), ("num_hidden_layers", "n_layer"),
                ("num_attention_heads", "n_head"),
                ("intermediate_size", "n_inner"),
                ("layer_norm_eps", "layer_norm_epsilon")):
            config[theirs] = config.pop(ours)
        config.update(
            n_positions=2048, max_trained_positions=2048, prenorm=False,
            activation_function="swiglu", causal=False, qkv_proj_bias=False,
            mlp_fc1_bias=False, mlp_fc2_bias=False, rotary_emb_fraction=1.0,
            rotary_emb_interleaved=False, rotary_emb_scale_base=None)
    elif config["model_type"] == "gpt2":
        config["n_ctx"] = config["n_positions"]
    elif config["model_type"] == "mpt":
        config["architectures"] = ["MPTForCausalLM"]
    elif config["model_type"] == "gpt_neox":
        config["rotary_pct"] = config["rope_parameters"][
            "partial_rotary_factor"]
    elif "layer_types" in config:
        config["layer_types"] = [words[kind] for kind in config["layer_types"]]
    else:
        kinds = config.pop("layers_block_type")
        letters = {"full_attention": "*", "linear_attention": "M", "moe": "E",
                   "mlp": "-"}
        config["hybrid_override_pattern"] = "".join(map(letters.get, kinds))
        config["num_hidden_layers"] = len(kinds)
        if "moe" not in kinds:
            config = {key: value for key, value in config.items()
                      if "expert" not in key and "moe" not in key and
                      key not in ("n_group", "topk_group")}
    with open(path, "w") as stream:
        json.dump(config, stream)


def convert(folder, path):
    """llama.cpp's, but for the vocabulary, which there is none of."""
    from conversion import get_model_class
    from conversion.base import ModelBase, ModelType, get_model_architecture
    from gguf import LlamaFileType

    def load_hparams(folder, is_mistral_format=False):
        with open(folder / "config.json") as stream:
            return json.load(stream)
    # As it is published, without keys that transformers has besides.
    ModelBase.load_hparams = staticmethod(load_hparams)
    given = load_hparams(folder, False)
    kind = get_model_class(get_model_architecture(given, ModelType.TEXT))
    kind = getattr(kind, "Ministral3Model", kind)  # of a class around it

    def set_vocab(self):
        for key in ("bos", "eos", "pad"):
            value = self.hparams.get(key + "_token_id")
            if value is not None:
                getattr(self.gguf_writer, f"add_{key}_token_id")(value)
    for each in kind.__mro__:
        if "set_vocab" in vars(each):
            each.set_vocab = set_vocab
    if hasattr(kind, "supports_mtp_export"):
        kind.no_mtp = True  # layers that draft tokens
    with torch.inference_mode():
        kind(folder, LlamaFileType.MOSTLY_F16, path, use_temp_file=False,
             eager=True).write()


def write_pooling(folder, how):
    """As sentence-transformers has it."""
    modules = [("Transformer", ""), ("Pooling", "1_Pooling"),
               ("Normalize", "2_Normalize")]
    with open(os.path.join(folder, "modules.json"), "w") as stream:
        json.dump([{"idx": i, "name": str(i), "path": path,
                    "type": f"sentence_transformers.models.{kind}"}
                   for i, (kind, path) in enumerate(modules)], stream)
    os.mkdir(os.path.join(folder, "1_Pooling"))
    with open(os.path.join(folder, "1_Pooling", "config.json"),
              "w") as stream:
        json.dump({"pooling_mode_mean_tokens": how == "mean",
                   "pooling_mode_lasttoken": how == "lasttoken"}, stream)


def compute(name, model, ids):
    """The output's name, and what it is."""
    made = model(ids)
    if name in POOLED:
        rows = made.last_hidden_state[0]
        vector = rows.mean(0) if POOLED[name] == "mean" else rows[-1]
        return "sentence_embedding", vector / vector.norm()
    output = "last_hidden_state" if MODELS[name][0] in ENCODERS else "logits"
    return output, made[output][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--llama-cpp", required=True, type=Path)
    parser.add_argument("names", nargs="*", default=list(MODELS))
    given = parser.parse_args()
    sys.path[1:1] = [str(given.llama_cpp / "gguf-py"), str(given.llama_cpp)]
    OUT.mkdir(exist_ok=True)
    for name in given.names:
        model = make(name, 1000 + list(MODELS).index(name))
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            with open(os.path.join(folder, "tokenizer.json"), "w") as stream:
                json.dump({"model": {"type": "WordPiece", "vocab": {
                    str(i): i for i in range(VOCABULARY)}},
                    "added_tokens": []}, stream)
            if name in POOLED:
                write_pooling(folder, POOLED[name])
            if MODELS[name][0] in PUBLISHED:
                rename_types(os.path.join(folder, "config.json"))
            convert(Path(folder), OUT / f"{name}.gguf")
        ids = torch.randint(3, VOCABULARY, (1, LENGTH))
        with torch.no_grad():
            output, made = compute(name, model, ids)
        save_file({"input_ids": ids[0].int(), output: made.contiguous()},
                  OUT / f"{name}.safetensors")
        print(name, (OUT / f"{name}.gguf").stat().st_size)


if __name__ == "__main__":
    main()
