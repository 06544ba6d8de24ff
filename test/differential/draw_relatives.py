# Configurations of families that are another one with a difference, of cases
# that draw_tables.py draws.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import draw_llama

# By family, the word that the name of its configuration begins with.
ENCODERS = {"bertgeneration": "BertGeneration", "dpr": "DPR", "esm": "Esm",
            "xlnet": "XLNet", "reformer": "Reformer"}
DECODERS = {"bertgenerationlm": "BertGeneration",
            "neoxjapanese": "GPTNeoXJapanese",
            "modernbertdecoder": "ModernBertDecoder",
            "internlm3": "InternLM3", "iquestcoder": "IQuestCoder",
            "ministral3": "Ministral3"}
PAIRS = {"blenderbotsmall": "BlenderbotSmall"}
# Where the words do not give the classes.
CLASSES = {"bertgeneration": ("BertGenerationEncoder",),
           "bertgenerationlm": ("BertGenerationDecoder",),
           "dpr": ("DPRContextEncoder", "DPRQuestionEncoder", "DPRReader"),
           "internlm3": ("InternLM3ForCausalLM",),
           "iquestcoder": ("IQuestCoderForCausalLM",),
           "reformer": ("ReformerModel", "ReformerModelWithLMHead",
                        "ReformerForMaskedLM",
                        "ReformerForSequenceClassification",
                        "ReformerForQuestionAnswering")}
# Published under these names, which transformers does not have: it runs them as
# LLaMA, by their model type.
OF_LLAMA = {"InternLM3ForCausalLM": "InternLM3Config",
            "IQuestCoderForCausalLM": "IQuestCoderConfig"}


# Whose tokens may be asked for.
ASKED = ("XLNetModel", "XLNetLMHeadModel")


def class_of(hf, name):
    """What transformers runs as a class of this name."""
    if name not in OF_LLAMA:
        return getattr(hf, name)
    return type(name, (hf.LlamaForCausalLM,),
                {"config_class": getattr(hf, OF_LLAMA[name]),
                 "__module__": hf.LlamaForCausalLM.__module__})


def fit_encoder(family, cls, case):
    """The case without what the class has no name for."""
    if family == "dpr":  # without a mask its encoders hide pad tokens
        case.update(given_positions=False, given_mask=True)
        case["given_types"] &= cls != "DPRReader"
    if family == "esm":  # it stores its frequencies, rounded as the rest
        case["dtype"] = "float32"
    if family == "reformer":
        # Blocks are those of the longest row; its axes are f32 always. Of many
        # tokens one has buckets that are near each other.
        count = max(map(len, case["rows"]))
        case.update(rows=[[1] * (min(count, 80) if is_hashed(case) else count)],
                    given_positions=False, dtype="float32")
    if family == "xlnet":
        # Its rows of distances are as wide as the rest, sines and cosines.
        case["hidden"] *= 2
        case["given_positions"] = False
        if "Sequence" in cls or "Choice" in cls:  # of the last column
            case["rows"] = [row[:row.index(1)] + [1] * (len(row) -
                                                        row.index(1))
                            for row in case["rows"]]
    return case


def xlnet_config(hf, case, keys):
    del keys["max_position_embeddings"]
    return hf.XLNetConfig(
        d_model=case["hidden"], n_layer=case["layers"], n_head=case["heads"],
        d_inner=case["width"], ff_activation=case["act"],
        layer_norm_eps=case["eps"], clamp_len=(-1, 3, 17)[case["seed"] % 3],
        summary_use_proj=case["scale"],
        summary_activation=("tanh", "")[case["scale_by_layer"]], **keys)


def draw_targets(torch, case):
    """1 for tokens that are asked for, of each row not all."""
    mask = torch.tensor(case["rows"])
    generator = torch.Generator().manual_seed(case["seed"] + 1)
    asked = torch.rand(mask.shape, generator=generator)
    targets = (asked < 0.4).long()
    # The least likely token of those that there are.
    targets[range(len(mask)), (asked * mask).argmax(1)] = 0
    return targets


def sees_before(case):
    """Whether a Reformer is a decoder."""
    return "LMHead" in case["class"] or (
        case["seed"] % 2 == 0 and "MaskedLM" not in case["class"])


def is_hashed(case):
    """Whether layers of a Reformer may hash."""
    return not sees_before(case) and case["seed"] // 43 % 4 > 0


