# The golden model of Kimi K2: DeepSeek V3 under another name, with the keys of
# the code that came with it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import transformers as hf

from writer import write_forward


def write(out):
    name, base = "kimi-lm", "deepseekv3-lm"
    if not out.wants(name):
        return
    out.patch(name, "config.json", base, model_type="kimi_k2",
              scoring_func="sigmoid", topk_method="noaux_tc", seq_aux=True,
              aux_loss_alpha=0.001, ep_size=1, moe_layer_freq=1,
              num_nextn_predict_layers=0, transformers_version="4.48.3")
    model = out.load(hf.DeepseekV3ForCausalLM, base)
    write_forward(out.folder(name), model, ("ragged", "left"), 1201)
    out.add(name, ("ragged", "left"), base=base)
