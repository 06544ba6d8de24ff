# The golden models of families whose tables extend others'.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import transformers as hf

from make_families import decoder, delta, latent, moe, write_decoders


def without(keys, *gone):
    return {key: value for key, value in keys.items() if key not in gone}


def dense(**changes):
    """Latents without experts."""
    return without(latent(**changes), "num_experts_per_tok", "n_routed_experts",
                   "moe_intermediate_size", "n_shared_experts")


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
)
# A window counts columns; a state is of all tokens.
DISTANCES = ("graniteswa-lm", "granitemoeswa-lm", "afmoe-lm", "olmohybrid-lm",
             "olmohybrid-nope")
# There is nobody to say which position a token has.
RELATIVE = ("olmohybrid-nope",)
SCALES = {}


def write(out):
    write_decoders(out, DECODERS, 1251, DISTANCES, SCALES, relative=RELATIVE)
