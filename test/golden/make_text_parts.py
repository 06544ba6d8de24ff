# The golden models that read images, too, and whose text model is run: their
# folders have the other parts, which nothing reads.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import re

import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from inputs import VOCAB
from make_families import decoder, write_decoders

VISION = dict(hidden_size=6, intermediate_size=4, num_hidden_layers=1,
              num_attention_heads=1, image_size=2, patch_size=1)
TOWER = dict(hidden_size=4, intermediate_size=4, depth=1, num_heads=1,
             out_hidden_size=30, num_position_embeddings=4, patch_size=2)


def text(kind=None, **changes):
    return {**decoder(**changes), **({"model_type": kind} if kind else {})}


def on_grids(sections):
    return {"rope_type": "default", "rope_theta": 10000.0,
            "mrope_section": sections}


ROUTED = dict(num_experts=7, num_experts_per_tok=3, moe_intermediate_size=14)


def routed(**changes):
    keys = text(**ROUTED, **changes)
    del keys["intermediate_size"]
    return keys


DECODERS = (
    ("gemma3-inside", hf.Gemma3ForConditionalGeneration, hf.Gemma3Config(
        text_config=text(head_dim=14, query_pre_attn_scalar=11,
                         num_hidden_layers=3, sliding_window=4, layer_types=[
                             "sliding_attention", "full_attention",
                             "sliding_attention"]),
        vision_config=VISION, mm_tokens_per_image=4,
        tie_word_embeddings=True)),
    ("mistral3-inside", hf.Mistral3ForConditionalGeneration, hf.Mistral3Config(
        text_config=text("mistral", head_dim=14, sliding_window=None),
        vision_config={**VISION, "model_type": "pixtral",
                       "num_attention_heads": 1, "head_dim": 8},
        tie_word_embeddings=False)),
    ("qwen3vl-inside", hf.Qwen3VLForConditionalGeneration, hf.Qwen3VLConfig(
        text_config=text(head_dim=14, rope_parameters=on_grids([3, 2, 2])),
        vision_config={**TOWER, "deepstack_visual_indexes": [0]},
        tie_word_embeddings=False)),
    ("qwen25vl-inside", hf.Qwen2_5_VLForConditionalGeneration,
     hf.Qwen2_5_VLConfig(
         text_config=text(rope_parameters=on_grids([1, 2, 2])),
         vision_config={**TOWER, "fullatt_block_indexes": [0]},
         tie_word_embeddings=True)),
    ("qwen35-inside", hf.Qwen3_5ForConditionalGeneration, hf.Qwen3_5Config(
        text_config=text(head_dim=16, linear_num_key_heads=2,
                         linear_num_value_heads=4, linear_key_head_dim=7,
                         linear_value_head_dim=9, layer_types=[
                             "linear_attention", "full_attention"]),
        vision_config=TOWER, tie_word_embeddings=False)),
    ("smolvlm-inside", hf.SmolVLMForConditionalGeneration, hf.SmolVLMConfig(
        text_config=text("llama"), vision_config=VISION,
        tie_word_embeddings=False)),
    ("qwen35moe-inside", hf.Qwen3_5MoeForConditionalGeneration,
     hf.Qwen3_5MoeConfig(
         text_config=routed(linear_num_key_heads=2, linear_num_value_heads=4,
                            linear_key_head_dim=7, linear_value_head_dim=9,
                            head_dim=16, shared_expert_intermediate_size=22,
                            # What a head gives is divided by how large it is.
                            rms_norm_eps=1e-3,
                            layer_types=["linear_attention",
                                         "full_attention"]),
         vision_config=TOWER, tie_word_embeddings=False)),
    ("qwen3vlmoe-inside", hf.Qwen3VLMoeForConditionalGeneration,
     hf.Qwen3VLMoeConfig(
         text_config=text(**ROUTED, head_dim=14,
                          rope_parameters=on_grids([3, 2, 2])),
         vision_config={**TOWER, "deepstack_visual_indexes": [0]},
         tie_word_embeddings=False)),
    ("gemma4-inside", hf.Gemma4ForConditionalGeneration, hf.Gemma4Config(
        text_config=text(
            head_dim=10, global_head_dim=10, sliding_window=4,
            num_hidden_layers=4, hidden_size_per_layer_input=5,
            num_kv_shared_layers=1,
            vocab_size_per_layer_input=VOCAB, layer_types=[
                "sliding_attention", "full_attention"] * 2),
        vision_config=dict(
            hidden_size=8, intermediate_size=4, num_hidden_layers=1,
            num_attention_heads=1, num_key_value_heads=1, head_dim=8,
            patch_size=2, position_embedding_size=16),
        audio_config=None, tie_word_embeddings=False)),
    ("llama4-inside", hf.Llama4ForConditionalGeneration, hf.Llama4Config(
        text_config=text(
            head_dim=10, num_local_experts=5, intermediate_size=14,
            intermediate_size_mlp=22, interleave_moe_layer_step=2,
            rope_parameters={"rope_type": "default", "rope_theta": 500000.0}),
        vision_config=dict(
            hidden_size=8, intermediate_size=32, num_hidden_layers=1,
            num_attention_heads=1, vision_output_dim=4, image_size=4,
            patch_size=2, projector_input_dim=4, projector_output_dim=4),
        tie_word_embeddings=False)),
    # Its other parts are of a package of their own: the text model is put into
    # such a folder.
    ("gemma3n-inside", hf.Gemma3nForCausalLM, hf.Gemma3nTextConfig(**text(
        head_dim=10, sliding_window=4, num_hidden_layers=4,
        hidden_size_per_layer_input=5, altup_num_inputs=2, laurel_rank=4,
        num_kv_shared_layers=1, vocab_size_per_layer_input=VOCAB,
        activation_sparsity_pattern=[0.7, 0.7, 0.0, 0.0], rms_norm_eps=1e-3,
        layer_types=["sliding_attention", "full_attention"] * 2))),
)
NAMES = tuple(name for name, _, _ in DECODERS)