def hash_keys(case, block, size):
    """Those of layers that hash, of which a model of both sides has none, some
    or only such."""
    seed = case["seed"]
    kinds = [("local", "lsh")[seed // 2 ** (layer % 16 + 4) % 2]
             for layer in range(case["layers"])]
    if seed // 13 % 3 == 0:
        kinds = ["lsh"] * len(kinds)
    fits = [part for part in range(1, block + 1) if block % part == 0]
    hashes, factors = 1 + seed // 17 % 3, [2 + 2 * (seed // 19 % 5)]
    if seed // 23 % 2:
        factors.insert(0, 2 + 2 * (seed // 29 % 3))
    # Fewer than 16 numbers torch draws in another way.
    each = case["heads"] * size * hashes
    factors[-1] = max(factors[-1], 2 * -(-16 // each))
    return dict(attn_layers=kinds, num_hashes=hashes, hash_seed=seed,
                num_buckets=factors if factors[1:] else factors[0],
                lsh_attn_chunk_length=fits[seed // 31 % len(fits)],
                lsh_num_chunks_before=seed // 37 % 2,
                lsh_num_chunks_after=seed // 41 % 2)


def reformer_config(hf, case, keys):
    """Of a model of one or of both sides, with positions on a grid or not,
    which rows of whole blocks have room in."""
    seed, block = case["seed"], (1, 2, 3, 5, 16)[case["seed"] % 5]
    longest, columns = case["positions"] + block, 1 + seed // 5 % 9
    is_decoder = sees_before(case)
    first, size = case["hidden"] // 3 or 1, 1 + seed % 20
    keys.update(max_position_embeddings=longest, is_decoder=is_decoder,
                attn_layers=["local"] * case["layers"])
    if is_hashed(case):
        keys.update(hash_keys(case, block, size))
    return hf.ReformerConfig(
        hidden_size=case["hidden"], num_attention_heads=case["heads"],
        attention_head_size=size, feed_forward_size=case["width"],
        hidden_act=case["act"], layer_norm_eps=case["eps"],
        local_attn_chunk_length=block,
        local_num_chunks_before=seed // 7 % 2,
        local_num_chunks_after=0 if is_decoder else seed // 11 % 2,
        axial_pos_embds=case["hidden"] > 1 and case["scale"],
        axial_pos_shape=[-(-longest // columns), columns],
        axial_pos_embds_dim=[first, case["hidden"] - first],
        **{**keys, "tie_word_embeddings": False})


def longrope(case, keys):
    """rope_parameters of Phi-3 for longer contexts, whose sequences here are
    those of the training."""
    pairs = case["head_dim"] // 2
    keys.update(original_max_position_embeddings=case["positions"],
                max_position_embeddings=4 * case["positions"])
    return {"rope_type": ("longrope", "su")[case["seed"] % 2],
            "original_max_position_embeddings": case["positions"],
            "short_factor": [1 + 0.1 * pair for pair in range(pairs)],
            "long_factor": [1.0 + pair for pair in range(pairs)]}


def encoder_keys(family, case, keys):
    """Those of a family's configuration, beside what BERT's has."""
    if family == "esm":  # the mask token is the last, and none of tfc's
        keys.update(vocab_size=case["vocab"] + 1, pad_token_id=1,
                    mask_token_id=case["vocab"], token_dropout=case["scale"],
                    emb_layer_norm_before=case["scale_by_layer"],
                    position_embedding_type=("absolute", "rotary")[
                        case["seed"] % 2])
        del keys["hidden_act"]
    if family == "dpr" and case["class"] != "DPRReader":
        keys["projection_dim"] = (0, case["width"])[case["seed"] % 2]
    return keys


def decoder_keys(family, case, keys):
    """Those of a family's configuration, of what all decoders have."""
    keys.update(hidden_size=case["hidden"],
                max_position_embeddings=case["positions"],
                num_hidden_layers=case["layers"],
                num_attention_heads=case["heads"])
    if family == "bertgenerationlm":
        keys.update(intermediate_size=case["width"], hidden_act=case["act"],
                    layer_norm_eps=case["eps"], is_decoder=True)
    elif family == "neoxjapanese":
        keys.update(intermediate_multiple_size=1 + case["seed"] % 3,
                    hidden_act=case["act"], layer_norm_eps=case["eps"],
                    rope_parameters={**draw_llama.rope(case),
                                     "rope_theta": case["theta"],
                                     "partial_rotary_factor": 0.5})
    elif family in ("internlm3", "iquestcoder"):
        keys.update(intermediate_size=case["width"], hidden_act=case["act"],
                    num_key_value_heads=case["heads"] // case["groups"],
                    head_dim=case["head_dim"], rms_norm_eps=case["eps"],
                    attention_bias=case["mlp_bias"],
                    mlp_bias=case["mlp_bias"],
                    rope_parameters={**draw_llama.rope(case),
                                     "rope_theta": case["theta"]})
    elif family == "ministral3":
        # Beyond the longest sequence of the training tfc takes none.
        keys.update(intermediate_size=case["width"], hidden_act=case["act"],
                    num_key_value_heads=case["heads"] // case["groups"],
                    head_dim=case["head_dim"], rms_norm_eps=case["eps"],
                    sliding_window=case["window"],
                    max_position_embeddings=3 * case["positions"],
                    rope_parameters={
                        **draw_llama.rope(case), "rope_theta": case["theta"],
                        "original_max_position_embeddings": case["positions"],
                        "llama_4_scaling_beta": 0.1})
    elif family == "modernbertdecoder":
        keys.update(intermediate_size=case["width"],
                    hidden_activation=case["act"], norm_eps=case["eps"],
                    norm_bias=case["mlp_bias"], mlp_bias=case["mlp_bias"],
                    attention_bias=case["attention_bias"],
                    classifier_bias=case["attention_bias"],
                    classifier_activation=case["act"],
                    local_attention=2 * case["window"], bos_token_id=1,
                    cls_token_id=1, sep_token_id=1,
                    layer_types=draw_llama.layer_types(case),
                    rope_parameters=draw_llama.by_type(
                        {"rope_type": "linear", "rope_theta": 90000.0,
                         "factor": case["factor"]},
                        {"rope_type": "default", "rope_theta":
                         case["theta"]}))
    return keys
