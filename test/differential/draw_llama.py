# Random cases of LLaMA, Mistral and Qwen2, and their configurations.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import classes
import draw

LLAMA = classes.of("Llama")
MISTRAL = classes.of("Mistral")
QWEN2 = classes.of("Qwen2")

# The simplest value of a key: what a failing case is made to have.
PLAIN = {"act": "silu", "dtype": "float32", "tie": True, "shards": False,
         "eps": 1e-6, "attention_bias": False, "mlp_bias": False,
         "rope": "default", "theta": 10000.0, "factor": 2.0, "old": False,
         "window": None, "full_every": 2, "both_sides": False,
         "given_positions": False, "given_mask": True, "integers": "int64",
         "threads": 1, "eos": None, "labels": 1}
SIZES = ("layers", "heads", "groups", "head_dim", "hidden", "width", "vocab",
         "positions", "generate")


def draw_case(random, cls):
    groups = random.choice((1, 1, 2, 3, 4))
    heads = groups * random.choice((1, 2, 3))
    case = {
        "class": cls,
        "heads": heads,
        # Query heads that share a key.
        "groups": groups,
        "head_dim": random.choice((4, 6, 8, 16, 26, 34, 64)),
        "hidden": heads * random.choice((1, 5, 13, 16, 32)),
        "layers": random.choice((1, 1, 2, 2, 3)),
        "width": random.choice((1, 7, 64, 150, 333)),
        "vocab": random.choice((5, 97, 128, 301)),
        "positions": random.choice((48, 64, 77, 640)),
        "labels": random.choice((1, 2, 3, 7)),
        "act": random.choice(("silu", "silu", "gelu", "gelu_new", "relu",
                              "gelu_pytorch_tanh")),
        "eps": random.choice((1e-6, 1e-5, 1e-3)),
        "dtype": random.choice(("float32", "float32", "float16", "bfloat16")),
        "tie": random.random() < 0.5,
        "attention_bias": random.random() < 0.3,
        "mlp_bias": random.random() < 0.3,
        "rope": random.choice(("default", "default", "linear", "dynamic",
                               "llama3", "yarn")),
        "theta": random.choice((100.0, 10000.0, 500000.0, 1e6)),
        "factor": random.choice((1.0, 2.0, 3.5, 8.0, 32.0)),
        "old": random.random() < 0.3,
        "window": None,
        "both_sides": (not cls.endswith("ForCausalLM") and
                       random.random() < 0.4),
        # Of layers with a window, how often one has none.
        "full_every": 2,
        "shards": random.random() < 0.2,
        "given_positions": random.random() < 0.3,
        "given_mask": random.random() < 0.8,
        "integers": random.choice(("int32", "int64")),
        "threads": random.choice((1, 2, 3)),
        "generate": 0,
        "eos": None,
        "seed": random.randrange(1 << 30),
    }
    sides = ["none", "left", "right", "holes"]
    if cls in MISTRAL + QWEN2 and not case["both_sides"]:
        case["window"] = random.choice((None, 1, 2, 5, 17, 64))
        if case["window"]:
            # Where the window counts columns, a hole is no padding.
            sides.remove("holes")
    if cls in QWEN2 and case["window"]:
        case["layers"] = random.choice((1, 2, 4, 5))
        case["full_every"] = random.choice((1, 2, 2, 3))
    if cls.endswith("ForCausalLM"):
        case["generate"] = random.choice((0, 7, 40))
        case["eos"] = random.choice((None, random.randrange(case["vocab"])))
        if case["generate"] and case["window"]:
            sides.remove("right")
    side = random.choice(sides)
    longest = case["positions"] - case["generate"]
    length = min(random.choice((1, 2, 5, min(17, longest), longest)), longest)
    case["rows"] = [draw.draw_mask(random, side, length)
                    for _ in range(random.choice((1, 2, 3, 5)))]
    return case


def by_type(full, sliding):
    """rope_parameters of two types of layers."""
    return {"full_attention": full, "sliding_attention": sliding}


