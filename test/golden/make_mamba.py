# The golden models whose layers keep the state of Mamba-2 or Mamba.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import transformers as hf

from inputs import VOCAB
from make_families import decoder, moe, write_decoders
from reference import build
from writer import write_forward


def hybrid(**changes):
    """Rows longer than what transformers computes at once."""
    return decoder(**dict(dict(
        num_hidden_layers=4, mamba_n_heads=4, mamba_d_state=9,
        mamba_n_groups=2, mamba_chunk_size=16,
        layer_types=["linear_attention", "full_attention",
                     "linear_attention", "linear_attention"]), **changes))


def alone(**changes):
    return dict(dict(vocab_size=VOCAB, hidden_size=30, num_hidden_layers=3,
                     num_heads=6, head_dim=10, state_size=7, n_groups=3,
                     chunk_size=16, bos_token_id=1, eos_token_id=2,
                     pad_token_id=0), **changes)


def sublayers(**changes):
    """Of layers that are one sublayer each."""
    return dict(dict(
        vocab_size=VOCAB, hidden_size=30, num_attention_heads=3,
        num_key_value_heads=1, head_dim=11, intermediate_size=37,
        max_position_embeddings=60, mamba_num_heads=6, mamba_head_dim=13,
        ssm_state_size=9, n_groups=2, chunk_size=16, n_routed_experts=12,
        num_experts_per_tok=3, moe_intermediate_size=14,
        moe_shared_expert_intermediate_size=22, routed_scaling_factor=2.5,
        n_group=4, topk_group=2, bos_token_id=1, eos_token_id=2,
        pad_token_id=0), **changes)


def selective(**changes):
    """Of Mamba."""
    return dict(dict(vocab_size=VOCAB, hidden_size=30, num_hidden_layers=3,
                     state_size=7, time_step_rank=5, bos_token_id=1,
                     eos_token_id=2, pad_token_id=0), **changes)


def jamba(**changes):
    return moe(**dict(dict(num_hidden_layers=5, attn_layer_period=3,
                           attn_layer_offset=1, mamba_d_state=9,
                           mamba_dt_rank=4), **changes))


