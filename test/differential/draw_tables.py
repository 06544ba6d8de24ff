# Random cases of families that are a table and nothing else: those of BERT,
# GPT-2, LLaMA and BART, under the names that other configurations have for the
# same things.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import classes
import draw
import draw_llama
import draw_pairs
import draw_relatives
import draw_states
import sentence

# By family, the word that the names of its classes begin with, and that of its
# configuration.
ENCODERS = {
    "distilbert": "DistilBert", "electra": "Electra", "roberta": "Roberta",
    "xlmroberta": "XLMRoberta", "camembert": "Camembert",
    "data2vec": "Data2VecText", "mpnet": "MPNet", "ernie": "Ernie",
    "megatron": "MegatronBert", "nomic": "NomicBert", "xlm": "XLM",
    "albert": "Albert", "modernbert": "ModernBert", "roformer": "RoFormer",
    "eurobert": "EuroBert", "bigbird": "BigBird",
    "prelayernorm": "RobertaPreLayerNorm", "xlmrobertaxl": "XLMRobertaXL",
    "rembert": "RemBert", "flaubert": "Flaubert", "gte": "Gte",
    "debertav2": "DebertaV2", "deberta": "Deberta",
    "jina3": "JinaEmbeddingsV3", "ultrabert": "Ultrabert",
    "privacyfilter": "OpenAIPrivacyFilter", "esmc": "Esmc",
    "longformer": "Longformer", "splinter": "Splinter",
    **draw_relatives.ENCODERS}
DECODERS = {
    "phi3": "Phi3", "smollm3": "SmolLM3", "starcoder2": "Starcoder2",
    "stablelm": "StableLm", "granite": "Granite", "helium": "Helium",
    "ernie45": "Ernie4_5", "seedoss": "SeedOss", "ministral": "Ministral",
    "glm": "Glm", "gptneo": "GPTNeo", "opt": "OPT", "openai": "OpenAIGPT",
    "bigcode": "GPTBigCode", "qwen3": "Qwen3", "olmo": "Olmo",
    "olmo2": "Olmo2", "olmo3": "Olmo3", "gemma": "Gemma", "gemma2": "Gemma2",
    "gemma3": "Gemma3Text", "neox": "GPTNeoX", "phi": "Phi", "gptj": "GPTJ",
    "codegen": "CodeGen", "cohere": "Cohere", "cohere2": "Cohere2",
    "falcon": "Falcon", "glm4": "Glm4", "nemotron": "Nemotron",
    "exaone4": "Exaone4", "persimmon": "Persimmon", "ctrl": "CTRL",
    "xglm": "XGLM", "bloom": "Bloom", "mpt": "Mpt", "arcee": "Arcee",
    "biogpt": "BioGpt", "jais2": "Jais2", "cwm": "Cwm",
    "vaultgemma": "VaultGemma", "hyperclovax": "HyperCLOVAX",
    "nanochat": "NanoChat", "hunyuan": "HunYuanDenseV1",
    "mixtral": "Mixtral", "qwen3moe": "Qwen3Moe", "olmoe": "Olmoe",
    "qwen2moe": "Qwen2Moe", "granitemoe": "GraniteMoe", "glm4moe": "Glm4Moe",
    "ernie45moe": "Ernie4_5_Moe", "gptoss": "GptOss", "phimoe": "Phimoe",
    "deepseekv2": "DeepseekV2", "deepseekv3": "DeepseekV3",
    "glm4moelite": "Glm4MoeLite", "dots1": "Dots1", "flexolmo": "FlexOlmo",
    "minimaxm2": "MiniMaxM2", "granitemoeshared": "GraniteMoeShared",
    "solaropen": "SolarOpen", "hunyuanmoe": "HunYuanMoEV1", "youtu": "Youtu",
    "exaonemoe": "ExaoneMoe", "mellum": "Mellum", "hyv3": "HYV3",
    "graniteswa": "GraniteSWA", "granitemoeswa": "GraniteMoeSWA",
    "minicpm3": "MiniCPM3", "axk1": "AXK1", "mistral4": "Mistral4",
    "afmoe": "Afmoe", "flint": "Flint", "kolibri1": "Kolibri1",
    "laguna": "Laguna", "apertus": "Apertus", "cohere2moe": "Cohere2Moe",
    "gemma4": "Gemma4Text", "gemma4unified": "Gemma4UnifiedText",
    "gemma3n": "Gemma3nText", "bitnet": "BitNet", "dbrx": "Dbrx",
    "llama4": "Llama4Text",
    **draw_relatives.DECODERS, **draw_states.DECODERS}
PAIRS = {
    "mbart": "MBart", "plbart": "PLBart", "blenderbot": "Blenderbot",
    "pegasus": "Pegasus", "m2m": "M2M100", "marian": "Marian", "mvp": "Mvp",
    "bigbirdpegasus": "BigBirdPegasus", "led": "LED", "fsmt": "FSMT",
    **draw_relatives.PAIRS}
ALL = {**ENCODERS, **DECODERS, **PAIRS}
CLASSES = {family: draw_relatives.CLASSES.get(family) or classes.of(stem)
           for family, stem in ALL.items()}
# Their first token says something of all.
FIRST = ("MPNetModel", "MPNetForSequenceClassification",
         "MPNetForMultipleChoice", "ModernBertForSequenceClassification",
         "XLMForSequenceClassification", "XLMForMultipleChoice",
         "FlaubertForSequenceClassification", "FlaubertForMultipleChoice",
         "EsmModel", "EsmForSequenceClassification",
         "UltrabertForSequenceClassification",
         "EsmcForSequenceClassification", "LongformerModel")
# Scores have terms of distances.
RELATIVE = ("debertav2", "deberta")
# Whose folders may be those of sentence encoders.
SENTENCES = ("DistilBertModel", "RobertaModel", "NomicBertModel")
# Positions begin after the pad token, which is 1.
AFTER_PADDING = ("roberta", "xlmroberta", "camembert", "data2vec", "mpnet",
                 "prelayernorm", "xlmrobertaxl", "esm", "longformer")
WITHOUT_TYPES = ("distilbert", "mpnet", "xlm", "flaubert", "modernbert",
                 "eurobert", "bertgeneration", "esm", "ultrabert",
                 "privacyfilter", "esmc", "reformer")
