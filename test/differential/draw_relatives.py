# Configurations of families that are another one with a difference, of cases
# that draw_tables.py draws.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import draw_llama

# By family, the word that the name of its configuration begins with.
ENCODERS = {"bertgeneration": "BertGeneration"}
DECODERS = {"bertgenerationlm": "BertGeneration",
            "neoxjapanese": "GPTNeoXJapanese",
            "modernbertdecoder": "ModernBertDecoder"}
PAIRS = {}
# Where the words do not give the classes.
CLASSES = {"bertgeneration": ("BertGenerationEncoder",),
           "bertgenerationlm": ("BertGenerationDecoder",)}


def by_type(full, sliding):
    """rope_parameters of two types of layers."""
    return {"full_attention": full, "sliding_attention": sliding}


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
                    rope_parameters=by_type(
                        {"rope_type": "linear", "rope_theta": 90000.0,
                         "factor": case["factor"]},
                        {"rope_type": "default", "rope_theta":
                         case["theta"]}))
    return keys