def write(out):
    # Images have positions of their own, which nobody gives with a text.
    write_decoders(out, DECODERS, 1201, NAMES, {}, relative=NAMES)
    # As they are published: all experts of a layer in a tensor, of Qwen3-VL
    # with rows of inputs.
    for name, is_turned in (("qwen35moe-inside", False),
                           ("qwen3vlmoe-inside", True)):
        if out.wants(name):
            stack(os.path.join(out.folder(name), "model.safetensors"),
                  is_turned)
    if out.wants("gemma3n-inside"):
        put_inside(out.folder("gemma3n-inside"))


def rewrite(folder, change_config, change_names, more):
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as file:
        config = change_config(json.load(file))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file, indent=2, sort_keys=True)
        file.write("\n")
    path = os.path.join(folder, "model.safetensors")
    tensors = {change_names(name): tensor
               for name, tensor in load_file(path).items()
               if "model.embed_" not in name or "tokens" in name}
    save_file({**tensors, **more}, path, metadata={"format": "pt"})


def put_inside(folder):
    """As it is published: beside what reads images and sound, of which there
    is a tensor each."""
    def wrap(own):
        del own["architectures"]
        return {"architectures": ["Gemma3nForConditionalGeneration"],
                "model_type": "gemma3n", "text_config": own,
                "vision_config": {"model_type": "gemma3n_vision"},
                "audio_config": {"model_type": "gemma3n_audio"},
                "audio_soft_tokens_per_image": 188, "boi_token_id": 255999,
                "vision_soft_tokens_per_image": 256}

    rewrite(folder, wrap, lambda name: name.replace(
        "model.", "model.language_model.", 1),
        {f"model.{part}.embedding.weight": torch.zeros(4, 8)
         for part in ("embed_vision", "embed_audio")})


def take_out(folder):
    """The text model by itself again."""
    rewrite(folder, lambda config: {
        **config.get("text_config", config),
        "architectures": ["Gemma3nForCausalLM"]},
        lambda name: name.replace("language_model.", "", 1), {})


def stack(path, turned):
    tensors = load_file(path)
    part = re.compile(r"(.*\.mlp\.experts)\.(\d+)\.(\w+)\.weight")
    experts = {}
    for name in list(tensors):
        if match := part.fullmatch(name):
            experts.setdefault((match[1], match[3]), []).append(
                (int(match[2]), tensors.pop(name)))
    merged = {key: torch.stack([each for _, each in sorted(
        found, key=lambda item: item[0])]) for key, found in experts.items()}
    for stem, kind in merged:
        if kind == "down_proj":
            tensors[stem + ".down_proj"] = merged[stem, kind]
            tensors[stem + ".gate_up_proj"] = torch.cat(
                [merged[stem, "gate_proj"], merged[stem, "up_proj"]], 1)
    for name in tensors:
        if turned and re.search(r"experts\.\w+_proj$", name):
            tensors[name] = tensors[name].transpose(1, 2).contiguous()
    save_file(tensors, path, metadata={"format": "pt"})
