# Random cases of the encoder-decoders T5, mT5, LongT5, T5Gemma and BART, and
# their configurations.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import classes
import draw

T5 = classes.of("T5")
MT5 = classes.of("MT5")
UMT5 = classes.of("UMT5")
LONGT5 = classes.of("LongT5")
SWITCH = classes.of("SwitchTransformers")
T5GEMMA = classes.of("T5Gemma")
BART = classes.of("Bart")
# Ids that the models use, whatever the vocabulary.
PAD = {"t5": 0, "bart": 1}
EOS = {"t5": 1, "bart": 2}
START = {"t5": 0, "bart": 2}

PLAIN = {"act": "relu", "gated": False, "dtype": "float32", "tie": True,
         "scaled": True, "scale_embedding": False, "shards": False,
         "eps": 1e-6, "given_mask": True, "integers": "int64", "threads": 1,
         "forced_bos": None, "forced_eos": None, "min_length": 0, "eos": None,
         "labels": 1, "shifted": False}
SIZES = ("layers", "decoder_layers", "heads", "decoder_heads", "head_dim",
         "hidden", "width", "decoder_width", "vocab", "positions", "buckets",
         "max_distance", "generate")


def kind(case):
    return "bart" if case["class"] in BART else "t5"


def draw_case(random, cls):
    bart = cls in BART
    heads = random.choice((1, 2, 3, 4, 7))
    buckets = random.choice((4, 8, 10, 32))
    case = {
        "class": cls,
        "heads": heads,
        # BART's width is a multiple of both.
        "decoder_heads": random.choice((1, heads)),
        "head_dim": random.choice((1, 5, 8, 16, 26)),
        "hidden": heads * random.choice((1, 5, 8, 16, 26)),
        "layers": random.choice((1, 1, 2, 3)),
        "decoder_layers": random.choice((1, 1, 2, 3)),
        "width": random.choice((1, 7, 64, 150)),
        "decoder_width": random.choice((1, 7, 64, 150)),
        "vocab": random.choice((5, 97, 128, 301)),
        "positions": random.choice((48, 64, 77)),
        "buckets": buckets,
        "max_distance": buckets + random.choice((1, 5, 20, 96)),
        # A file of BART's does not say 2, which it then reads as 3.
        "labels": random.choice((1, 3, 4, 7)),
        "act": random.choice(("relu", "gelu", "silu", "gelu_new")),
        "gated": random.random() < 0.5,
        "eps": random.choice((1e-6, 1e-5, 1e-3)),
        "dtype": random.choice(("float32", "float32", "float16", "bfloat16")),
        # T5's head; whether it divides before it is another question.
        "tie": random.random() < 0.5,
        "scaled": random.random() < 0.5,
        "scale_embedding": random.random() < 0.5,
        "shards": random.random() < 0.2,
        "given_mask": random.random() < 0.8,
        "shifted": False,
        "integers": random.choice(("int32", "int64")),
        "threads": random.choice((1, 2, 3)),
        "generate": 0, "eos": None, "forced_bos": None, "forced_eos": None,
        "min_length": 0,
        "seed": random.randrange(1 << 30),
    }
    if cls.endswith("ForConditionalGeneration"):
        case["generate"] = random.choice((0, 7, 40))
        case["eos"] = random.choice((None, random.randrange(case["vocab"])))
        case["min_length"] = random.choice((0, 0, 5))
        if bart:
            case["forced_bos"] = random.choice((None, 0, 3))
            case["forced_eos"] = random.choice((None, case["eos"], 4))
    case["shifted"] = cls == "BartForSequenceClassification"
    # Distances count columns in T5: no holes.
    side = random.choice(("none", "left", "right", "right") +
                         (("holes",) if bart else ()))
    count = random.choice((1, 2, 3, 5))
    length = random.choice((1, 2, 5, 17, 48))
    case["rows"] = [draw.draw_mask(random, side, length)
                    for _ in range(count)]
    length = random.choice((1, 2, 5, 17, 47))
    side = random.choice(("none", "left", "right"))
    case["decoder_rows"] = [draw.draw_mask(random, side, length)
                            for _ in range(count)]
    return case