def rope(case):
    """rope_parameters, without the theta."""
    kind, factor = case["rope"], case["factor"]
    before = max(8, case["positions"] // 4)
    return {
        "default": {}, "linear": {"factor": factor},
        "dynamic": {"factor": factor},
        "llama3": {"factor": factor, "low_freq_factor": 1.0,
                   "high_freq_factor": 4.0,
                   "original_max_position_embeddings": before},
        "yarn": {"factor": factor, "beta_fast": 4.0, "beta_slow": 0.2,
                 "original_max_position_embeddings": before},
    }[kind] | {"rope_type": kind}


def layer_types(case):
    return ["full_attention" if (layer + 1) % case["full_every"] == 0 else
            "sliding_attention" for layer in range(case["layers"])]


def make_config(hf, case):
    cls = case["class"]
    keys = dict(
        vocab_size=case["vocab"], hidden_size=case["hidden"],
        num_hidden_layers=case["layers"], num_attention_heads=case["heads"],
        num_key_value_heads=case["heads"] // case["groups"],
        intermediate_size=case["width"], hidden_act=case["act"],
        max_position_embeddings=case["positions"], rms_norm_eps=case["eps"],
        tie_word_embeddings=case["tie"], bos_token_id=None,
        eos_token_id=case["eos"], pad_token_id=0, num_labels=case["labels"],
        rope_parameters={**rope(case), "rope_theta": case["theta"]})
    if case["both_sides"]:
        keys["is_causal"] = False
    if cls in QWEN2:
        # Its heads are as wide as they are many.
        keys["hidden_size"] = case["heads"] * case["head_dim"]
        if case["window"]:
            keys.update(use_sliding_window=True, sliding_window=case["window"],
                        layer_types=layer_types(case))
        return hf.Qwen2Config(**keys)
    keys["head_dim"] = case["head_dim"]
    if cls in MISTRAL:
        return hf.MistralConfig(sliding_window=case["window"], **keys)
    return hf.LlamaConfig(attention_bias=case["attention_bias"],
                          mlp_bias=case["mlp_bias"], **keys)


def patch_config(case, keys):
    """The keys of config.json as transformers 4 wrote them."""
    if case["old"]:
        del keys["rope_parameters"]
        keys["rope_theta"] = case["theta"]
        keys["rope_scaling"] = (None if case["rope"] == "default" else
                                rope(case))
        if case["groups"] == 1 and case["class"] in LLAMA:
            del keys["num_key_value_heads"]


def make_inputs(torch, case):
    generator = torch.Generator().manual_seed(case["seed"])
    mask = torch.tensor(case["rows"])
    # The pad token is 0: sequence classification takes the last that is not.
    inputs = {"input_ids": torch.randint(1, case["vocab"], mask.shape,
                                         generator=generator)}
    inputs["input_ids"][mask == 0] = 0
    if case["given_mask"] or not bool(mask.all()):
        inputs["attention_mask"] = mask
    if case["given_positions"]:
        inputs["position_ids"] = torch.randint(
            0, case["positions"] - case["generate"], mask.shape,
            generator=generator)
    return inputs


def smaller(case):
    rows, length = case["rows"], len(case["rows"][0])
    found = [draw.with_rows(case, [row]) for row in rows if len(rows) > 1]
    found += [draw.with_rows(case, [row[:length // 2] for row in rows]),
              draw.with_rows(case, [row[length // 2:] for row in rows]),
              draw.with_rows(case, [row[1:] for row in rows]),
              draw.with_rows(case, [[1] * length for _ in rows])]
    head = case["hidden"] // case["heads"]
    for changes in ({"layers": 1}, {"layers": case["layers"] - 1},
                    {"heads": 1, "groups": 1, "hidden": head},
                    {"heads": case["groups"], "hidden":
                     case["groups"] * head}, {"hidden": case["heads"]},
                    {"head_dim": 4}, {"head_dim": 8}, {"width": 1},
                    {"width": 7}, {"vocab": 5}, {"positions": 48},
                    {"generate": case["generate"] // 2}, {"generate": 0}):
        found.append(dict(case, **changes))
    found += [dict(case, **{key: value}) for key, value in PLAIN.items()]
    return [one for one in found if one and one["layers"] > 0 and
            len(one["rows"][0]) + one["generate"] <= one["positions"] and
            cost(one) < cost(case)]


def cost(case):
    return (sum(case[key] for key in SIZES) + 100 * case["layers"] +
            sum(10 * len(row) - sum(row) for row in case["rows"]) +
            sum(20 for key, value in PLAIN.items() if case[key] != value))
