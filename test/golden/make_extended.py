# The golden models of families whose tables extend others'.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import transformers as hf

from inputs import VOCAB
from make_families import (MOST, buckets, decoder, delta, encoder,
                           latent, moe, pair, write_decoders,
                           write_encoders, write_pairs_of)


def without(keys, *gone):
    return {key: value for key, value in keys.items() if key not in gone}


def dbrx(attn, ffn, **changes):
    """Its module reads the rotation's theta of the attention, and turns by that
    of all."""
    return hf.DbrxConfig(
        attn_config=dict(attn, rope_theta=1e4), ffn_config=ffn,
        **dict(dict(vocab_size=VOCAB, d_model=30, n_layers=2, n_heads=3,
                    max_seq_len=60, bos_token_id=1, eos_token_id=2,
                    pad_token_id=0), **changes))


def dense(**changes):
    """Latents without experts."""
    return without(latent(**changes), "num_experts_per_tok", "n_routed_experts",
                   "moe_intermediate_size", "n_shared_experts")


def kimi_linear(**changes):
    """Decays of each key, and latents that nothing turns."""
    keys = latent(**dict(dict(num_local_experts=12, q_lora_rank=None,
                              qk_rope_head_dim=5), **changes))
    return without(dict(keys, max_position_embeddings=71), "n_routed_experts")


