# The golden models of pictures: what transformers computes of pixels, and tfc of
# the patches that they are cut into, [channels, side, side] each; and of the
# texts that go with them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import transformers as hf

from reference import build, forward
from writer import store

# Patches have 3 x 4 x 4 or 1 x 5 x 5 numbers; no tile divides the tokens.
SMALL = dict(hidden_size=52, num_hidden_layers=2, num_attention_heads=2,
             intermediate_size=75, image_size=24, patch_size=4, num_channels=3)
GREY = dict(hidden_size=42, num_hidden_layers=3, num_attention_heads=3,
            intermediate_size=59, image_size=15, patch_size=5, num_channels=1)


def without(sizes):
    """Of families that have a ratio in place of the inner width."""
    return {key: value for key, value in sizes.items()
            if key != "intermediate_size"}


MODELS = (
    ("vit-model", hf.ViTModel, hf.ViTConfig(**SMALL)),
    ("vit-cls", hf.ViTForImageClassification, hf.ViTConfig(
        **GREY, num_labels=5, qkv_bias=False, hidden_act="gelu_new")),
    ("clipvision-model", hf.CLIPVisionModel, hf.CLIPVisionConfig(**GREY)),
    ("clipvision-projection", hf.CLIPVisionModelWithProjection,
     hf.CLIPVisionConfig(**SMALL, projection_dim=37)),
    ("deit-model", hf.DeiTModel, hf.DeiTConfig(
        **SMALL, pooler_output_size=11)),
    ("deit-cls", hf.DeiTForImageClassification, hf.DeiTConfig(
        **GREY, num_labels=5, qkv_bias=False)),
    ("vitmsn-model", hf.ViTMSNModel, hf.ViTMSNConfig(**SMALL)),
    ("vitmsn-cls", hf.ViTMSNForImageClassification, hf.ViTMSNConfig(
        **GREY, num_labels=5)),
    ("ijepa-model", hf.IJepaModel, hf.IJepaConfig(**SMALL)),
    ("ijepa-cls", hf.IJepaForImageClassification, hf.IJepaConfig(
        **GREY, num_labels=5)),
    ("dinov2-model", hf.Dinov2Model, hf.Dinov2Config(
        **without(SMALL), mlp_ratio=2)),
    ("dinov2-gated", hf.Dinov2Model, hf.Dinov2Config(
        **without(GREY), mlp_ratio=2, use_swiglu_ffn=True)),
    ("siglipvision-model", hf.SiglipVisionModel, hf.SiglipVisionConfig(
        **SMALL)),
    ("siglipvision-grey", hf.SiglipVisionModel, hf.SiglipVisionConfig(
        **GREY, hidden_act="gelu")),
    ("siglipvision-headless", hf.SiglipVisionModel, hf.SiglipVisionConfig(
        **GREY, vision_use_head=False)),
    ("dinov3-model", hf.DINOv3ViTModel, hf.DINOv3ViTConfig(
        hidden_size=40, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=75, image_size=24, patch_size=4, num_channels=3,
        num_register_tokens=3)),
    ("dinov3-gated", hf.DINOv3ViTModel, hf.DINOv3ViTConfig(
        hidden_size=36, num_hidden_layers=3, num_attention_heads=3,
        intermediate_size=59, image_size=15, patch_size=5, num_channels=1,
        use_gated_mlp=True, key_bias=True, mlp_bias=False, rope_theta=30.0)),
    ("metaclipvision-projection", hf.MetaClip2VisionModelWithProjection,
     hf.MetaClip2VisionConfig(**SMALL, projection_dim=37)),
    ("dinov2registers-model", hf.Dinov2WithRegistersModel,
     hf.Dinov2WithRegistersConfig(**without(SMALL), mlp_ratio=2,
                                  num_register_tokens=3)),
    ("dinov2-cls", hf.Dinov2ForImageClassification, hf.Dinov2Config(
        **without(GREY), mlp_ratio=2, num_labels=5)),
    ("dinov2registers-cls", hf.Dinov2WithRegistersForImageClassification,
     hf.Dinov2WithRegistersConfig(**without(GREY), mlp_ratio=2, num_labels=5,
                                  num_register_tokens=2)),
)
TEXT = dict(vocab_size=97, hidden_size=52, num_hidden_layers=2,
            num_attention_heads=2, intermediate_size=75,
            max_position_embeddings=20, pad_token_id=1, bos_token_id=0)
