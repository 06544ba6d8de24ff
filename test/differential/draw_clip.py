# Random cases of encoders of texts that go with pictures: of CLIP's, whose rows
# end in an end token that pads them, too, and of SigLIP's, whose last token is
# taken, so that they are padded on the left.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
CLASSES = {"cliptext": ("CLIPTextModel", "CLIPTextModelWithProjection"),
           "metacliptext": ("MetaClip2TextModel",
                            "MetaClip2TextModelWithProjection"),
           "sigliptext": ("SiglipTextModel",)}
# What files say of the end token by mistake: the greatest id is meant.
MISTAKEN = 2


def draw_case(random, cls):
    heads = random.randint(1, 3)
    longest = random.randint(1, 30)
    return {"class": cls, "heads": heads,
            "hidden": heads * random.choice((5, 13, 16, 26)),
            "layers": random.randint(1, 3), "inner": random.choice((7, 33, 64)),
            "vocab": random.choice((7, 40, 97)),
            "act": random.choice(("quick_gelu", "gelu", "relu")),
            "projection": random.choice((1, 9, 40)),
            "rows": [[1] * count + [0] * (longest - count) for count in (
                random.randint(1, longest)
                for _ in range(random.randint(1, 3)))],
            "positions": longest + random.choice((0, 7)),
            "is_mistaken": ("Meta" not in cls and "Siglip" not in cls and
                            random.random() < 0.5),
            "given_mask": random.random() < 0.7, "generate": 0,
            "dtype": random.choice(("float32", "float32", "float16",
                                    "bfloat16")),
            "integers": random.choice(("int32", "int64")),
            "shards": random.random() < 0.2, "threads": random.randint(1, 2),
            "seed": random.randrange(1 << 30)}


def end_of(case):
    return case["vocab"] - 1 if case["is_mistaken"] else 3


def is_siglip(case):
    return case["class"] in CLASSES["sigliptext"]


def make_config(hf, case):
    if is_siglip(case):
        return hf.SiglipTextConfig(
            vocab_size=case["vocab"], hidden_size=case["hidden"],
            num_hidden_layers=case["layers"],
            num_attention_heads=case["heads"],
            intermediate_size=case["inner"], hidden_act=case["act"],
            max_position_embeddings=case["positions"],
            projection_size=case["projection"], pad_token_id=1,
            bos_token_id=0, eos_token_id=2)
    config = (hf.MetaClip2TextConfig if "Meta" in case["class"]
              else hf.CLIPTextConfig)
    return config(
        vocab_size=case["vocab"], hidden_size=case["hidden"],
        num_hidden_layers=case["layers"], num_attention_heads=case["heads"],
        intermediate_size=case["inner"], hidden_act=case["act"],
        max_position_embeddings=case["positions"],
        projection_dim=case["projection"], pad_token_id=1, bos_token_id=0,
        eos_token_id=MISTAKEN if case["is_mistaken"] else end_of(case))


def make_inputs(torch, case):
    generator = torch.Generator().manual_seed(case["seed"])
    mask, end = torch.tensor(case["rows"]), end_of(case)
    ids = torch.randint(0, case["vocab"] - 1, mask.shape, generator=generator)
    ids[ids == end] = 0
    if is_siglip(case):
        mask = mask.flip(1)
        if not case["given_mask"]:
            return {"input_ids": ids}
        return {"input_ids": ids, "attention_mask": mask.contiguous()}
    for row, count in enumerate(mask.sum(1).tolist()):
        ids[row, count - 1:] = end
    return {"input_ids": ids, **(
        {"attention_mask": mask} if case["given_mask"] else {})}


def smaller(case):
    for key, value in (("layers", 1), ("heads", 1), ("inner", 7),
                       ("dtype", "float32"), ("given_mask", False),
                       ("is_mistaken", False), ("shards", False),
                       ("threads", 1), ("act", "relu")):
        if case[key] != value:
            yield dict(case, **{key: value})
    if len(case["rows"]) > 1:
        yield dict(case, rows=case["rows"][:1])