def make_config(hf, case):
    if kind(case) == "bart":
        return hf.BartConfig(
            vocab_size=case["vocab"], d_model=case["hidden"],
            encoder_layers=case["layers"],
            decoder_layers=case["decoder_layers"],
            encoder_attention_heads=case["heads"],
            decoder_attention_heads=case["decoder_heads"],
            encoder_ffn_dim=case["width"],
            decoder_ffn_dim=case["decoder_width"],
            max_position_embeddings=case["positions"],
            activation_function=case["act"],
            scale_embedding=case["scale_embedding"],
            num_labels=case["labels"], forced_eos_token_id=case["forced_eos"])
    if case["class"] in SWITCH:
        return switch(hf, case)
    if case["class"] in T5GEMMA:
        return t5gemma(hf, case)
    cls = (hf.MT5Config if case["class"] in MT5 else
           hf.LongT5Config if case["class"] in LONGT5 else
           hf.UMT5Config if case["class"] in UMT5 else hf.T5Config)
    config = cls(
        vocab_size=case["vocab"], d_model=case["hidden"],
        d_kv=case["head_dim"], num_heads=case["heads"], d_ff=case["width"],
        num_layers=case["layers"], num_decoder_layers=case["decoder_layers"],
        relative_attention_num_buckets=case["buckets"],
        relative_attention_max_distance=case["max_distance"],
        layer_norm_epsilon=case["eps"], decoder_start_token_id=0,
        feed_forward_proj=("gated-" if case["gated"] else "") + case["act"])
    if cls is hf.LongT5Config:
        config.local_radius = 1 + case["seed"] % 20
    if cls in (hf.T5Config, hf.LongT5Config):
        config.scale_decoder_outputs = case["scaled"]
    return config


