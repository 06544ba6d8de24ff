# What Hugging Face computes: random models of its classes, their outputs as
# tfc must return them, and greedy generation with its margins.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import warnings

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TRANSFORMERS_OFFLINE"] = "1"
warnings.simplefilter("ignore")

import torch
import transformers as hf

OUTPUTS = ("last_hidden_state", "pooler_output", "logits", "start_logits",
           "end_logits")

hf.logging.set_verbosity_error()
hf.utils.logging.disable_progress_bar()
torch.set_num_threads(1)


def randomize(model, generator, token=0.7, position=0.7):
    """Weights large enough that no output is near zero by itself. The last two
    are the deviations of the embedding tables."""
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            norm = any(part in name for part in ("LayerNorm", "ln_"))
            if norm and name.endswith("weight"):
                value.copy_(1 + 0.3 * noise)
            elif value.dim() == 1:
                value.copy_(0.3 * noise)
            elif "wpe" in name or "position_embeddings" in name:
                value.copy_(position * noise)
            elif "wte" in name or "embeddings" in name:
                value.copy_(token * noise)
            else:
                value.copy_(1.3 * noise / min(value.shape) ** 0.5)


def build(cls, config, seed, **scales):
    generator = torch.Generator().manual_seed(seed)
    model = cls(config)
    randomize(model, generator, **scales)
    model.tie_weights()
    model.config._attn_implementation = "eager"
    return model.eval()


def forward(model, inputs):
    """The class's float tensors; zero at masked tokens, as tfc has them."""
    feed = {name: value.long() for name, value in inputs.items()}
    with torch.no_grad():
        result = model(**feed)
    per_token = set(OUTPUTS) - {"pooler_output"}
    if "SequenceClassification" in type(model).__name__:
        per_token.remove("logits")
    out = {}
    for name in OUTPUTS:
        value = result.get(name)
        if value is None:
            continue
        value = value.float().clone()
        if "attention_mask" in feed and name in per_token:
            value[feed["attention_mask"] == 0] = 0
        out[name] = value.contiguous()
    return out


def greedy(model, inputs, new_tokens, eos, pad):
    """generate's sequences, and per row and step the distance of the best
    logit to the second best."""
    model.generation_config = hf.GenerationConfig(
        eos_token_id=eos, pad_token_id=pad, bos_token_id=1)
    return search(model, inputs, new_tokens)


def search(model, inputs, new_tokens):
    """The same under the model's own generation_config."""
    with torch.no_grad():
        result = model.generate(
            **{name: value.long() for name, value in inputs.items()},
            num_beams=1, do_sample=False, max_new_tokens=new_tokens,
            output_scores=True, return_dict_in_generate=True)
    eos = model.generation_config.eos_token_id
    ends = [] if eos is None else [eos] if isinstance(eos, int) else eos
    start = inputs["input_ids"].shape[1]
    margins = []
    for row in result.sequences.tolist():
        margins.append([])
        for step, scores in enumerate(result.scores):
            best = torch.topk(scores[len(margins) - 1], 2).values
            margins[-1].append(float(best[0] - best[1]))
            if row[start + step] in ends:
                break
    return result.sequences, margins
