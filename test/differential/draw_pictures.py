# Random cases of encoders of pictures: no ids, but rows of patches.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# By family: the classes, and what their configuration is called.
CLASSES = {
    "vit": ("ViTModel", "ViTForImageClassification"),
    "deit": ("DeiTModel", "DeiTForImageClassification"),
    "vitmsn": ("ViTMSNModel", "ViTMSNForImageClassification"),
    "ijepa": ("IJepaModel", "IJepaForImageClassification"),
    "dinov2": ("Dinov2Model", "Dinov2ForImageClassification"),
    "dinov2registers": ("Dinov2WithRegistersModel",
                        "Dinov2WithRegistersForImageClassification"),
    "siglipvision": ("SiglipVisionModel",),
    "dinov3": ("DINOv3ViTModel",),
    "metaclipvision": ("MetaClip2VisionModel",
                       "MetaClip2VisionModelWithProjection"),
    "clipvision": ("CLIPVisionModel", "CLIPVisionModelWithProjection")}
CONFIGS = {"vit": "ViTConfig", "deit": "DeiTConfig", "vitmsn": "ViTMSNConfig",
           "ijepa": "IJepaConfig", "dinov2": "Dinov2Config",
           "dinov2registers": "Dinov2WithRegistersConfig",
           "siglipvision": "SiglipVisionConfig",
           "dinov3": "DINOv3ViTConfig",
           "metaclipvision": "MetaClip2VisionConfig",
           "clipvision": "CLIPVisionConfig"}
# Those that take a mask, and how many tokens they have in front of patches
# (with registers these, too).
MASKED = {"vit": 1, "deit": 2, "vitmsn": 1, "dinov2": 1, "dinov2registers": 1}
ACTS = ("gelu", "gelu_new", "relu", "silu", "quick_gelu")


def family_of(cls):
    return next(family for family, names in CLASSES.items() if cls in names)


def front_of(family, registers):
    """How many tokens are in front of patches."""
    return MASKED.get(family, 1) + registers * (family == "dinov2registers")


def make_rows(kept, grid, front):
    """Masks of tokens: of those in front, and of so many patches."""
    return [[1] * (count + front) + [0] * (grid * grid - count)
            for count in kept]


def draw_case(random, cls):
    heads = random.randint(1, 3)
    grid = random.randint(1, 6)
    registers = random.randint(1, 5)
    case = {"class": cls, "heads": heads,
            "hidden": heads * random.choice((5, 13, 16, 26)),
            "layers": random.randint(1, 3), "inner": random.choice((7, 33, 64)),
            "grid": grid, "side": random.randint(1, 5),
            "channels": random.choice((1, 3)), "act": random.choice(ACTS),
            "bias": random.random() < 0.7, "labels": random.choice((1, 2, 5)),
            "projection": random.choice((1, 9, 40)),
            "rows": make_rows([random.randint(1, grid * grid)
                               for _ in range(random.randint(1, 3))], grid,
                              front_of(family_of(cls), registers)),
            "registers": registers,
            "gated": random.random() < 0.5,
            "given_mask": random.random() < 0.5, "generate": 0,
            "dtype": random.choice(("float32", "float32", "float16",
                                    "bfloat16")),
            "integers": random.choice(("int32", "int64")),
            "shards": random.random() < 0.2, "threads": random.randint(1, 2),
            "seed": random.randrange(1 << 30)}
    # transformers has hidden patches in a mean of them.
    if (family_of(cls) not in MASKED or
            family_of(cls).startswith("dinov2") and "Classification" in cls):
        case["given_mask"] = False
    if family_of(cls) == "dinov3":
        # Pairs of columns for either side of a picture.
        case["hidden"] = heads * random.choice((4, 8, 20, 64))
    return case


def make_config(hf, case):
    family = family_of(case["class"])
    keys = dict(hidden_size=case["hidden"],
                num_hidden_layers=case["layers"],
                num_attention_heads=case["heads"],
                intermediate_size=case["inner"], hidden_act=case["act"],
                image_size=case["grid"] * case["side"],
                patch_size=case["side"], num_channels=case["channels"])
    if family == "dinov3":
        keys.update(key_bias=case["bias"], mlp_bias=not case["bias"],
                    use_gated_mlp=case["gated"],
                    rope_theta=30.0 if case["gated"] else 100.0,
                    num_register_tokens=case["registers"] - 1)
    elif family in ("clipvision", "metaclipvision"):
        keys["projection_dim"] = case["projection"]
    elif family == "siglipvision":
        keys["vision_use_head"] = case["gated"]
    elif family.startswith("dinov2"):
        del keys["intermediate_size"]
        keys.update(qkv_bias=case["bias"], mlp_ratio=1 + case["registers"] % 3,
                    use_swiglu_ffn=case["gated"], num_labels=case["labels"])
        if family == "dinov2registers":
            keys["num_register_tokens"] = case["registers"]
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
                       ("gated", False),
                       ("threads", 1), ("act", "relu")):
        if case[key] != value:
            yield dict(case, **{key: value})
    family = family_of(case["class"])
    if case["registers"] > 1:
        fewer = front_of(family, case["registers"]) - front_of(family, 1)
        yield dict(case, registers=1, rows=[row[fewer:]
                                            for row in case["rows"]])
    if case["grid"] > 1:
        front = front_of(family, case["registers"])
        yield dict(case, grid=1,
                   rows=make_rows([1] * len(case["rows"]), 1, front))
    if len(case["rows"]) > 1:
        yield dict(case, rows=case["rows"][:1])
