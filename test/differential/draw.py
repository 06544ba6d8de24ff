# Random cases of BERT and GPT-2, and smaller ones made from a failing case. A
# case is plain data, so that it can be printed and given back.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import classes

BERT = classes.of("Bert")
GPT2 = classes.of("GPT2")


def draw_mask(random, side, length):
    """1 for tokens; at least one."""
    tokens = random.randint(1, length)
    if side == "left":
        return [0] * (length - tokens) + [1] * tokens
    if side == "right":
        return [1] * tokens + [0] * (length - tokens)
    if side == "holes":
        mask = [random.randint(0, 1) for _ in range(length)]
        mask[random.randrange(length)] = 1
        return mask
    return [1] * length


def draw_case(random, cls):
    heads = random.choice((1, 2, 3, 4, 7))
    case = {
        "class": cls,
        "heads": heads,
        "hidden": heads * random.choice((1, 5, 8, 16, 26, 33, 64)),
        "layers": random.choice((0, 1, 1, 2, 2, 3, 5)),
        "width": random.choice((1, 7, 64, 150, 333)),
        "vocab": random.choice((5, 97, 128, 301)),
        "positions": random.choice((48, 64, 77, 640)),
        "types": random.choice((1, 2, 3)),
        "labels": random.choice((1, 2, 3, 7)),
        "act": random.choice(("gelu", "gelu_new", "relu", "silu", "tanh",
                              "gelu_pytorch_tanh", "swish")),
        "eps": random.choice((1e-12, 1e-5, 1e-6)),
        "dtype": random.choice(("float32", "float32", "float16", "bfloat16")),
        "tie": random.random() < 0.6,
        "scale": random.random() < 0.7,
        "scale_by_layer": random.random() < 0.3,
        "both_sides": False,
        "shards": random.random() < 0.2,
        "given_positions": random.random() < 0.3,
        "given_types": random.random() < 0.5,
        "given_mask": random.random() < 0.8,
        "integers": random.choice(("int32", "int64")),
        "threads": random.choice((1, 2, 3)),
        "generate": 0,
        "eos": None,
        "seed": random.randrange(1 << 30),
    }
    if cls in GPT2 and cls != "GPT2LMHeadModel":
        case["both_sides"] = random.random() < 0.4
    side = random.choice(("none", "left", "right", "holes"))
    if cls == "GPT2LMHeadModel":
        case["generate"] = random.choice((0, 7, 40))
        case["eos"] = random.choice((None, random.randrange(case["vocab"])))
    longest = case["positions"] - case["generate"]
    length = random.choice((1, 2, 5, min(17, longest), longest))
    length = min(length, longest)
    case["rows"] = [draw_mask(random, side, length)
                    for _ in range(random.choice((1, 2, 3, 5)))]
    return case


def make_config(hf, case):
    if case["class"] in BERT:
        return hf.BertConfig(
            vocab_size=case["vocab"], hidden_size=case["hidden"],
            num_hidden_layers=case["layers"],
            num_attention_heads=case["heads"],
            intermediate_size=case["width"], hidden_act=case["act"],
            max_position_embeddings=case["positions"],
            type_vocab_size=case["types"], layer_norm_eps=case["eps"],
            tie_word_embeddings=case["tie"], num_labels=2 if
            classes.asks(case["class"]) else case["labels"])
    return hf.GPT2Config(
        vocab_size=case["vocab"], n_embd=case["hidden"],
        n_layer=case["layers"], n_head=case["heads"], n_inner=case["width"],
        n_positions=case["positions"], activation_function=case["act"],
        layer_norm_epsilon=case["eps"], scale_attn_weights=case["scale"],
        scale_attn_by_inverse_layer_idx=case["scale_by_layer"],
        tie_word_embeddings=case["tie"], bos_token_id=None,
        eos_token_id=case["eos"], pad_token_id=0, num_labels=case["labels"],
        **({"is_causal": False} if case["both_sides"] else {}))


def make_inputs(torch, case):
    generator = torch.Generator().manual_seed(case["seed"])

    def draw_below(limit):
        return torch.randint(0, limit, mask.shape, generator=generator)

    mask = torch.tensor(case["rows"])
    bert = case["class"] in BERT
    inputs = {"input_ids": draw_below(case["vocab"])}
    if case["class"] == "GPT2ForSequenceClassification":
        # The last token that is not the pad must be one that is not masked.
        inputs["input_ids"].clamp_(min=1)
        inputs["input_ids"][mask == 0] = 0
    if case["given_mask"] or not bool(mask.all()):
        inputs["attention_mask"] = mask
    if case["given_types"]:
        inputs["token_type_ids"] = draw_below(
            case["types"] if bert else case["vocab"])
    if case["given_positions"]:
        # Generation counts on from them.
        inputs["position_ids"] = draw_below(
            case["positions"] - case["generate"])
    return inputs


def with_rows(case, rows):
    if not rows or not rows[0] or not all(any(row) for row in rows):
        return None
    return dict(case, rows=rows)


def smaller(case):
    """Simpler cases, the boldest first."""
    rows, length = case["rows"], len(case["rows"][0])
    head = case["hidden"] // case["heads"]
    found = [with_rows(case, [row]) for row in rows if len(rows) > 1]
    found += [with_rows(case, [row[:length // 2] for row in rows]),
              with_rows(case, [row[length // 2:] for row in rows]),
              with_rows(case, [row[1:] for row in rows]),
              with_rows(case, [[1] * length for _ in rows])]
    for key, values in (("layers", (0, 1, case["layers"] - 1)),
                        ("generate", (0, case["generate"] // 2)),
                        ("width", (1, 7)), ("vocab", (5,)),
                        ("positions", (48,)), ("labels", (1, 2)),
                        ("types", (1,)), ("act", ("relu",)),
                        ("dtype", ("float32",)), ("tie", (True,)),
                        ("scale", (True,)), ("scale_by_layer", (False,)),
                        ("both_sides", (False,)),
                        ("shards", (False,)), ("given_positions", (False,)),
                        ("given_types", (False,)), ("given_mask", (True,)),
                        ("integers", ("int64",)),
                        ("threads", (1,)), ("eos", (None,)),
                        ("eps", (1e-5,))):
        found += [dict(case, **{key: value}) for value in values]
    found += [dict(case, heads=1, hidden=head),
              dict(case, hidden=case["heads"] * 5)]
    return [one for one in found if one and one["layers"] >= 0 and
            cost(one) < cost(case)]


def cost(case):
    """Cases shrink by this; it is what a reader has to understand."""
    plain = {"act": "relu", "dtype": "float32", "tie": True, "scale": True,
             "scale_by_layer": False, "both_sides": False, "shards": False,
             "eps": 1e-5,
             "given_positions": False, "given_types": False,
             "given_mask": True,
             "integers": "int64", "threads": 1, "eos": None}
    return (case["layers"] * 100 + case["hidden"] + case["width"] +
            case["vocab"] + case["positions"] + case["generate"] * 10 +
            case["labels"] + case["types"] +
            sum(10 * len(row) - sum(row) for row in case["rows"]) +
            sum(20 for key, value in plain.items() if case[key] != value))