# Columns of encoders that turn in pairs.
TURNING = ("nomic", "modernbert", "roformer", "eurobert", "gte", "esm",
           "jina3", "ultrabert", "privacyfilter", "esmc")
# Tokens have a width of their own.
NARROW = ("electra", "albert", "roformer", "rembert")
# Their windows, or biases, count columns.
WINDOWS = ("phi3", "starcoder2", "ministral", "gptneo", "gemma2", "gemma3",
           "olmo3", "cohere2", "exaone4", "cwm", "vaultgemma",
           "modernbertdecoder", "ministral3", "gptoss", "dots1", "exaonemoe",
           "mellum", "graniteswa", "granitemoeswa", "afmoe", "flint",
           "kolibri1", "laguna", "cohere2moe", "gemma4",
           "gemma4unified", "gemma3n")
# Of these the types of layers differ in more than the window, which is there.
PATTERNS = ("gemma2", "gemma3", "olmo3", "cohere2", "exaone4", "cwm",
            "vaultgemma", "modernbertdecoder", "gptoss", "exaonemoe", "mellum",
            "graniteswa", "granitemoeswa", "afmoe", "flint", "kolibri1",
            "laguna", "cohere2moe", "gemma4", "gemma4unified", "gemma3n")
# Those without which transformers makes no mask.
NEED_WINDOW = PATTERNS + ("ministral",)
# Their heads divide the width.
DIVIDED = ("phi3", "stablelm", "starcoder2", "smollm3", "granite", "helium",
           "openai", "bigcode", "gptneo", "opt", "olmo", "olmo2", "olmo3",
           "neox", "phi", "gptj", "codegen", "cohere", "cohere2", "falcon",
           "exaone4", "persimmon", "gemma2", "gemma3", "gemma3n", "ctrl",
           "xglm", "bloom",
           "mpt", "biogpt", "vaultgemma", "hyperclovax", "nanochat", "olmoe",
           "qwen2moe", "granitemoe", "bertgenerationlm", "neoxjapanese",
           "modernbertdecoder", "internlm3", "iquestcoder", "lfm2", "lfm2moe",
           "phimoe", "deepseekv2", "deepseekv3", "glm4moelite", "flexolmo",
           "granitemoeshared", "youtu", "granitehybrid", "bamba", "exaonemoe",
           "jamba",
           "falconh1", "graniteswa", "granitemoeswa", "minicpm3", "axk1",
           "mistral4", "olmohybrid", "apertus", "bitnet", "dbrx")
# Of each layer's experts a row takes some.
MIXTURES = ("mixtral", "qwen3moe", "olmoe", "qwen2moe", "granitemoe",
            "glm4moe", "ernie45moe", "gptoss", "phimoe", "deepseekv2",
            "deepseekv3", "glm4moelite", "dots1", "flexolmo", "minimaxm2",
            "granitemoeshared", "solaropen", "hunyuanmoe", "exaonemoe",
            "mellum", "hyv3", "granitemoeswa", "axk1", "mistral4", "afmoe",
            "flint", "kolibri1", "laguna", "cohere2moe", "llama4")
# Heads share a latent of each position.
LATENT = ("deepseekv2", "deepseekv3", "glm4moelite", "youtu", "minicpm3",
          "axk1", "mistral4")
# As many heads of keys as of queries.
ALIKE = ("bigcode", "neox", "gptj", "codegen", "persimmon", "biogpt",
         "bertgenerationlm", "neoxjapanese", "modernbertdecoder")
# Part of each head is turned.
PARTIAL = ("glm", "glm4", "neox", "phi", "nemotron", "persimmon",
           "neoxjapanese", "glm4moe") + draw_states.PARTIAL
# Scores fall with the distance, and no input says where a token is.
SLOPES = ("bloom", "mpt")
# Of queries, keys and values.
CLIPS = (None, 0.5, 3.0)
# Positions are sines and cosines, one of each at least.
SINUSOIDS = ("ctrl", "xglm")


def family_of(case):
    return next(family for family, classes in CLASSES.items()
                if case["class"] in classes)


def base(family):
    """The module that draws the case."""
    return (draw if family in ENCODERS else
            draw_pairs if family in PAIRS else draw_llama)


def alike(family, cls):
    """The class of that module that is given the same."""
    if family in ENCODERS:
        return "BertModel"
    if family in DECODERS:
        return "Llama" + ("ForCausalLM" if classes.generates(cls)
                          else "Model")
    if cls == "MarianMTModel":
        return "BartForConditionalGeneration"
    return "Bart" + cls[len(ALL[family]):]


def without_holes(rows):
    """Masked tokens at the ends alone."""
    filled = []
    for row in rows:
        first, last = row.index(1), len(row) - row[::-1].index(1)
        filled.append([int(first <= i < last) for i in range(len(row))])
    return filled


def draw_relative(random, family, case):
    """Keys of DeBERTa: which terms, what of, how far."""
    return {
        "terms": random.choice((["c2p", "p2c"], "p2c|c2p", ["c2p"], ["p2c"],
                                "P2C", [], None)),
        "reach": random.choice((-1, 0, 1, 3, 7, 60)),
        "buckets": random.choice((-1, 4, 6, 8, 32)),
        "relative": random.random() < 0.9,
        "alike": random.random() < 0.5,
        "normed": random.choice(("none", "layer_norm", "Layer_Norm | other")),
        "absolute": random.randint(0, 1),
        "legacy": random.random() < 0.5,
        "narrow": random.choice((case["hidden"], case["hidden"], 1, 6, 40))}