SHARED = dict(num_experts=7, moe_intermediate_size=14)
DECODERS = (
    ("hyv3-lm", hf.HYV3ForCausalLM, hf.HYV3Config(**moe(
        **SHARED, head_dim=12, num_hidden_layers=3, num_shared_experts=2,
        attention_bias=True))),
    ("graniteswa-lm", hf.GraniteSWAForCausalLM, hf.GraniteSWAConfig(**decoder(
        num_hidden_layers=5, sliding_window=7, attention_multiplier=0.4,
        embedding_multiplier=1.5, residual_multiplier=0.7, logits_scaling=1.3,
        layer_rope_theta=[0, 500.0, 500.0, 90.0, 0]))),
    ("granitemoeswa-lm", hf.GraniteMoeSWAForCausalLM, hf.GraniteMoeSWAConfig(
        **moe(num_hidden_layers=3, num_local_experts=7, intermediate_size=14,
              shared_intermediate_size=22, sliding_window=5,
              layer_types=["sliding_attention", "full_attention",
                           "sliding_attention"]))),
    ("minicpm3-lm", hf.MiniCPM3ForCausalLM, hf.MiniCPM3Config(**dense(
        v_head_dim=7, scale_emb=1.5, scale_depth=1.1, dim_model_base=20))),
    ("minicpm3-plain", hf.MiniCPM3ForCausalLM, hf.MiniCPM3Config(**dense(
        q_lora_rank=None, v_head_dim=None, scale_depth=None,
        dim_model_base=None, tie_word_embeddings=False, mlp_bias=True))),
    ("axk1-lm", hf.AXK1ForCausalLM, hf.AXK1Config(**latent(
        num_hidden_layers=3, n_group=4, topk_group=2,
        routed_scaling_factor=1.7))),
    ("mistral4-lm", hf.Mistral4ForCausalLM, hf.Mistral4Config(**latent(
        num_hidden_layers=3, n_group=4, topk_group=2,
        first_k_dense_replace=1))),
    ("olmohybrid-lm", hf.OlmoHybridForCausalLM, hf.OlmoHybridConfig(**without(
        delta(hidden_size=36, rms_norm_eps=1e-3, linear_key_head_dim=9,
              linear_value_head_dim=3, rope_parameters=dict(
                  rope_type="default", rope_theta=500.0)), "head_dim"))),
    ("olmohybrid-nope", hf.OlmoHybridForCausalLM, hf.OlmoHybridConfig(
        **without(delta(
            num_hidden_layers=2, linear_num_value_heads=2,
            linear_key_head_dim=5,
            linear_allow_neg_eigval=False,
            layer_types=["full_attention", "linear_attention"],
            rope_parameters=dict(rope_type="default", rope_theta=None)),
            "head_dim"))),
    ("afmoe-lm", hf.AfmoeForCausalLM, hf.AfmoeConfig(**moe(
        **SHARED, head_dim=12, num_hidden_layers=4, num_shared_experts=2,
        mup_enabled=True, sliding_window=7, route_scale=1.7,
        global_attn_every_n_layers=3))),
    ("lfm3-lm", hf.Lfm3ForCausalLM, hf.Lfm3Config(**decoder(
        num_hidden_layers=6, head_dim=10, sliding_window=7, layer_types=[
            "conv", "full_attention", "sliding_attention", "conv",
            "sliding_attention", "full_attention"]))),
    ("lfm3-plain", hf.Lfm3ForCausalLM, hf.Lfm3Config(**decoder(
        num_hidden_layers=3, head_dim=12, sliding_window=5, conv_L_cache=4,
        use_sandwich_norm=False, use_attention_gate=False,
        tie_word_embeddings=False, layer_types=[
            "sliding_attention", "conv", "full_attention"]))),
    ("flint-lm", hf.FlintForCausalLM, hf.FlintConfig(**moe(
        **SHARED, head_dim=12, num_hidden_layers=5, sliding_window=7,
        shared_expert_intermediate_size=22, mlp_only_layers=[0, 2]))),
    ("kolibri1-lm", hf.Kolibri1ForCausalLM, hf.Kolibri1Config(**without(
        moe(**SHARED, head_dim=12, num_hidden_layers=3, sliding_window=7,
            shared_expert_intermediate_size=22, layer_types=[
                "sliding_attention", "full_attention", "sliding_attention"]),
        "intermediate_size"))),
    ("kolibri1-normed", hf.Kolibri1ForCausalLM, hf.Kolibri1Config(**without(
        moe(**SHARED, head_dim=26, sliding_window=60, norm_topk_prob=True,
            num_experts_per_tok=6, shared_expert_intermediate_size=5),
        "intermediate_size"))),
    ("laguna-lm", hf.LagunaForCausalLM, hf.LagunaConfig(**moe(
        num_experts=8, moe_intermediate_size=14, head_dim=12,
        num_hidden_layers=5, sliding_window=7,
        shared_expert_intermediate_size=22, moe_routed_scaling_factor=1.7,
        num_attention_heads_per_layer=[3, 5, 3, 3, 5], layer_types=[
            "full_attention", "sliding_attention", "full_attention",
            "sliding_attention", "sliding_attention"]))),
    ("laguna-elements", hf.LagunaForCausalLM, hf.LagunaConfig(**moe(
        **SHARED, head_dim=12, num_hidden_layers=2, sliding_window=60,
        gating="per-element", shared_expert_intermediate_size=5,
        mlp_layer_types=["sparse", "dense"]))),
    ("apertus-lm", hf.ApertusForCausalLM, hf.ApertusConfig(**decoder(
        rope_parameters=dict(
            rope_type="llama3", rope_theta=1e4, factor=4.0,
            original_max_position_embeddings=16, low_freq_factor=1.0,
            high_freq_factor=4.0)))),
    ("cohere2moe-lm", hf.Cohere2MoeForCausalLM, hf.Cohere2MoeConfig(**moe(
        num_experts=7, head_dim=12, num_hidden_layers=4, sliding_window=7,
        intermediate_size=14, num_shared_experts=2, logit_scale=0.7,
        prefix_dense_intermediate_size=37, mlp_layer_types=[
            "dense", "sparse", "sparse", "sparse"], layer_types=[
            "full_attention", "sliding_attention", "full_attention",
            "sliding_attention"]))),
    ("cohere2moe-sigmoid", hf.Cohere2MoeForCausalLM, hf.Cohere2MoeConfig(
        **moe(num_experts=7, head_dim=22, intermediate_size=14,
              sliding_window=60, expert_selection_fn="sigmoid",
              num_shared_experts=1, shared_expert_combination_strategy="sum",
              rms_norm_eps=1e-4, logit_scale=1.5,
              tie_word_embeddings=False))),
    # Heads of two widths, whose keys three layers share, and rows by layer.
    ("gemma4-lm", hf.Gemma4ForCausalLM, hf.Gemma4TextConfig(**decoder(
        num_hidden_layers=7, head_dim=10, global_head_dim=14,
        vocab_size_per_layer_input=VOCAB, hidden_size_per_layer_input=6,
        sliding_window=5, num_kv_shared_layers=3, use_double_wide_mlp=True,
        final_logit_softcapping=30.0, rms_norm_eps=1e-3,
        tie_word_embeddings=False,
        layer_types=["sliding_attention", "full_attention"] * 2 +
                    ["sliding_attention"] * 2 + ["full_attention"]))),
    # Values that are what keys are, in fewer and wider heads.
    ("gemma4-keys", hf.Gemma4ForCausalLM, hf.Gemma4TextConfig(**decoder(
        num_hidden_layers=6, num_attention_heads=4, num_key_value_heads=2,
        head_dim=26, global_head_dim=38, num_global_key_value_heads=1,
        hidden_size_per_layer_input=0, sliding_window=4,
        attention_k_eq_v=True, attention_bias=True))),
    # Experts beside a part that all rows take, each with norms of its own.
    ("gemma4-experts", hf.Gemma4ForCausalLM, hf.Gemma4TextConfig(**decoder(
        num_hidden_layers=3, head_dim=10, global_head_dim=14, num_experts=5,
        top_k_experts=2, moe_intermediate_size=14, enable_moe_block=True,
        hidden_size_per_layer_input=0, sliding_window=5, rms_norm_eps=1e-3,
        tie_word_embeddings=False,
        layer_types=["sliding_attention", "full_attention",
                     "full_attention"]))),
    ("gemma4unified-lm", hf.Gemma4UnifiedForCausalLM,
     hf.Gemma4UnifiedTextConfig(**decoder(
         num_hidden_layers=3, head_dim=10, global_head_dim=22,
         sliding_window=4, tie_word_embeddings=False,
         layer_types=["full_attention", "sliding_attention",
                                        "full_attention"]))),
    # Experts read rows times their weight; every fourth layer turns nothing.
    ("llama4-lm", hf.Llama4ForCausalLM, hf.Llama4TextConfig(**decoder(
        num_hidden_layers=5, head_dim=10, num_local_experts=7,
        intermediate_size=14, intermediate_size_mlp=33,
        rope_parameters=dict(rope_type="default", rope_theta=500000.0)))),
    # Of two layers one has experts, and the last of three turns nothing.
    ("llama4-turns", hf.Llama4ForCausalLM, hf.Llama4TextConfig(**decoder(
        num_hidden_layers=4, head_dim=12, num_local_experts=5,
        intermediate_size=14, intermediate_size_mlp=33, use_qk_norm=False,
        interleave_moe_layer_step=2, no_rope_layer_interval=3,
        attention_bias=True, tie_word_embeddings=True,
        rope_parameters=dict(
            rope_type="llama3", rope_theta=500000.0, factor=8.0,
            low_freq_factor=1.0, high_freq_factor=4.0,
            original_max_position_embeddings=16)))),
    # Streams of rows, sparse gates, a table without rows for the last ids, and
    # keys of the last layers that others have.
    ("gemma3n-lm", hf.Gemma3nForCausalLM, hf.Gemma3nTextConfig(**decoder(
        num_hidden_layers=7, head_dim=10, hidden_size_per_layer_input=6,
        vocab_size_per_layer_input=VOCAB - 20, sliding_window=5,
        altup_num_inputs=3, laurel_rank=5, num_kv_shared_layers=3,
        intermediate_size=[37, 37, 26, 37, 37, 41, 41],
        activation_sparsity_pattern=[0.9, 0.9, 0.4] + [0.0] * 4,
        rms_norm_eps=1e-3, layer_types=[
            "sliding_attention", "full_attention"] * 2 +
            ["sliding_attention"] * 2 + ["full_attention"]))),
    # Another stream is the layers', and what they read of it has no scale.
    ("gemma3n-active", hf.Gemma3nForCausalLM, hf.Gemma3nTextConfig(**decoder(
        num_hidden_layers=3, head_dim=14, hidden_size_per_layer_input=5,
        vocab_size_per_layer_input=VOCAB, sliding_window=4,
        altup_active_idx=2, altup_correct_scale=False, laurel_rank=7,
        num_kv_shared_layers=0, final_logit_softcapping=5.0,
        activation_sparsity_pattern=[0.0, 0.8, 0.8], attention_bias=True,
        rms_norm_eps=1e-3, tie_word_embeddings=False, layer_types=[
            "sliding_attention", "sliding_attention", "full_attention"]))),
    # Norms in front of the last products.
    ("bitnet-lm", hf.BitNetForCausalLM, hf.BitNetConfig(**decoder())),
    ("bitnet-model", hf.BitNetForCausalLM, hf.BitNetConfig(**decoder(
        hidden_size=52, num_attention_heads=2, num_key_value_heads=2,
        hidden_act="silu", attention_bias=True, num_hidden_layers=3,
        tie_word_embeddings=True, rms_norm_eps=1e-3))),
    # Queries, keys and values that are clipped.
    ("dbrx-lm", hf.DbrxForCausalLM, dbrx(
        dict(kv_n_heads=1, clip_qkv=1.25),
        dict(moe_num_experts=7, moe_top_k=3, ffn_hidden_size=14))),
    ("dbrx-single", hf.DbrxForCausalLM, dbrx(
        dict(kv_n_heads=2, clip_qkv=3),
        dict(moe_num_experts=5, moe_top_k=2, ffn_hidden_size=21,
             ffn_act_fn=dict(name="gelu"), moe_normalize_expert_weights=None),
        d_model=52, n_heads=2, n_layers=3)),
    ("olmo-clipped", hf.OlmoForCausalLM, hf.OlmoConfig(**decoder(
        clip_qkv=0.75, tie_word_embeddings=True))),
    ("kimilinear-lm", hf.KimiLinearForCausalLM, hf.KimiLinearConfig(
        **kimi_linear(num_hidden_layers=5, n_group=4, topk_group=2,
                      n_shared_experts=2, linear_attn_config=dict(
                          head_dim=26, num_heads=2, short_conv_kernel_size=4,
                          kda_layers=[1, 2, 4, 5], full_attn_layers=[3])))),
    ("kimilinear-dense", hf.KimiLinearForCausalLM, hf.KimiLinearConfig(
        **kimi_linear(num_hidden_layers=3, num_local_experts=7,
                      intermediate_size=38, q_lora_rank=10,
                      attention_bias=True, linear_head_dim=9,
                      linear_num_heads=5, linear_conv_kernel_dim=3,
                      norm_topk_prob=False,
                      mlp_layer_types=["sparse", "dense", "dense"],
                      layer_types=["full_attention", "linear_attention",
                                   "linear_attention"]))),
)
ENCODERS = (
    ("jina3-mlm", hf.JinaEmbeddingsV3ForMaskedLM, hf.JinaEmbeddingsV3Config(
        **encoder(hidden_size=36, num_attention_heads=3, type_vocab_size=2)),
     MOST, 2),
    ("jina3-model", hf.JinaEmbeddingsV3Model, hf.JinaEmbeddingsV3Config(
        **encoder(hidden_size=36, num_attention_heads=3, type_vocab_size=1)),
     ("ragged", "left"), 0),
    ("ultrabert-mlm", hf.UltrabertForMaskedLM, hf.UltrabertConfig(**decoder(
        num_hidden_layers=4, sliding_window=6, prediction_head_size=22)),
     ("ragged", "left", "longest"), 0),
    ("ultrabert-mean", hf.UltrabertForSequenceClassification,
     hf.UltrabertConfig(**decoder(
         sliding_window=3, num_labels=3, attention_bias=True, mlp_bias=True,
         classifier_pooling="mean")), ("ragged", "left"), 0),
    ("privacyfilter-token", hf.OpenAIPrivacyFilterForTokenClassification,
     hf.OpenAIPrivacyFilterConfig(**moe(
         num_local_experts=7, head_dim=10, intermediate_size=14,
         sliding_window=5, num_labels=5)), ("ragged", "left"), 0),
    # Five groups of three layers, of two sets of weights.
    ("albert-inner", hf.AlbertForMaskedLM, hf.AlbertConfig(**encoder(
        num_hidden_layers=5, embedding_size=14, num_hidden_groups=2,
        inner_group_num=3)), MOST, 2),
    ("debertav2-conv", hf.DebertaV2ForMaskedLM, hf.DebertaV2Config(
        **buckets(conv_kernel_size=5)), ("one", "ragged", "left", "longest"), 0),
    ("debertav2-convgelu", hf.DebertaV2Model, hf.DebertaV2Config(
        **buckets(num_hidden_layers=1, conv_kernel_size=3, conv_act="gelu",
                  embedding_size=14)), ("ragged", "left"), 0),
    ("esmc-mlm", hf.EsmcForMaskedLM, hf.EsmcConfig(**decoder(
        num_hidden_layers=3, num_key_value_heads=3)), MOST, 0),
    ("esmc-cls", hf.EsmcForSequenceClassification, hf.EsmcConfig(**decoder(
        num_key_value_heads=3, num_labels=4, attention_bias=True,
        mlp_bias=True)), ("ragged", "left"), 0),
    ("splinter-model", hf.SplinterModel, hf.SplinterConfig(**encoder(
        hidden_act="gelu_new", type_vocab_size=3)), MOST, 3),
)


