# The golden models that kernels of whole tiles do: widths are multiples of 8,
# heads of 16, and rows end on both sides of a tile's border.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import transformers as hf

from inputs import VOCAB
from make_llama import config, left
from reference import build
from writer import find_greedy, set_generation, write_forward

WIDE = dict(hidden_size=64, intermediate_size=72, max_position_embeddings=260)

# name, class, config: heads of 16, 32, 64 and 128 columns, of which 2, 1, 1 and
# 8 share keys; with a window; of an encoder; outputs small where rows are long.
TILES = (
    ("llama-tiles", hf.LlamaForCausalLM, config(
        hf.LlamaConfig, **WIDE, head_dim=16), ("one", "few", "borders")),
    ("mistral-tiles", hf.MistralForQuestionAnswering, config(
        hf.MistralConfig, **{**WIDE, "num_hidden_layers": 1},
        num_attention_heads=2, head_dim=32, sliding_window=70),
     ("middle", "far")),
    ("bert-tiles", hf.BertForQuestionAnswering, hf.BertConfig(
        vocab_size=VOCAB, **WIDE, num_hidden_layers=1, num_attention_heads=1),
     ("borders", "far")),
    ("qwen3-tiles", hf.Qwen3ForCausalLM, config(
        hf.Qwen3Config, **{**WIDE, "hidden_size": 24, "num_hidden_layers": 1},
        num_attention_heads=8, num_key_value_heads=1, head_dim=128),
     ("ragged", "borders")),
    # Experts with more rows than a tile has, and with fewer; with biases.
    ("qwen3moe-tiles", hf.Qwen3MoeForCausalLM, config(
        hf.Qwen3MoeConfig, **{**WIDE, "num_hidden_layers": 1}, head_dim=16,
        num_experts=6, num_experts_per_tok=2, moe_intermediate_size=40,
        norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[]),
     ("one", "few", "borders")),
    ("gptoss-tiles", hf.GptOssForCausalLM, config(
        hf.GptOssConfig, **{**WIDE, "hidden_size": 32, "num_hidden_layers": 2,
                            "intermediate_size": 24},
        head_dim=16, num_local_experts=3, num_experts_per_tok=2,
        sliding_window=50, swiglu_limit=1.5), ("ragged", "borders")),
    # Latents of 64 columns behind 16 that are turned, of heads that share them.
    ("deepseekv2-tiles", hf.DeepseekV2ForCausalLM, config(
        hf.DeepseekV2Config, **WIDE, q_lora_rank=None, kv_lora_rank=64,
        qk_nope_head_dim=16, qk_rope_head_dim=16, v_head_dim=16,
        num_key_value_heads=4,
        first_k_dense_replace=1, n_routed_experts=4, num_experts_per_tok=2,
        moe_intermediate_size=40, n_shared_experts=1, topk_method="greedy",
        n_group=None, topk_group=None),
     ("one", "few")),
)
GENERATING = ("llama-tiles", "qwen3-tiles", "qwen3moe-tiles",
              "deepseekv2-tiles")


def write(out):
    for index, (name, cls, made, cases) in enumerate(TILES):
        if not out.wants(name):
            continue
        seed = 901 + index
        out.save(name, build(cls, made, seed, layer=2.0))
        model = out.load(cls, name)
        write_forward(out.folder(name), model, cases, seed)
        steps = []
        if name in GENERATING:
            set_generation(model, pad_token_id=0)
            inputs, _ = find_greedy(model, left, 100 * seed)
            steps.append(out.write_step(name, model, "generate-left", inputs,
                                        "none", new_tokens=12))
        out.add(name, cases, steps)