def relative_keys(family, case):
    """The keys of config.json that draw_relative's case makes."""
    keys = dict(relative_attention=case["relative"],
                pos_att_type=case["terms"],
                max_relative_positions=case["reach"],
                position_biased_input=bool(case["absolute"]),
                type_vocab_size=case["types"] - int(not case["given_types"]),
                legacy=case["legacy"] or case["narrow"] != case["hidden"],
                embedding_size=case["narrow"],
                pooler_hidden_act=case["act"])
    if family == "debertav2":
        reach = case["reach"] if case["reach"] > 0 else case["positions"]
        # The logarithms are of what is farther than half of the buckets.
        fits = reach - 1 > case["buckets"] // 2
        keys.update(position_buckets=case["buckets"] if fits else -1,
                    share_att_key=case["alike"], norm_rel_ebd=case["normed"])
        if case["layers"] > 0 and case["seed"] % 3:
            keys.update(conv_kernel_size=(0, 1, 3, 5)[case["seed"] // 3 % 4],
                        conv_act=("tanh", "gelu")[case["seed"] // 12 % 2])
    return keys


def draw_case(random, cls):
    family = family_of({"class": cls})
    if family in ENCODERS:
        case = draw.draw_case(random, alike(family, cls))
        case["layers"] = max(1, case["layers"])
        if family in TURNING:
            case["hidden"] *= 2
        if family == "roformer":  # nobody tells it where a token is, and the
            # sines and cosines that it stores are rounded as the rest
            case["given_positions"] = False
            case["dtype"] = "float32"
        if family in NARROW:
            case["narrow"] = random.choice((case["hidden"], 1, 6, 40))
        if family == "albert":
            case["shared"] = random.randint(1, case["layers"])
            case["inner"] = random.choice((1, 1, 2, 3))
        if family in ("modernbert", "ultrabert", "privacyfilter"):
            case["window"] = random.choice((2, 6, 30))
        if family == "longformer":  # transformers runs none of 2
            case["window"] = random.choice((4, 6, 30))
        if cls in SENTENCES:
            case["sentence"] = random.choice((None,) + sentence.POOLINGS)
            case["projected"] = random.choice((None, 7, 16, 40))
        if family in WITHOUT_TYPES:
            case["given_types"] = False
        case = draw_relatives.fit_encoder(family, cls, case)
        if cls == "DistilBertForMultipleChoice":  # it leaves them as they come
            case["given_positions"] = False
        if family in ("xlm", "flaubert"):  # without one they mask as many
            # tokens at the end as there are pad tokens anywhere
            case["given_mask"] = True
        if family in RELATIVE:
            case.update(draw_relative(random, family, case))
            if case["absolute"] == 0:
                case["given_positions"] = False
        if family in RELATIVE + ("mpnet", "modernbert", "ultrabert", "xlnet",
                                 "privacyfilter", "longformer"):
            case["rows"] = without_holes(case["rows"])
        if cls in FIRST or family in RELATIVE and "Choice" in cls or \
                family in RELATIVE and "Sequence" in cls:  # it is asked for the first token, which must be
            # there, since distances count
            case["rows"] = [[1] * (row.index(1) + 1) + row[row.index(1) + 1:]
                            for row in case["rows"]]
    elif family in PAIRS:
        case = draw_pairs.draw_case(random, alike(family, cls))
        if cls == "MvpForSequenceClassification":
            case["labels"] = random.choice((1, 2, 3))
        if family == "led":
            case["rows"] = without_holes(case["rows"])
            case["window"] = random.choice((4, 6, 12))
        if cls == "MarianModel" or family == "fsmt":  # it stores the
            # positions that it computes, rounded as the rest
            case["dtype"] = "float32"
        if family == "fsmt":  # without one it hides pad tokens
            case["given_mask"] = True
    else:
        case = draw_llama.draw_case(random, alike(family, cls))
        case["both_sides"] = False
        case["old"] = False
        if family == "falcon" and cls not in ("FalconModel",
                                              "FalconForCausalLM"):
            # the others do not pass them on
            case["given_positions"] = False
        if family == "codegen":  # its packs are four
            case["heads"] = case["groups"] = 4
        if family in ALIKE:
            case["groups"] = 1 if family != "bigcode" else case["heads"]
        if family in PARTIAL + PATTERNS + ("phi3",):
            case["rope"] = "default"
        if family == "falcon":  # one head of keys, a norm or two; or groups
            case["groups"] = random.choice((case["groups"], case["heads"]))
        case["cap"] = random.choice((None, 0.7, 5.0))
        # Where what a sublayer gives is normalised, one hidden column is no
        # test of numbers: a sign is all that is left of it, wherever it is
        # near zero.
        case["width"] = max(case["width"], 16)
        if family in SLOPES or not draw_states.asks_positions(family, case):
            case["given_positions"] = False
        if family in WINDOWS + SLOPES + tuple(draw_states.DECODERS):
            case["rows"] = without_holes(case["rows"])
            case["window"] = random.choice(
                (2, 5, 17) if family in NEED_WINDOW else (None, 2, 5, 17))
            # A state is not of what the mask hides, and neither is a row.
            is_asked = family in draw_states.DECODERS and "Sequence" in cls
            if case["generate"] or is_asked:
                # Padding of a prompt is on its left.
                case["rows"] = [row[:row.index(1)] +
                                [1] * (len(row) - row.index(1))
                                for row in case["rows"]]
    return dict(case, **{"class": cls})


def encoder_config(hf, family, case):
    first = 2 if family in AFTER_PADDING else 0
    stem = ALL[family]
    keys = dict(vocab_size=case["vocab"],
                max_position_embeddings=case["positions"] + first,
                tie_word_embeddings=case["tie"], num_labels=2 if
                classes.asks(case["class"]) else case["labels"])
    if family == "distilbert":
        return hf.DistilBertConfig(
            dim=case["hidden"], n_layers=case["layers"],
            n_heads=case["heads"], hidden_dim=case["width"],
            activation=case["act"], **keys)
    if family == "privacyfilter":
        return privacy_filter(hf, case, keys)
    if family == "xlnet":
        return draw_relatives.xlnet_config(hf, case, keys)
    if family == "reformer":
        return draw_relatives.reformer_config(hf, case, keys)
    if family in ("xlm", "flaubert"):
        return getattr(hf, stem + "Config")(
            emb_dim=case["hidden"], n_layers=case["layers"],
            n_heads=case["heads"], layer_norm_eps=case["eps"],
            gelu_activation=case["act"] != "relu", **keys)
    if family == "modernbert":
        return hf.ModernBertConfig(
            hidden_size=case["hidden"],
            num_hidden_layers=max(1, case["layers"]),
            num_attention_heads=case["heads"],
            intermediate_size=case["width"], hidden_activation=case["act"],
            norm_eps=case["eps"], local_attention=case["window"],
            norm_bias=case["scale"], pad_token_id=0, bos_token_id=None,
            eos_token_id=None, cls_token_id=None, sep_token_id=None,
            classifier_pooling=("cls", "mean")[case["seed"] % 2], **keys)
    keys.update(hidden_size=case["hidden"], num_hidden_layers=case["layers"],
                num_attention_heads=case["heads"],
                intermediate_size=case["width"], hidden_act=case["act"],
                layer_norm_eps=case["eps"])
    if family not in WITHOUT_TYPES:
        keys["type_vocab_size"] = case["types"]
    if family == "eurobert":
        del keys["layer_norm_eps"]
        keys.update(rms_norm_eps=case["eps"], attention_bias=case["scale"],
                    mlp_bias=case["scale_by_layer"], pad_token_id=0,
                    bos_token_id=None, eos_token_id=None, mask_token_id=0,
                    classifier_pooling=("late", "bos", "mean")[
                        case["seed"] % 3])
    if family == "esmc":
        del keys["layer_norm_eps"]
        keys.update(attention_bias=case["scale"], pad_token_id=0,
                    mlp_bias=case["scale_by_layer"], bos_token_id=0,
                    eos_token_id=0, mask_token_id=0,
                    num_hidden_layers=max(1, case["layers"]),
                    num_key_value_heads=case["heads"])
    if family == "ultrabert":
        del keys["layer_norm_eps"]
        keys.update(rms_norm_eps=case["eps"], attention_bias=case["scale"],
                    mlp_bias=case["scale_by_layer"], pad_token_id=0,
                    num_hidden_layers=max(1, case["layers"]),
                    sliding_window=case["window"],
                    prediction_head_size=1 + case["seed"] % 40,
                    classifier_pooling=("cls", "mean")[case["seed"] % 2])
    if family == "longformer":
        keys["attention_window"] = windows_of(case)
    if family == "bigbird":
        keys.update(use_bias=case["scale"], bos_token_id=None,
                    eos_token_id=None, sep_token_id=None,
                    rescale_embeddings=case["scale_by_layer"],
                    attention_type=("block_sparse", "original_full")[
                        case["seed"] % 2])
    if family == "rembert":  # a head's table is never that of the tokens
        keys.update(input_embedding_size=case["narrow"],
                    output_embedding_size=case["width"],
                    tie_word_embeddings=False, bos_token_id=None,
                    eos_token_id=None)
    if family in ("electra", "albert", "roformer"):
        keys["embedding_size"] = case["narrow"]
    if family == "albert":
        keys["num_hidden_layers"] = max(1, case["layers"])
        keys["num_hidden_groups"] = max(1, min(case["shared"],
                                               case["layers"]))
        keys["inner_group_num"] = case["inner"]
    if family == "gte":
        keys["type_vocab_size"] = case["types"] - int(not case["given_types"])
    if family in RELATIVE:
        keys.update(relative_keys(family, case))
    if family == "ernie":
        keys["use_task_id"] = case["scale"]
    return getattr(hf, stem + "Config")(
        **draw_relatives.encoder_keys(family, case, keys))


def windows_of(case):
    """One for all layers, or one of each, which divides the widest, as
    transformers needs it."""
    if case["seed"] % 3 == 0:
        return case["window"]
    return [case["window"] * (1 + (case["seed"] >> i) % 2)
            for i in range(case["layers"])]


def privacy_filter(hf, case, keys):
    """gpt-oss's layers in an encoder."""
    seed = case["seed"]
    if keys["num_labels"] == 2:  # transformers writes no names of two, and
        # reads its own in their place
        keys["num_labels"] = 3
    taken = 1 + seed % 4
    groups = case["heads"] if seed // 3 % 2 else 1
    return hf.OpenAIPrivacyFilterConfig(
        hidden_size=case["hidden"], num_hidden_layers=max(1, case["layers"]),
        num_attention_heads=case["heads"],
        num_key_value_heads=case["heads"] // groups,
        head_dim=case["hidden"] // case["heads"], rms_norm_eps=case["eps"],
        intermediate_size=case["width"] % 19 + 3, num_experts_per_tok=taken,
        num_local_experts=taken + seed // 4 % 9, swiglu_limit=1.0,
        swiglu_alpha=1.5, sliding_window=case["window"],
        attention_bias=case["scale"], pad_token_id=0, eos_token_id=None,
        rope_parameters={"rope_type": "default", "rope_theta": 5000.0},
        **keys)


def gemma4(case, keys):
    """The last layer sees all, and those that have no keys read those of layers
    of both types before them."""
    seed, types = case["seed"], keys["layer_types"][:-1] + ["full_attention"]
    shared = 0
    while (shared + 1 < len(types) and
           set(types[:-shared - 1]) == set(types) and seed >> shared & 1):
        shared += 1
    return dict(
        layer_types=types, num_kv_shared_layers=shared,
        hidden_activation=keys.pop("hidden_act"),
        global_head_dim=case["head_dim"] + 4 * (seed % 3),
        attention_k_eq_v=bool(seed // 3 % 2),
        num_global_key_value_heads=(None, 1)[seed // 6 % 2],
        # Without them transformers fails where layers share keys.
        hidden_size_per_layer_input=(5 if shared else 0, 6,
                                     11)[seed // 12 % 3],
        vocab_size_per_layer_input=case["vocab"],
        use_double_wide_mlp=bool(seed // 36 % 2),
        enable_moe_block=bool(seed // 72 % 2), num_experts=2 + seed // 144 % 5,
        top_k_experts=1 + seed // 720 % 2, moe_intermediate_size=14,
        final_logit_softcapping=case["cap"],
        rope_parameters=draw_llama.by_type(
            {"rope_type": "proportional", "rope_theta": 90000.0,
             "partial_rotary_factor": 0.5},
            {"rope_type": "default", "rope_theta": case["theta"]}))


def gemma3n(case, keys):
    """Layers that have no keys read those of layers of both types before
    them."""
    seed, types = case["seed"], keys["layer_types"]
    shared, layers = 0, len(keys["layer_types"])
    while (shared + 1 < layers and
           set(types[:-shared - 1]) == set(types) and seed >> shared & 1):
        shared += 1
    width = keys["intermediate_size"]
    count = 2 + seed % 4
    return dict(
        num_kv_shared_layers=shared,
        hidden_activation=keys.pop("hidden_act"),
        intermediate_size=[width + seed // 3 % 2 * (i % 3)
                           for i in range(layers)],
        activation_sparsity_pattern=[
            (0.0, 0.95, 0.5, 0.3)[(seed >> i) % 4] for i in range(layers)],
        hidden_size_per_layer_input=(3, 6, 11)[seed // 12 % 3],
        vocab_size_per_layer_input=max(1, case["vocab"] - 7 * (seed % 2)),
        altup_num_inputs=count, altup_active_idx=seed // 5 % count,
        altup_correct_scale=bool(seed // 7 % 2), laurel_rank=1 + seed % 9,
        final_logit_softcapping=case["cap"] or 30.0,
        rope_parameters=draw_llama.by_type(
            {"rope_type": "default", "rope_theta": 90000.0},
            {"rope_type": "default", "rope_theta": case["theta"]}))


def dbrx(case, keys):
    """It has no model without a bound, and reads a theta that it does not use."""
    seed, taken = case["seed"], 1 + case["seed"] % 4
    return dict(
        keys, d_model=case["hidden"], n_layers=case["layers"],
        n_heads=case["heads"], max_seq_len=case["positions"],
        tie_word_embeddings=False,
        rope_parameters={**draw_llama.rope(case), "rope_theta": case["theta"]},
        attn_config=dict(kv_n_heads=case["heads"] // case["groups"],
                         clip_qkv=CLIPS[1 + seed % 2], rope_theta=10000.0),
        ffn_config=dict(
            ffn_hidden_size=case["width"] % 19 + 3, moe_top_k=taken,
            moe_num_experts=taken + seed // 4 % 9,
            ffn_act_fn={"name": case["act"]},
            moe_normalize_expert_weights=(None, 1.0)[seed // 3 % 2]))


def with_sizes(family, case):
    """The case with sizes that the family has; simpler cases come as any."""
    case = dict(case)
    if family in PATTERNS:  # transformers has their angles by type of layer
        case["layers"] = max(1, case["layers"])
    if family in NEED_WINDOW:  # simpler cases come without
        case["window"] = case["window"] or case["positions"]
    if family in PARTIAL + SINUSOIDS + ("laguna", "gemma4",
                                         "gemma4unified"):
        case["head_dim"] = 4 * max(1, case["head_dim"] // 4)
    if family in DIVIDED + PARTIAL:
        case["hidden"] = case["heads"] * case["head_dim"]
    return case


def decoder_config(hf, family, case):
    case = with_sizes(family, case)
    keys = dict(vocab_size=case["vocab"], bos_token_id=None,
                eos_token_id=case["eos"], pad_token_id=0,
                tie_word_embeddings=case["tie"], num_labels=2 if
                classes.asks(case["class"]) else case["labels"])
    if family in draw_states.DECODERS:
        return draw_states.config(hf, family, case, keys)
    if family in draw_relatives.DECODERS:
        return getattr(hf, ALL[family] + "Config")(
            **draw_relatives.decoder_keys(family, case, keys))
    if family in ("gptj", "codegen"):
        return getattr(hf, ALL[family] + "Config")(
            n_embd=case["hidden"], n_layer=case["layers"],
            n_head=case["heads"], n_positions=case["positions"],
            rotary_dim=2 * max(1, case["head_dim"] // 4),
            n_inner=case["width"], activation_function=case["act"],
            layer_norm_epsilon=case["eps"], **keys)
    if family == "ctrl":
        return hf.CTRLConfig(
            n_embd=case["hidden"], n_layer=case["layers"],
            n_head=case["heads"], n_positions=case["positions"],
            dff=case["width"], layer_norm_epsilon=case["eps"], **keys)
    if family == "xglm":
        return hf.XGLMConfig(
            d_model=case["hidden"], num_layers=case["layers"],
            attention_heads=case["heads"], ffn_dim=case["width"],
            max_position_embeddings=case["positions"],
            activation_function=case["act"],
            scale_embedding=case["mlp_bias"], **keys)
    if family == "bloom":
        return hf.BloomConfig(
            hidden_size=case["hidden"], n_layer=case["layers"],
            n_head=case["heads"], layer_norm_epsilon=case["eps"], **keys)
    if family == "mpt":
        return hf.MptConfig(
            d_model=case["hidden"], n_layers=case["layers"],
            n_heads=case["heads"], max_seq_len=case["positions"],
            layer_norm_epsilon=case["eps"], attn_config={
                "softmax_scale": 0.3 if case["mlp_bias"] else None,
                "clip_qkv": CLIPS[case["seed"] % 3]}, **keys)
    if family == "dbrx":
        return hf.DbrxConfig(**dbrx(case, keys))
    if family == "falcon":
        new = case["groups"] < case["heads"]
        return hf.FalconConfig(
            hidden_size=case["hidden"], num_hidden_layers=case["layers"],
            num_attention_heads=case["heads"],
            num_kv_heads=case["heads"] // case["groups"] if new else None,
            new_decoder_architecture=new, multi_query=case["mlp_bias"],
            num_ln_in_parallel_attn=1 if case["attention_bias"] else None,
            bias=case["attention_bias"], ffn_hidden_size=case["width"],
            activation="gelu" if case["act"] == "silu" else case["act"],
            layer_norm_epsilon=case["eps"],
            max_position_embeddings=case["positions"],
            rope_parameters={**draw_llama.rope(case),
                             "rope_theta": case["theta"]}, **keys)
    if family in ("openai", "bigcode"):
        keys.update(n_embd=case["hidden"], n_layer=case["layers"],
                    n_head=case["heads"], n_positions=case["positions"],
                    layer_norm_epsilon=case["eps"])
        if family == "openai":
            return hf.OpenAIGPTConfig(**keys)
        return hf.GPTBigCodeConfig(n_inner=case["width"],
                                   activation_function=case["act"], **keys)
    keys.update(hidden_size=case["hidden"],
                max_position_embeddings=case["positions"])
    if family == "gptneo":
        kinds = ["global", "local"] if case["window"] else ["global"]
        return hf.GPTNeoConfig(
            num_layers=case["layers"], num_heads=case["heads"],
            attention_types=[[[kinds[i % len(kinds)]], 1]
                             for i in range(case["layers"])],
            window_size=case["window"] or 256,
            intermediate_size=case["width"],
            activation_function=case["act"], layer_norm_epsilon=case["eps"],
            **keys)
    keys.update(num_hidden_layers=case["layers"],
                num_attention_heads=case["heads"])
    if family == "biogpt":
        return hf.BioGptConfig(
            intermediate_size=case["width"], hidden_act=case["act"],
            scale_embedding=case["mlp_bias"], **keys)
    if family == "opt":
        # A projection where there is an odd number of heads.
        narrow = 6 if case["heads"] % 2 else None
        return hf.OPTConfig(ffn_dim=case["width"], word_embed_proj_dim=narrow,
                            activation_function=case["act"],
                            do_layer_norm_before=case["mlp_bias"],
                            enable_bias=case["attention_bias"], **keys)
    eps = {"starcoder2": "norm_epsilon", "stablelm": "layer_norm_eps",
           "neox": "layer_norm_eps", "phi": "layer_norm_eps",
           "cohere": "layer_norm_eps", "cohere2": "layer_norm_eps",
           "persimmon": "layer_norm_eps", "nemotron": "norm_eps",
           "jais2": "layer_norm_eps", "cohere2moe": "layer_norm_eps"}
    keys.update({eps.get(family, "rms_norm_eps"): case["eps"]},
                num_key_value_heads=case["heads"] // case["groups"],
                intermediate_size=case["width"], hidden_act=case["act"],
                rope_parameters={**draw_llama.rope(case),
                                 "rope_theta": case["theta"]})
    if family in ("helium", "ernie45", "seedoss", "ministral", "glm", "glm4",
                  "qwen3", "arcee", "gemma", "gemma2", "gemma3", "jais2",
                  "cwm", "vaultgemma", "hunyuan", "mixtral", "qwen3moe",
                  "glm4moe", "ernie45moe", "gptoss", "dots1", "minimaxm2",
                  "solaropen", "hunyuanmoe", "mellum", "hyv3", "afmoe", "flint",
                  "kolibri1", "laguna", "cohere2moe", "gemma4",
                  "gemma4unified", "gemma3n", "llama4"):
        keys["head_dim"] = case["head_dim"]
    if family in PARTIAL:
        keys["rope_parameters"]["partial_rotary_factor"] = 0.5
    if family in ALIKE:
        del keys["num_key_value_heads"]
    if family in PATTERNS:
        keys["sliding_window"] = case["window"]
        keys["layer_types"] = (draw_llama.layer_types(case) if case["window"]
                               else ["full_attention"] * case["layers"])
    if family in ("gemma3", "olmo3", "mellum"):
        keys["rope_parameters"] = {
            "full_attention": {"rope_type": "linear", "rope_theta": 90000.0,
                               "factor": case["factor"]},
            "sliding_attention": {"rope_type": "default",
                                  "rope_theta": case["theta"]}}
    if family == "olmo":
        del keys["rms_norm_eps"]
    if family in ("gemma2", "gemma3", "vaultgemma"):
        keys["hidden_activation"] = keys.pop("hidden_act")
        keys.update(query_pre_attn_scalar=case["width"],
                    final_logit_softcapping=case["cap"])
    if (family == "gemma3" and case["window"] and case["seed"] % 3 == 0 and
            "CausalLM" not in case["class"]):
        keys["use_bidirectional_attention"] = True
    if family in ("gemma2", "vaultgemma"):
        keys["attn_logit_softcapping"] = case["cap"]
    if family in ("phi", "persimmon"):
        keys["qk_layernorm"] = case["mlp_bias"]
    if family == "neox":
        keys["use_parallel_residual"] = not case["mlp_bias"]
    if family in ("cohere", "cohere2", "cohere2moe"):
        keys["logit_scale"] = case["factor"]
    if family == "cohere":
        keys["use_qk_norm"] = case["mlp_bias"]
    if family == "stablelm":
        keys.update(qk_layernorm=case["mlp_bias"],
                    use_parallel_residual=case["mlp_bias"])
        keys["rope_parameters"]["partial_rotary_factor"] = 1.0
        keys["use_qkv_bias"] = case["attention_bias"]
    if family in ("smollm3", "granite", "seedoss", "glm", "helium", "qwen3",
                  "olmo", "olmo2", "olmo3", "gemma", "gemma2", "gemma3",
                  "neox", "cohere", "cohere2", "glm4", "nemotron", "arcee", "jais2",
                  "vaultgemma", "hyperclovax", "nanochat", "hunyuan",
                  "qwen3moe", "olmoe", "granitemoe", "glm4moe", "gptoss",
                  "phimoe", "deepseekv2", "deepseekv3", "glm4moelite", "dots1",
                  "flexolmo", "granitemoeshared", "solaropen", "hunyuanmoe",
                  "youtu", "mellum", "hyv3", "graniteswa", "granitemoeswa",
                  "minicpm3", "axk1", "mistral4", "flint", "apertus",
                  "cohere2moe", "gemma4", "gemma4unified", "gemma3n",
                  "llama4", "bitnet"):
        keys["attention_bias"] = case["attention_bias"]
    if family in ("smollm3", "granite", "seedoss", "helium", "nemotron",
                  "arcee", "jais2", "cwm", "hyperclovax", "graniteswa",
                  "minicpm3"):
        keys["mlp_bias"] = case["mlp_bias"]
    if family in ("starcoder2", "ernie45"):
        keys["use_bias"] = case["attention_bias"]
    if family in ("phi3", "starcoder2", "ministral"):
        keys["sliding_window"] = case["window"]
    if family in MIXTURES:
        keys.update(mixture(family, case))
    if family in LATENT:
        keys.update(latent(case))
    if family == "axk1":  # it has none without
        keys["q_lora_rank"] = 5 + case["seed"] % 7
    if family == "minicpm3":
        keys.update(scale_emb=case["factor"], scale_depth=(None, 1.1)[
            case["seed"] // 2 % 2], dim_model_base=5 + case["seed"] % 40,
            rope_parameters={"rope_type": "default",
                             "rope_theta": case["theta"]})
    if family == "mistral4":  # queries grow from there on
        keys["rope_parameters"] = {
            "rope_type": "yarn", "rope_theta": case["theta"],
            "factor": case["factor"], "llama_4_scaling_beta": 0.1,
            "original_max_position_embeddings": case["positions"],
            "mscale": 1.0, "mscale_all_dim": 1.0}
    if family in ("graniteswa", "granitemoeswa") and case["seed"] % 3:
        keys["layer_rope_theta"] = [
            (0, 90.0, 5000)[(case["seed"] >> i) % 3]
            for i in range(case["layers"])]
    if family == "youtu":  # its loading zeroes the row of a pad token
        keys["pad_token_id"] = None
    if family in ("olmo", "olmoe"):
        keys["clip_qkv"] = CLIPS[case["seed"] % 3]
    if family == "gptoss":
        keys["hidden_act"] = "silu"
    if family == "apertus":
        keys["hidden_act"] = "xielu"
    if family == "laguna":
        factors = (0.5, 1.0)[case["seed"] % 2]
        keys["rope_parameters"] = draw_llama.by_type(
            {"rope_type": "default", "rope_theta": 90000.0,
             "partial_rotary_factor": factors},
            {"rope_type": "default", "rope_theta": case["theta"]})
    if family in ("gemma4", "gemma4unified"):
        keys.update(gemma4(case, keys))
    if family == "gemma3n":
        keys.update(gemma3n(case, keys))
    if family == "gemma4unified":
        for key in ("hidden_size_per_layer_input", "num_experts",
                    "vocab_size_per_layer_input", "enable_moe_block",
                    "top_k_experts", "moe_intermediate_size"):
            del keys[key]
    if family == "phimoe":
        keys["rope_parameters"] = {"rope_type": "default",
                                   "rope_theta": case["theta"]}
    if family in ("smollm3", "llama4"):
        keys["no_rope_layer_interval"] = case["full_every"]
    if family == "phi3" and case["seed"] % 3:
        keys["rope_parameters"].update(draw_relatives.longrope(case, keys))
    if family == "cwm":  # without an end it has three of a larger vocabulary
        keys["bos_token_id"] = 1
        keys["eos_token_id"] = case["eos"] or 0
    if family == "nanochat":
        keys["final_logit_softcapping"] = case["cap"]
    if family == "hunyuan" and case["seed"] % 2:
        keys["rope_parameters"] = {
            "rope_type": "dynamic", "rope_theta": case["theta"],
            "factor": 1.0, "alpha": case["factor"]}
    if family == "hyperclovax":
        keys["use_post_norm"] = bool(case["seed"] % 3)
    if family in ("granite", "hyperclovax", "granitemoe", "granitemoeshared",
                  "graniteswa", "granitemoeswa"):
        keys.update(embedding_multiplier=case["factor"],
                    attention_multiplier=0.3, logits_scaling=case["factor"],
                    residual_multiplier=0.4)
    return getattr(hf, ALL[family] + "Config")(**keys)


def mixture(family, case):
    """The keys of its experts, by the seed: of no other family's case."""
    seed, width = case["seed"], case["width"] % 19 + 3
    taken = 1 + seed % 4
    keys = dict(num_experts_per_tok=taken, num_experts=taken + seed // 4 % 9,
                norm_topk_prob=bool(seed // 3 % 2))
    if family in ("mixtral", "granitemoe", "gptoss", "phimoe", "minimaxm2",
                  "granitemoeshared", "granitemoeswa"):
        keys["num_local_experts"] = keys.pop("num_experts")
        del keys["norm_topk_prob"]
    if family == "gptoss":
        keys.update(swiglu_alpha=1 + case["factor"] / 4, swiglu_limit=1.0)
    if family == "phimoe":  # it takes two, whatever its keys say
        keys.update(num_experts_per_tok=2, router_jitter_noise=0.3,
                    num_local_experts=max(keys["num_local_experts"], 2),
                    lm_head_bias=bool(seed % 2))
    if family == "minimaxm2" and seed % 3:
        keys["rotary_dim"] = 2 * (1 + seed % (case["head_dim"] // 2))
    if family in ("granitemoeshared", "granitemoeswa"):
        keys["shared_intermediate_size"] = width + 2 if seed % 3 else 0
    if family == "hunyuanmoe":
        keys["moe_topk"] = keys.pop("num_experts_per_tok")
        del keys["norm_topk_prob"]
    if family in ("mixtral", "granitemoe", "olmoe", "gptoss", "phimoe",
                  "flexolmo", "minimaxm2", "granitemoeshared", "hunyuanmoe",
                  "granitemoeswa"):
        return dict(keys, intermediate_size=width)
    if family == "llama4":
        keys.pop("norm_topk_prob", None)
        keys.update(num_local_experts=keys.pop("num_experts"),
                    num_experts_per_tok=1, intermediate_size_mlp=width + 3,
                    use_qk_norm=bool(seed % 3), interleave_moe_layer_step=1 + (
                        case["layers"] > 1 and seed % 2))
        return dict(keys, intermediate_size=width)
    keys["moe_intermediate_size"] = width
    dense = case["layers"] > 1
    if family in ("qwen2moe", "qwen3moe"):
        keys.update(decoder_sparse_step=1 + (dense and seed % 2),
                    mlp_only_layers=[0] if dense and seed % 5 == 0 else [])
    if family == "qwen2moe":
        keys.update(shared_expert_intermediate_size=width + 2,
                    qkv_bias=case["attention_bias"])
    if family == "deepseekv2":
        del keys["norm_topk_prob"]  # which it does not read
        keys["topk_method"] = "group_limited_greedy" if seed % 2 else "greedy"
    if family in ("glm4moe", "dots1", "solaropen", *LATENT):
        del keys["num_experts"]
        groups = 1 + seed % 3
        keys.update(n_group=groups, topk_group=1 + seed // 2 % groups,
                    n_routed_experts=groups * (taken + 1),
                    first_k_dense_replace=int(dense and seed % 2),
                    n_shared_experts=1 + seed % 2,
                    routed_scaling_factor=case["factor"])
    if family in ("flint", "kolibri1", "laguna"):
        keys["shared_expert_intermediate_size"] = width + 2
    if family == "flint":
        keys["mlp_only_layers"] = [0] if dense and seed % 3 else []
    if family == "laguna":
        del keys["norm_topk_prob"]
        keys.update(gating=(True, "per-head", "per-element")[seed % 3],
                    moe_routed_scaling_factor=case["factor"],
                    num_attention_heads_per_layer=[
                        case["heads"] // case["groups"] *
                        (1 + (seed >> i) % 3) for i in range(case["layers"])])
    if family == "cohere2moe":
        keys.pop("moe_intermediate_size")
        keys.update(intermediate_size=width, num_shared_experts=seed % 3,
                    prefix_dense_intermediate_size=width + 3,
                    shared_expert_combination_strategy=("average", "sum")[
                        seed // 3 % 2],
                    expert_selection_fn=("softmax", "sigmoid")[seed // 5 % 2],
                    prefix_dense_sliding_window_pattern=1 + seed // 7 % 2,
                    rms_norm_eps=(None, case["eps"])[seed // 2 % 2])
    if family == "glm4moelite":
        del keys["first_k_dense_replace"]  # which it does not read
        keys["mlp_layer_types"] = [
            "dense" if dense and i == seed % case["layers"] else "sparse"
            for i in range(case["layers"])]
    if family == "solaropen":
        del keys["first_k_dense_replace"]
    if family == "exaonemoe":
        groups = 1 + seed % 3
        keys.update(n_group=groups, topk_group=1 + seed // 2 % groups,
                    num_experts=groups * (taken + 1),
                    num_shared_experts=1 + seed % 2,
                    routed_scaling_factor=case["factor"])
    if family == "afmoe":
        keys.update(num_shared_experts=1 + seed % 2, route_scale=case["factor"],
                    num_dense_layers=int(dense and seed % 2),
                    mup_enabled=bool(seed // 2 % 2))
        del keys["norm_topk_prob"]
    if family == "hyv3":
        keys.update(num_shared_experts=1 + seed % 2,
                    router_scaling_factor=case["factor"])
        del keys["norm_topk_prob"]
    if family == "exaonemoe" and seed % 2:
        keys["first_k_dense_replace"] = int(dense)
    elif family in ("exaonemoe", "mellum", "hyv3", "laguna", "cohere2moe"):
        keys["mlp_layer_types"] = [
            "dense" if dense and i == seed % case["layers"] else "sparse"
            for i in range(case["layers"])]
    if family == "dots1":
        keys["sliding_window"] = case["window"]
        keys["max_window_layers"] = seed % 3
    if family == "glm4moe":
        keys["use_qk_norm"] = bool(seed % 2)
    if family == "ernie45moe":
        keys.update(moe_num_experts=keys.pop("num_experts"), moe_k=taken,
                    moe_num_shared_experts=1 + seed % 2,
                    moe_layer_start_index=int(dense and seed % 2))
        del keys["num_experts_per_tok"], keys["norm_topk_prob"]
    return keys


def latent(case):
    """The keys of attention to latents, by the seed. All widths beside columns
    that turn are even, which transformers' V2 needs."""
    seed = case["seed"]
    keys = dict(q_lora_rank=None if seed % 3 == 0 else 5 + seed % 7,
                kv_lora_rank=2 * (3 + seed % 9), qk_nope_head_dim=2 * (1 + seed % 6),
                qk_rope_head_dim=2 * (2 + seed % 3), v_head_dim=1 + seed % 13,
                num_key_value_heads=case["heads"])
    if seed % 2:
        keys["rope_parameters"] = {
            "rope_type": "yarn", "rope_theta": case["theta"],
            "factor": case["factor"], "original_max_position_embeddings": 16,
            "mscale": 0.7, "mscale_all_dim": 1.0}
    return keys


def make_config(hf, case):
    family = family_of(case)
    if family in ENCODERS:
        return encoder_config(hf, family, case)
    if family in DECODERS:
        return decoder_config(hf, family, case)
    if family == "led":
        return led(hf, case)
    # Of sines and cosines there is more than one.
    times = 4 if family in ("m2m", "marian", "fsmt") else 1
    keys = {}
    if family == "fsmt":  # its cache sees tokens that come later
        keys.update(src_vocab_size=case["vocab"] + case["seed"] % 9,
                    tgt_vocab_size=case["vocab"], use_cache=False)
        if case["tie"]:
            keys.update(src_vocab_size=case["vocab"], tie_word_embeddings=True)
    if case["class"].endswith("ForSequenceClassification"):
        keys["num_labels"] = case["labels"]
    return getattr(hf, ALL[family] + "Config")(
        **({} if family == "fsmt" else {"vocab_size": case["vocab"]}),
        d_model=times * case["hidden"],
        encoder_layers=case["layers"], decoder_layers=case["decoder_layers"],
        encoder_attention_heads=case["heads"],
        decoder_attention_heads=case["decoder_heads"],
        encoder_ffn_dim=case["width"], decoder_ffn_dim=case["decoder_width"],
        max_position_embeddings=case["positions"],
        activation_function=case["act"],
        scale_embedding=case["scale_embedding"], pad_token_id=1,
        bos_token_id=0, eos_token_id=2, decoder_start_token_id=2,
        forced_eos_token_id=case["forced_eos"], **keys)


def led(hf, case):
    """The encoder has room for what transformers puts behind its rows."""
    return hf.LEDConfig(
        vocab_size=case["vocab"], d_model=case["hidden"],
        encoder_layers=case["layers"], decoder_layers=case["decoder_layers"],
        encoder_attention_heads=case["heads"],
        decoder_attention_heads=case["decoder_heads"],
        encoder_ffn_dim=case["width"], decoder_ffn_dim=case["decoder_width"],
        max_encoder_position_embeddings=case["positions"] + 24,
        max_decoder_position_embeddings=case["positions"],
        attention_window=windows_of(case), activation_function=case["act"],
        forced_eos_token_id=case["forced_eos"])


def make_inputs(torch, case):
    family = family_of(case)
    cls = alike(family, case["class"])
    inputs = base(family).make_inputs(torch, dict(case, **{"class": cls}))
    if family in AFTER_PADDING:
        inputs["input_ids"][torch.tensor(case["rows"]) == 0] = 1
    if case["class"] in draw_relatives.ASKED and case["seed"] % 3:
        inputs["targets"] = draw_relatives.draw_targets(torch, case)
    return inputs


def generation(case):
    """The keys of a pair's generation_config.json."""
    return draw_pairs.generation(dict(case, **{"class": "BartModel"}))


def smaller(case):
    return base(family_of(case)).smaller(case)