# An end token of its own, and one that files call 2 and mean the greatest id.
TEXTS = (
    ("cliptext-model", hf.CLIPTextModel, hf.CLIPTextConfig(
        **TEXT, eos_token_id=11), 11),
    ("cliptext-projection", hf.CLIPTextModelWithProjection, hf.CLIPTextConfig(
        **TEXT, eos_token_id=2, projection_dim=37, hidden_act="gelu"), 96),
    # Here 2 is 2.
    ("metacliptext-projection", hf.MetaClip2TextModelWithProjection,
     hf.MetaClip2TextConfig(**TEXT, eos_token_id=2, projection_dim=37), 2),
)
# Texts whose last token is taken, whichever it is.
LAST = (
    ("sigliptext-model", hf.SiglipTextModel, hf.SiglipTextConfig(**TEXT)),
    ("sigliptext-projection", hf.SiglipTextModel, hf.SiglipTextConfig(
        **TEXT, projection_size=37, hidden_act="relu")),
)
# Classes that take a mask of tokens, and how many are in front of patches.
MASKS = {"vit": 1, "deit": 2, "dinov2": 1, "dinov2registers": 4}
# In whose mean of patches transformers has hidden ones, too.
MEANS = ("dinov2-cls", "dinov2registers-cls")


def masked(rows, count, front, generator):
    """A mask of tokens, of those in front and of fewer patches in each row."""
    kept = [int(torch.randint(1, count + 1, (), generator=generator))
            for _ in range(rows)]
    kept[0] = count
    return torch.tensor([[1] * (n + front) + [0] * (count - n) for n in kept])


def write_last(out):
    """Rows that end in the last column: full ones, or padded on the left."""
    for number, (name, cls, config) in enumerate(LAST):
        if not out.wants(name):
            continue
        seed = 1431 + number
        model = build(cls, config, seed)
        out.save(name, model)
        cases = {"one": (1,), "several": (7, 7, 7), "ragged": (5, 9, 2),
                 "longest": (20,)}
        for index, (case, lengths) in enumerate(cases.items()):
            generator = torch.Generator().manual_seed(seed * 100 + index)
            longest = max(lengths)
            inputs = {"input_ids": torch.randint(
                0, 97, (len(lengths), longest), generator=generator)}
            if case == "ragged":
                inputs["attention_mask"] = torch.tensor(
                    [[0] * (longest - n) + [1] * n for n in lengths])
            store(out.folder(name), "inputs-" + case, inputs)
            store(out.folder(name), "expected-" + case, forward(model, inputs))
        out.add(name, tuple(cases))


def write_texts(out):
    """Rows that end in their end token and are padded with it."""
    for number, (name, cls, config, end) in enumerate(TEXTS):
        if not out.wants(name):
            continue
        seed = 1421 + number
        model = build(cls, config, seed)
        out.save(name, model)
        cases = {"one": (1,), "ragged": (5, 9, 2), "longest": (20,)}
        for index, (case, lengths) in enumerate(cases.items()):
            generator = torch.Generator().manual_seed(seed * 100 + index)
            ids = torch.randint(3, 96, (len(lengths), max(lengths)),
                                generator=generator)
            ids[ids == end] = 5
            for row, length in enumerate(lengths):
                ids[row, length - 1:] = end
            inputs = {"input_ids": ids}
            if case == "ragged":
                inputs["attention_mask"] = torch.tensor(
                    [[1] * n + [0] * (max(lengths) - n) for n in lengths])
            store(out.folder(name), "inputs-" + case, inputs)
            store(out.folder(name), "expected-" + case, forward(model, inputs))
        out.add(name, tuple(cases))


def write(out):
    write_texts(out)
    write_last(out)
    for number, (name, cls, config) in enumerate(MODELS):
        if not out.wants(name):
            continue
        seed = 1401 + number
        model = build(cls, config, seed)
        out.save(name, model)
        cases = ["one", "several"]
        front = MASKS.get(name.split("-")[0])
        if name in MEANS:
            front = None
        if front:
            cases.append("ragged")
        side = config.patch_size
        count = (config.image_size // side) ** 2
        for index, case in enumerate(cases):
            generator = torch.Generator().manual_seed(seed * 100 + index)
            rows = 1 if case == "one" else 3
            inputs = {"patches": torch.randn(
                rows, count, config.num_channels * side * side,
                generator=generator)}
            if case == "ragged":
                inputs["attention_mask"] = masked(rows, count, front,
                                                  generator)
            store(out.folder(name), "inputs-" + case, inputs)
            store(out.folder(name), "expected-" + case, forward(model, inputs))
        out.add(name, tuple(cases))
