# Random cases of encoders of pictures: no ids, but rows of patches.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# By family: the classes, and what their configuration is called.
CLASSES = {
    "vit": ("ViTModel", "ViTForImageClassification"),
    "deit": ("DeiTModel", "DeiTForImageClassification"),
    "vitmsn": ("ViTMSNModel", "ViTMSNForImageClassification"),
    "ijepa": ("IJepaModel", "IJepaForImageClassification"),
    "dinov2": ("Dinov2Model",),
    "siglipvision": ("SiglipVisionModel",),
    "clipvision": ("CLIPVisionModel", "CLIPVisionModelWithProjection")}
CONFIGS = {"vit": "ViTConfig", "deit": "DeiTConfig", "vitmsn": "ViTMSNConfig",
           "ijepa": "IJepaConfig", "dinov2": "Dinov2Config",
           "siglipvision": "SiglipVisionConfig",
           "clipvision": "CLIPVisionConfig"}
# Those that take a mask, and how many tokens they have in front of patches.
MASKED = {"vit": 1, "deit": 2, "vitmsn": 1, "dinov2": 1}
ACTS = ("gelu", "gelu_new", "relu", "silu", "quick_gelu")


def family_of(cls):
    return next(family for family, names in CLASSES.items() if cls in names)


def make_rows(kept, grid, front):
    """Masks of tokens: of those in front, and of so many patches."""
    return [[1] * (count + front) + [0] * (grid * grid - count)
            for count in kept]


def draw_case(random, cls):
    heads = random.randint(1, 3)
    grid = random.randint(1, 6)
    case = {"class": cls, "heads": heads,
            "hidden": heads * random.choice((5, 13, 16, 26)),
            "layers": random.randint(1, 3), "inner": random.choice((7, 33, 64)),
            "grid": grid, "side": random.randint(1, 5),
            "channels": random.choice((1, 3)), "act": random.choice(ACTS),
            "bias": random.random() < 0.7, "labels": random.choice((1, 2, 5)),
            "projection": random.choice((1, 9, 40)),
            "rows": make_rows([random.randint(1, grid * grid)
                               for _ in range(random.randint(1, 3))], grid,
                              MASKED.get(family_of(cls), 1)),
            "ratio": random.randint(1, 3),
            "gated": random.random() < 0.5,
            "given_mask": random.random() < 0.5, "generate": 0,
            "dtype": random.choice(("float32", "float32", "float16",
                                    "bfloat16")),
            "integers": random.choice(("int32", "int64")),
            "shards": random.random() < 0.2, "threads": random.randint(1, 2),
            "seed": random.randrange(1 << 30)}
    if family_of(cls) not in MASKED:
        case["given_mask"] = False
    return case


def make_config(hf, case):
    family = family_of(case["class"])
    keys = dict(hidden_size=case["hidden"],
                num_hidden_layers=case["layers"],
                num_attention_heads=case["heads"],
                intermediate_size=case["inner"], hidden_act=case["act"],
                image_size=case["grid"] * case["side"],
                patch_size=case["side"], num_channels=case["channels"])
    if family == "clipvision":
        keys["projection_dim"] = case["projection"]
    elif family == "siglipvision":
        keys["vision_use_head"] = case["gated"]
    elif family == "dinov2":
        del keys["intermediate_size"]
        keys.update(qkv_bias=case["bias"], mlp_ratio=case["ratio"],
                    use_swiglu_ffn=case["gated"])
    else:
        keys.update(qkv_bias=case["bias"], num_labels=case["labels"])
    return getattr(hf, CONFIGS[family])(**keys)


def make_inputs(torch, case):
    generator = torch.Generator().manual_seed(case["seed"])
    count = case["grid"] ** 2
    width = case["channels"] * case["side"] ** 2
    inputs = {"patches": torch.randn(len(case["rows"]), count, width,
                                     generator=generator)}
    if case["given_mask"]:
        inputs["attention_mask"] = torch.tensor(case["rows"])
    return inputs


def smaller(case):
    for key, value in (("layers", 1), ("heads", 1), ("side", 1),
                       ("channels", 1), ("inner", 7), ("dtype", "float32"),
                       ("given_mask", False), ("shards", False),
                       ("gated", False), ("ratio", 1),
                       ("threads", 1), ("act", "relu")):
        if case[key] != value:
            yield dict(case, **{key: value})
    if case["grid"] > 1:
        front = MASKED.get(family_of(case["class"]), 1)
        yield dict(case, grid=1,
                   rows=make_rows([1] * len(case["rows"]), 1, front))
    if len(case["rows"]) > 1:
        yield dict(case, rows=case["rows"][:1])
