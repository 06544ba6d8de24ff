# The golden models of Kimi K2, which is DeepSeek V3 under another name, and of
# Kimi Linear, with the keys of the code that came with them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import transformers as hf

from writer import write_forward

MODELS = (
    ("kimi-lm", "deepseekv3-lm", hf.DeepseekV3ForCausalLM, dict(
        model_type="kimi_k2", scoring_func="sigmoid", topk_method="noaux_tc",
        seq_aux=True, aux_loss_alpha=0.001, ep_size=1, moe_layer_freq=1,
        num_nextn_predict_layers=0, transformers_version="4.48.3")),
    # Two lists say of what kind its layers are, and count from 1.
    ("kimilinear-published", "kimilinear-lm", hf.KimiLinearForCausalLM, dict(
        layer_types=None, mlp_layer_types=None, first_k_dense_replace=1,
        mla_use_nope=True, rope_theta=10000.0, rope_scaling=None,
        moe_router_activation_func="sigmoid", use_grouped_topk=True,
        topk_method="noaux_tc", moe_layer_freq=1, num_nextn_predict_layers=0,
        transformers_version="4.57.1")),
)


def write(out):
    for index, (name, base, cls, keys) in enumerate(MODELS):
        if not out.wants(name):
            continue
        out.patch(name, "config.json", base, **keys)
        model = (out.load(cls, base) if name == "kimi-lm" else
                 out.load(cls, name, base))
        write_forward(out.folder(name), model, ("ragged", "left"),
                      1201 + index)
        out.add(name, ("ragged", "left"), base=base)