def fsmt(**changes):
    """Two vocabularies. Without its cache transformers sees what is before a
    token and nothing else."""
    keys = pair(**dict(dict(src_vocab_size=VOCAB + 6, tgt_vocab_size=VOCAB,
                            decoder_start_token_id=2, use_cache=False,
                            num_beams=1),
                       **changes))
    del keys["vocab_size"]
    return keys


PAIRS = (
    ("fsmt-lm", hf.FSMTForConditionalGeneration, hf.FSMTConfig(**fsmt())),
    ("fsmt-model", hf.FSMTModel, hf.FSMTConfig(**fsmt(
        src_vocab_size=VOCAB, tie_word_embeddings=True, d_model=34,
        scale_embedding=False, activation_function="gelu"))),
)
# Without a mask its pad tokens of the decoder are hidden all the same.
MASKED = ("ragged", "left", "longest")
# A window counts columns; a state is of all tokens.
DISTANCES = ("graniteswa-lm", "granitemoeswa-lm", "afmoe-lm", "olmohybrid-lm",
             "olmohybrid-nope", "lfm3-lm", "lfm3-plain", "flint-lm",
             "kolibri1-lm", "kolibri1-normed", "laguna-lm", "laguna-elements",
             "cohere2moe-lm", "cohere2moe-sigmoid", "gemma4-lm",
             "gemma4-keys", "gemma4-experts", "gemma4unified-lm",
             "gemma3n-lm", "gemma3n-active", "kimilinear-lm",
             "kimilinear-dense")
# There is nobody to say which position a token has.
RELATIVE = ("olmohybrid-nope", "kimilinear-lm", "kimilinear-dense")
# What routers of Gemma 4 read is small: their scores would be near ties.
# Scores of Gemma 3n are not divided: rounded keys would change them by much.
SCALES = {"gemma4-lm": dict(layer=1.2), "gemma4-experts": dict(bias=3.0),
          "gemma3n-lm": dict(layer=1.2)}


def write(out):
    # Longer than the 64 tokens that transformers computes at once.
    write_decoders(out, DECODERS, 1251, DISTANCES, SCALES,
                   longest={"kimilinear-lm": 71}, relative=RELATIVE)
    write_encoders(out, ENCODERS, 1301)
    write_pairs_of(out, PAIRS, 1351, (), {}, MASKED)
