# The golden models that read images, too, and whose text model is run: their
# folders have the other parts, which nothing reads.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import transformers as hf

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
)
NAMES = tuple(name for name, _, _ in DECODERS)


def write(out):
    # Images have positions of their own, which nobody gives with a text.
    write_decoders(out, DECODERS, 1201, NAMES, {}, relative=NAMES)
