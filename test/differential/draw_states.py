# Configurations of decoders whose layers keep a state in place of keys and
# values.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import draw_llama

DECODERS = {"lfm2": "Lfm2", "lfm2moe": "Lfm2Moe", "qwen35": "Qwen3_5Text",
            "qwen35moe": "Qwen3_5MoeText", "qwen3next": "Qwen3Next",
            "granitehybrid": "GraniteMoeHybrid",
            "bamba": "Bamba", "mamba2": "Mamba2", "nemotronh": "NemotronH",
            "falconh1": "FalconH1", "olmohybrid": "OlmoHybrid",
            "mamba": "Mamba", "falconmamba": "FalconMamba", "jamba": "Jamba",
            "lfm3": "Lfm3", "kimilinear": "KimiLinear"}
# Their attention turns a part of each head.
PARTIAL = ("qwen35", "qwen35moe", "qwen3next", "bamba")


def asks_positions(family, case):
    """Whether anybody wants to know which position a token has."""
    if family == "olmohybrid":
        return turns(case)
    return family not in ("mamba2", "nemotronh", "mamba", "falconmamba",
                          "jamba", "kimilinear") and not (
        family == "granitehybrid" and position_type(case) is None)


def position_type(case):
    """Of Granite 4: None turns neither queries nor keys."""
    return ("rope", None)[case["seed"] // 2 % 2]


def turns(case):
    """Whether positions turn the queries and keys of an OLMo Hybrid."""
    return bool(case["seed"] // 3 % 2)


def types_of(case, kind):
    """Of each layer, by the seed; the last attends where no other does, since
    transformers runs no model in which none does."""
    types = [kind if case["seed"] >> i & 1 else "full_attention"
             for i in range(case["layers"])]
    if "full_attention" not in types:
        types[-1] = "full_attention"
    return types


def is_whole(case):
    return all(all(row) for row in case["rows"])


def lfm2(case):
    seed = case["seed"]
    keys = dict(norm_eps=case["eps"], conv_L_cache=2 + seed % 5,
                # transformers lets it leak out of padding.
                conv_bias=is_whole(case) and bool(seed % 2),
                block_auto_adjust_ff_dim=bool(seed % 3),
                block_multiple_of=1 + seed % 9,
                block_ffn_dim_multiplier=(0.6, 1.0, 1.7)[seed // 9 % 3])
    if seed // 2 % 2:
        return dict(keys, layer_types=types_of(case, "conv"))
    full = [i for i, kind in enumerate(types_of(case, "conv"))
            if kind != "conv"]
    return dict(keys, full_attn_idxs=full)


def lfm3(case):
    """Of the layers that attend, some have a window."""
    seed = case["seed"]
    types = ["sliding_attention" if kind != "conv" and seed >> 8 + i & 1
             else kind for i, kind in enumerate(types_of(case, "conv"))]
    return dict(norm_eps=case["eps"], conv_L_cache=2 + seed % 7,
                conv_bias=is_whole(case) and bool(seed % 2),
                head_dim=case["head_dim"], layer_types=types,
                sliding_window=2 + seed // 3 % 20,
                use_sandwich_norm=bool(seed // 5 % 3),
                use_attention_gate=bool(seed // 7 % 3),
                rope_parameters=draw_llama.by_type(
                    {"rope_type": "proportional", "rope_theta": 90000.0,
                     "partial_rotary_factor": (0.5, 0.75, 1.0)[seed % 3]},
                    {"rope_type": "default", "rope_theta": case["theta"]}))


def lfm2moe(case):
    seed = case["seed"]
    taken = 1 + seed % 4
    return dict(norm_eps=case["eps"], conv_L_cache=2 + seed % 5,
                layer_types=types_of(case, "conv"), num_experts_per_tok=taken,
                num_experts=taken + seed // 4 % 9,
                num_dense_layers=seed % 2 if case["layers"] > 1 else 0,
                use_expert_bias=bool(seed // 5 % 2),
                norm_topk_prob=bool(seed // 3 % 2),
                moe_intermediate_size=case["width"] % 19 + 3,
                routed_scaling_factor=case["factor"])


def delta(family, case):
    seed = case["seed"]
    heads = 1 + seed % 3
    # What a head gives is divided by how large it is, and where that is near
    # zero its error is no smaller: then it is no test of numbers.
    keys = dict(rms_norm_eps=0.01, head_dim=case["head_dim"],
                hidden_act="silu", attention_bias=case["attention_bias"],
                linear_num_key_heads=heads,
                linear_num_value_heads=heads * (1 + seed // 3 % 3),
                linear_key_head_dim=1 + seed // 5 % 20,
                linear_value_head_dim=4 + seed // 7 % 70,
                linear_conv_kernel_dim=2 + seed % 4,
                layer_types=types_of(case, "linear_attention"))
    if family in ("qwen3next", "qwen35moe"):
        taken = 1 + seed % 4
        keys.update(num_experts_per_tok=taken,
                    num_experts=taken + seed // 4 % 9,
                    norm_topk_prob=bool(seed // 3 % 2),
                    moe_intermediate_size=case["width"] % 19 + 3,
                    shared_expert_intermediate_size=case["width"] % 19 + 5,
                    mlp_only_layers=[0] if case["layers"] > 1 and
                    seed % 3 == 0 else [])
    if family == "qwen35moe":
        del keys["norm_topk_prob"], keys["mlp_only_layers"]
    return keys


def kimi_linear(case):
    """Decays of each key beside latents that nothing turns; as published, or
    with the keys that transformers writes."""
    seed = case["seed"]
    taken, groups = 1 + seed % 4, 1 + seed % 3
    types = types_of(case, "linear_attention")
    if "linear_attention" not in types:
        types = ["linear_attention"] + types
    heads = dict(head_dim=3 + seed // 5 % 40, num_heads=1 + seed // 3 % 4,
                 short_conv_kernel_size=2 + seed % 4)
    keys = dict(
        num_hidden_layers=len(types), rms_norm_eps=0.01, hidden_act="silu",
        num_key_value_heads=case["heads"],
        attention_bias=case["attention_bias"],
        q_lora_rank=None if seed % 3 == 0 else 5 + seed % 7,
        kv_lora_rank=3 + seed % 19, qk_nope_head_dim=1 + seed % 6,
        qk_rope_head_dim=1 + seed % 5, v_head_dim=1 + seed % 13,
        n_group=groups, topk_group=1 + seed // 2 % groups,
        num_local_experts=groups * (taken + 1), num_experts_per_tok=taken,
        n_shared_experts=1 + seed % 2, norm_topk_prob=bool(seed // 3 % 2),
        moe_intermediate_size=case["width"] % 19 + 3,
        routed_scaling_factor=case["factor"])
    if seed // 2 % 2:
        numbers = {kind: [i + 1 for i, each in enumerate(types)
                          if each == kind] for kind in types}
        return dict(keys, first_k_dense_replace=seed % 2, linear_attn_config=
                    dict(heads, full_attn_layers=numbers["full_attention"],
                         kda_layers=numbers["linear_attention"]))
    return dict(keys, layer_types=types, linear_head_dim=heads["head_dim"],
                linear_num_heads=heads["num_heads"],
                linear_conv_kernel_dim=heads["short_conv_kernel_size"],
                mlp_layer_types=["dense" if seed >> i & 1 else "sparse"
                                 for i in range(len(types) - 1)] + ["sparse"])


def heads_of(case, columns):
    """So many heads, and so many groups of them, as divide the columns."""
    heads = [n for n in (1, 2, 3, 4, 6) if columns % n == 0]
    heads = heads[case["seed"] % len(heads)]
    groups = [n for n in range(1, heads + 1) if heads % n == 0]
    return heads, groups[case["seed"] // 7 % len(groups)]


def mamba2(hf, case, keys):
    seed, expand = case["seed"], 1 + case["seed"] % 3
    heads, groups = heads_of(case, expand * case["hidden"])
    return hf.Mamba2Config(**dict(
        keys, hidden_size=case["hidden"], num_hidden_layers=case["layers"],
        expand=expand, num_heads=heads, n_groups=groups,
        head_dim=expand * case["hidden"] // heads,
        state_size=1 + seed // 5 % 40, conv_kernel=2 + seed % 4,
        use_conv_bias=bool(seed // 3 % 2), layer_norm_epsilon=0.01,
        chunk_size=1 + seed % 20))


def selective(hf, family, case, keys):
    seed = case["seed"]
    keys = dict(keys, hidden_size=case["hidden"],
                num_hidden_layers=case["layers"], expand=1 + seed % 3,
                state_size=1 + seed // 5 % 40, conv_kernel=2 + seed % 4,
                use_conv_bias=bool(seed // 3 % 2),
                time_step_rank=("auto", 1 + seed // 7 % 9)[seed // 4 % 2],
                # transformers lets it leak out of padding.
                use_bias=is_whole(case) and bool(seed // 2 % 2),
                layer_norm_epsilon=0.01)
    if family == "falconmamba":
        return hf.FalconMambaConfig(**keys, mixer_rms_eps=0.01)
    return hf.MambaConfig(**keys)


def jamba(case):
    """A layer of experts every so often, and one that attends."""
    seed = case["seed"]
    attends, chooses = 1 + seed % 4, 1 + seed // 4 % 3
    taken = 1 + seed % 4
    layers = case["layers"] + 1
    return dict(rms_norm_eps=0.01, hidden_act="silu",
                num_hidden_layers=layers, attn_layer_period=attends,
                # transformers runs no model in which none attends.
                attn_layer_offset=seed // 12 % min(attends, layers),
                expert_layer_period=chooses,
                expert_layer_offset=seed // 3 % min(chooses, layers),
                num_experts_per_tok=1 if seed % 5 == 0 else taken,
                num_experts=1 if seed % 5 == 0 else taken + 1 + seed // 4 % 9,
                mamba_expand=1 + seed % 3, mamba_d_state=1 + seed // 5 % 40,
                mamba_d_conv=2 + seed % 4, mamba_conv_bias=bool(seed // 3 % 2),
                mamba_dt_rank=("auto", 1 + seed // 7 % 9)[seed // 4 % 2],
                mamba_proj_bias=is_whole(case) and bool(seed // 2 % 2))


def hybrid(family, case):
    """Of both Granite 4 and Bamba."""
    seed, expand = case["seed"], 1 + case["seed"] % 3
    heads, groups = heads_of(case, expand * case["hidden"])
    # Of what is divided by how large it is.
    keys = dict(rms_norm_eps=0.01, hidden_act="silu",
                attention_bias=case["attention_bias"], mamba_expand=expand,
                mamba_n_heads=heads, mamba_n_groups=groups,
                mamba_d_head="auto" if seed % 2 else
                expand * case["hidden"] // heads,
                mamba_d_state=1 + seed // 5 % 40, mamba_d_conv=2 + seed % 4,
                mamba_conv_bias=bool(seed // 3 % 2),
                mamba_chunk_size=1 + seed % 20)
    types = types_of(case, "linear_attention")
    if family == "bamba":
        return dict(keys, mlp_bias=case["mlp_bias"], attn_layer_indices=[
            i for i, kind in enumerate(types) if kind == "full_attention"])
    taken = 1 + seed % 4
    return dict(keys, layer_types=types,
                position_embedding_type=position_type(case),
                num_experts_per_tok=taken,
                num_local_experts=0 if seed % 5 == 0 else
                taken + seed // 4 % 9,
                intermediate_size=case["width"] % 19 + 3,
                shared_intermediate_size=case["width"] % 19 + 5,
                attention_multiplier=0.3,
                embedding_multiplier=case["factor"],
                residual_multiplier=0.4,
                logits_scaling=case["factor"])


def nemotronh(hf, case, keys):
    """Layers of one sublayer each, the first of which keeps a state, and one
    of which attends: transformers runs no model without either."""
    seed = case["seed"]
    heads, groups = heads_of(case, 12)
    taken = 1 + seed % 4
    parts = 1 + seed // 6 % 3
    kinds = ("linear_attention", "full_attention", "moe", "mlp")
    types = ["linear_attention", "full_attention"] + [
        kinds[seed >> 2 * i & 3] for i in range(case["layers"])]
    # What it does to short times it does in prompts and not in steps.
    return hf.NemotronHConfig(**dict(
        keys, hidden_size=case["hidden"], layer_types=types,
        max_position_embeddings=case["positions"], time_step_min=1e-9,
        num_attention_heads=case["heads"], head_dim=case["head_dim"],
        num_key_value_heads=case["heads"] // case["groups"],
        intermediate_size=case["width"], mamba_num_heads=heads,
        mamba_head_dim=1 + seed // 11 % 20, n_groups=groups,
        ssm_state_size=1 + seed // 5 % 40, conv_kernel=2 + seed % 4,
        use_conv_bias=bool(seed // 3 % 2), layer_norm_epsilon=0.01,
        chunk_size=1 + seed % 20, num_experts_per_tok=taken,
        n_routed_experts=parts * (taken + 1 + seed // 4 % 5), n_group=parts,
        topk_group=1 + seed // 9 % parts, norm_topk_prob=bool(seed // 8 % 2),
        moe_intermediate_size=case["width"] % 19 + 3,
        moe_shared_expert_intermediate_size=case["width"] % 17 + 3,
        moe_latent_size=(None, 7 + seed % 9)[seed // 10 % 2],
        routed_scaling_factor=case["factor"]))


def falconh1(case):
    seed = case["seed"]
    inner = 12 * (1 + seed % 3)
    heads, groups = heads_of(case, inner)
    number = [0.5 + (seed // n % 7) / 6 for n in range(2, 13)]
    return dict(rms_norm_eps=0.01, hidden_act="silu", mlp_bias=case["mlp_bias"],
                mamba_d_ssm=inner, mamba_n_heads=heads, mamba_n_groups=groups,
                mamba_d_head="auto" if seed % 2 else inner // heads,
                mamba_d_state=1 + seed // 5 % 40, mamba_d_conv=2 + seed % 4,
                mamba_conv_bias=bool(seed // 3 % 2),
                mamba_rms_norm=bool(seed // 4 % 2),
                mamba_norm_before_gate=bool(seed // 8 % 2),
                mamba_chunk_size=1 + seed % 20,
                embedding_multiplier=case["factor"],
                lm_head_multiplier=number[0], key_multiplier=number[1],
                attention_in_multiplier=number[2],
                attention_out_multiplier=number[3],
                ssm_in_multiplier=number[4], ssm_out_multiplier=number[5],
                mlp_multipliers=number[6:8], ssm_multipliers=number[6:])


def config(hf, family, case, keys):
    """`keys`: those that all decoders have."""
    if family == "mamba2":
        return mamba2(hf, case, keys)
    if family == "nemotronh":
        return nemotronh(hf, case, keys)
    if family in ("mamba", "falconmamba"):
        return selective(hf, family, case, keys)
    keys = dict(keys, hidden_size=case["hidden"],
                max_position_embeddings=case["positions"],
                num_hidden_layers=case["layers"],
                num_attention_heads=case["heads"],
                num_key_value_heads=case["heads"] // case["groups"],
                intermediate_size=case["width"],
                rope_parameters={**draw_llama.rope(case),
                                 "rope_theta": case["theta"]})
    if family in PARTIAL:
        keys["rope_parameters"]["partial_rotary_factor"] = 0.5
    if family in ("granitehybrid", "bamba"):
        keys.update(hybrid(family, case))
    elif family == "falconh1":
        keys.update(falconh1(case))
    elif family == "jamba":
        keys.update(jamba(case))
        del keys["rope_parameters"]
    elif family == "kimilinear":
        del keys["rope_parameters"]
        keys.update(kimi_linear(case))
    elif family in ("lfm2", "lfm2moe", "lfm3"):
        keys.update({"lfm2": lfm2, "lfm2moe": lfm2moe,
                     "lfm3": lfm3}[family](case))
    else:
        keys.update(delta(family, case))
    if family == "qwen35moe":
        del keys["intermediate_size"]
    if family == "olmohybrid":
        # transformers writes convolutions in equal parts, and runs no model
        # without a layer of either kind.
        keys.update(linear_value_head_dim=case["seed"] // 7 % 9 + 4,
                    linear_num_value_heads=keys["linear_num_key_heads"],
                    linear_allow_neg_eigval=bool(case["seed"] % 5),
                    num_hidden_layers=case["layers"] + 1)
        keys["linear_key_head_dim"] = keys["linear_value_head_dim"]
        keys["layer_types"] = ["linear_attention"] + keys["layer_types"]
        if not turns(case):
            keys["rope_parameters"]["rope_theta"] = None
        del keys["head_dim"]
    return getattr(hf, DECODERS[family] + "Config")(**keys)