DECODERS = (
    ("granitehybrid-lm", hf.GraniteMoeHybridForCausalLM,
     hf.GraniteMoeHybridConfig(**moe(**hybrid(
         num_local_experts=7, num_experts_per_tok=3, intermediate_size=14,
         shared_intermediate_size=22, attention_multiplier=0.4,
         embedding_multiplier=1.5, residual_multiplier=0.7,
         logits_scaling=1.3)))),
    ("granitehybrid-dense", hf.GraniteMoeHybridForCausalLM,
     hf.GraniteMoeHybridConfig(**hybrid(
         hidden_size=26, num_hidden_layers=3, num_attention_heads=1,
         num_local_experts=0, shared_intermediate_size=37, mamba_expand=1,
         mamba_n_heads=1, mamba_n_groups=1, mamba_d_state=33, mamba_d_conv=3,
         mamba_conv_bias=False, position_embedding_type="rope",
         tie_word_embeddings=True, rms_norm_eps=1e-3,
         layer_types=["full_attention"] + ["linear_attention"] * 2))),
    ("mamba2-lm", hf.Mamba2ForCausalLM, hf.Mamba2Config(**alone())),
    ("mamba2-wide", hf.Mamba2ForCausalLM, hf.Mamba2Config(**alone(
        hidden_size=26, num_hidden_layers=2, num_heads=2, head_dim=26,
        state_size=33, n_groups=1, conv_kernel=3, use_conv_bias=False,
        tie_word_embeddings=True))),
    ("bamba-lm", hf.BambaForCausalLM, hf.BambaConfig(**{
        key: value for key, value in hybrid(
            hidden_size=24, num_hidden_layers=3, attn_layer_indices=[1],
            mamba_n_heads=6,
            mamba_n_groups=3, rms_norm_eps=1e-3).items()
        if key != "layer_types"})),
    ("nemotronh-lm", hf.NemotronHForCausalLM, hf.NemotronHConfig(**sublayers(
        layer_types=["linear_attention", "full_attention", "moe",
                     "linear_attention", "mlp", "moe"]))),
    # The time of a token is limited, which transformers' steps do not do.
    ("nemotronh-latent", hf.NemotronHForCausalLM, hf.NemotronHConfig(
        **sublayers(
            hidden_size=26, moe_latent_size=20, n_group=1, topk_group=1,
            norm_topk_prob=False, time_step_min=1.3, use_conv_bias=False,
            mamba_num_heads=1, mamba_head_dim=33, n_groups=1,
            num_key_value_heads=3, tie_word_embeddings=True,
            layer_types=["moe", "linear_attention", "full_attention"]))),
    ("falconh1-lm", hf.FalconH1ForCausalLM, hf.FalconH1Config(**decoder(
        num_attention_heads=3, mamba_d_ssm=54, mamba_n_heads=6,
        mamba_d_state=9, mamba_n_groups=2, mamba_chunk_size=16,
        embedding_multiplier=1.5, lm_head_multiplier=0.7,
        mlp_multipliers=[0.8, 1.2], key_multiplier=0.6,
        attention_in_multiplier=1.3, attention_out_multiplier=0.9,
        ssm_in_multiplier=1.25, ssm_out_multiplier=0.5,
        ssm_multipliers=[0.7, 1.1, 0.6, 1.4, 0.9]))),
    ("falconh1-normed", hf.FalconH1ForCausalLM, hf.FalconH1Config(**decoder(
        hidden_size=26, num_attention_heads=1, mamba_d_ssm=None,
        mamba_expand=1, mamba_n_heads=2, mamba_d_state=33, mamba_d_conv=3,
        mamba_conv_bias=False, mamba_rms_norm=True, rms_norm_eps=1e-3,
        tie_word_embeddings=True, mlp_bias=True))),
    ("mamba-lm", hf.MambaForCausalLM, hf.MambaConfig(**selective())),
    # More numbers of a column than stay in registers.
    ("mamba-wide", hf.MambaForCausalLM, hf.MambaConfig(**selective(
        hidden_size=26, num_hidden_layers=2, expand=3, state_size=35,
        time_step_rank="auto", conv_kernel=3, use_conv_bias=False,
        tie_word_embeddings=False))),
    ("falconmamba-lm", hf.FalconMambaForCausalLM, hf.FalconMambaConfig(
        **selective(state_size=16, mixer_rms_eps=1e-3))),
    ("jamba-lm", hf.JambaForCausalLM, hf.JambaConfig(**jamba(
        num_experts=7))),
    ("jamba-dense", hf.JambaForCausalLM, hf.JambaConfig(**jamba(
        hidden_size=26, num_hidden_layers=3, num_attention_heads=1,
        num_experts=1, num_experts_per_tok=1, mamba_expand=1,
        mamba_d_state=33, mamba_d_conv=3, mamba_dt_rank="auto",
        mamba_conv_bias=False, tie_word_embeddings=True,
        rms_norm_eps=1e-3))),
)
# transformers lets their biases leak out of padding on the left.
BIASED = (
    ("mamba-biased", hf.MambaModel, hf.MambaConfig(**selective(
        use_bias=True, conv_kernel=2))),
    ("jamba-biased", hf.JambaModel, hf.JambaConfig(**jamba(
        num_experts=5, mamba_proj_bias=True))),
)
# A state is of all tokens.
DISTANCES = tuple(name for name, _, _ in DECODERS)
# There is nobody to say which position a token has.
RELATIVE = ("granitehybrid-lm", "mamba2-lm", "mamba2-wide", "nemotronh-lm",
            "nemotronh-latent", "mamba-lm", "mamba-wide", "falconmamba-lm",
            "jamba-lm", "jamba-dense")
# Whose steps are not what transformers computes of whole rows.
WHOLE = ("nemotronh-latent",)
SCALES = {}


def write(out):
    write_decoders(out, DECODERS, 1011, DISTANCES, SCALES,
                   relative=RELATIVE, whole=WHOLE)
    for seed, (name, cls, config) in enumerate(BIASED, 1031):
        if out.wants(name):
            out.save(name, build(cls, config, seed, token=0.3, layer=2.0))
            write_forward(out.folder(name), out.load(cls, name), ("ragged",),
                          seed, longest=60)
            out.add(name, ("ragged",))