def switch(hf, case):
    """Experts in some layers, of as many tokens as there are."""
    seed = case["seed"]
    return hf.SwitchTransformersConfig(
        vocab_size=case["vocab"], d_model=case["hidden"],
        d_kv=case["head_dim"], num_heads=case["heads"], d_ff=case["width"],
        num_layers=case["layers"], num_decoder_layers=case["decoder_layers"],
        num_sparse_encoder_layers=seed % (case["layers"] + 1),
        num_sparse_decoder_layers=seed // 5 % (case["decoder_layers"] + 1),
        num_experts=1 + seed // 3 % 6, expert_capacity=200,
        router_bias=bool(seed // 2 % 2), dense_act_fn=case["act"],
        relative_attention_num_buckets=case["buckets"],
        relative_attention_max_distance=case["max_distance"],
        layer_norm_epsilon=case["eps"], decoder_start_token_id=0)


def t5gemma(hf, case):
    """Either stack has heads, windows, caps and rotations of its own."""
    def stack(seed, layers, width, vocab):
        heads = case["heads"]
        return hf.T5GemmaModuleConfig(
            vocab_size=vocab, hidden_size=case["hidden"],
            # A norm of one column's multiples may divide by next to nothing.
            intermediate_size=6 + width, num_hidden_layers=layers,
            num_attention_heads=heads,
            num_key_value_heads=heads if seed % 2 else 1,
            head_dim=2 * case["head_dim"], hidden_activation=case["act"],
            rms_norm_eps=case["eps"], attention_bias=bool(seed // 2 % 2),
            max_position_embeddings=case["positions"],
            query_pre_attn_scalar=1 + seed // 3 % 30,
            sliding_window=2 + seed // 5 % 9,
            layer_types=[("full_attention", "sliding_attention")
                         [seed >> bit & 1] for bit in range(layers)],
            attn_logit_softcapping=(None, 1.5, 30.0)[seed // 7 % 3],
            final_logit_softcapping=(None, 20.0)[seed // 11 % 2],
            rope_parameters={"rope_type": "default",
                             "rope_theta": (10000.0, 90.0)[seed // 13 % 2]})

    seed, vocab = case["seed"], case["vocab"]
    return hf.T5GemmaConfig(
        encoder=stack(seed, case["layers"], case["width"],
                      vocab + seed // 17 % 3),
        decoder=stack(seed // 1009, case["decoder_layers"],
                      case["decoder_width"], vocab),
        is_encoder_decoder="Encoder" not in case["class"],
        tie_word_embeddings=case["tie"], vocab_size=vocab, pad_token_id=0,
        bos_token_id=0)


def untie(torch, case, model):
    """Gives T5 a head of its own; one of Switch would take the stacks' tables
    apart, too, and one of T5Gemma has it by its configuration."""
    if (kind(case) == "t5" and case["class"] not in SWITCH + T5GEMMA and
            not case["tie"] and hasattr(model, "lm_head")):
        generator = torch.Generator().manual_seed(case["seed"] + 1)
        shape = model.lm_head.weight.shape
        model.lm_head.weight = torch.nn.Parameter(
            torch.randn(shape, generator=generator) / shape[1] ** 0.5)


def generation(case):
    """The keys of generation_config.json."""
    family = kind(case)
    keys = {"pad_token_id": PAD[family], "eos_token_id": case["eos"],
            "decoder_start_token_id": START[family],
            "forced_bos_token_id": case["forced_bos"],
            "forced_eos_token_id": case["forced_eos"],
            "min_length": case["min_length"]}
    return {key: value for key, value in keys.items() if value is not None}


def make_inputs(torch, case):
    generator = torch.Generator().manual_seed(case["seed"])
    family, inputs = kind(case), {}
    for prefix in ("", "decoder_"):
        if prefix and (case["shifted"] or "Encoder" in case["class"]):
            break
        mask = torch.tensor(case[prefix + "rows"])
        ids = torch.randint(0, case["vocab"], mask.shape, generator=generator)
        ids[mask == 0] = PAD[family]
        inputs[prefix + "input_ids"] = ids
        # transformers' T5Gemma hides pad tokens where nobody gives a mask.
        if (case["given_mask"] or not bool(mask.all()) or
                case["class"] in T5GEMMA):
            inputs[prefix + "attention_mask"] = mask
    if case["class"] == "BartForSequenceClassification":
        ids, mask = inputs["input_ids"], torch.tensor(case["rows"])
        # Each row has one end, the last of its tokens.
        ids[ids == EOS[family]] = 3
        for row in range(len(ids)):
            ids[row, mask[row].nonzero()[-1]] = EOS[family]
    return inputs


def smaller(case):
    count = len(case["rows"])
    found = []
    if count > 1:
        found += [dict(case, rows=[case["rows"][i]],
                       decoder_rows=[case["decoder_rows"][i]])
                  for i in range(count)]
    for key in ("rows", "decoder_rows"):
        rows, length = case[key], len(case[key][0])
        for cut in ([row[:length // 2] for row in rows],
                    [row[length // 2:] for row in rows],
                    [row[1:] for row in rows], [[1] * length for _ in rows]):
            if cut[0] and all(map(any, cut)):
                found.append(dict(case, **{key: cut}))
    head = case["hidden"] // case["heads"]
    for changes in ({"layers": 1}, {"decoder_layers": 1},
                    {"layers": case["layers"] - 1},
                    {"decoder_layers": case["decoder_layers"] - 1},
                    {"heads": 1, "decoder_heads": 1, "hidden": head},
                    {"decoder_heads": 1}, {"hidden": case["heads"]},
                    {"head_dim": 1}, {"head_dim": 8}, {"width": 1},
                    {"decoder_width": 1}, {"vocab": 5}, {"positions": 48},
                    {"buckets": 4, "max_distance": 5},
                    {"generate": case["generate"] // 2}, {"generate": 0}):
        found.append(dict(case, **changes))
    found += [dict(case, **{key: value}) for key, value in PLAIN.items()
              if key != "shifted"]
    return [one for one in found if min(one["layers"],
                                        one["decoder_layers"]) > 0 and
            cost(one) < cost(case)]


def cost(case):
    return (sum(case[key] for key in SIZES) +
            100 * (case["layers"] + case["decoder_layers"]) +
            sum(10 * len(row) - sum(row)
                for row in case["rows"] + case["decoder_rows"]) +
            sum(20 for key, value in PLAIN.items() if case[key] != value))
