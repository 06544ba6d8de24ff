# What Hugging Face computes: random models of its classes, their outputs as
# tfc must return them, and generation with its margins.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import unittest.mock
import warnings

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TRANSFORMERS_OFFLINE"] = "1"
warnings.simplefilter("ignore")

import torch
import transformers as hf

OUTPUTS = ("last_hidden_state", "pooler_output", "logits", "start_logits",
           "end_logits", "encoder_last_hidden_state", "prediction_logits",
           "seq_relationship_logits", "sop_logits", "relevance_logits",
           "image_embeds", "text_embeds")

hf.logging.set_verbosity_error()
hf.utils.logging.disable_progress_bar()
torch.set_num_threads(1)


def randomize(model, generator, token=0.7, position=0.7, layer=1.3, bias=0.3,
              cross=1, final=1):
    """Weights large enough that no output is near zero by itself. `token` and
    `position` are the deviations of the embedding tables, `bias` that of
    biases, `layer` that of a projection's result for inputs of deviation 1;
    `cross` is a factor of the projections out of cross-attention, `final` of
    T5's last norm."""
    def has(name, *parts):
        return any(part in name for part in parts)

    # T5 does not divide scores by the square root of a head's width: its
    # weights do.
    unscaled = getattr(model.config, "d_kv", None)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            name = name.replace("norm_attn_norm", "both")  # DBRX's
            if not value.requires_grad and model.config.model_type in (
                    "marian", "roformer"):
                continue  # their positions are what they are
            if (model.config.model_type == "fsmt" and
                    "embed_positions" in name):
                continue  # likewise
            if (has(name, "LayerNorm", "ln_", "norm") and
                    name.endswith("weight")):
                value.copy_(1 + 0.3 * noise)
                if "decoder.final_layer_norm" in name:
                    value.mul_(final)
            elif value.dim() == 1:
                value.copy_(bias * noise)
            elif has(name, "wpe", "position_embeddings", "embed_positions",
                     "positions_embed"):
                value.copy_(position * noise)
            elif has(name, "wte", "embeddings", "embed_tokens", "shared",
                     "tokens_embed"):
                value.copy_(token * noise)
            elif "relative_attention_bias" in name:
                value.copy_(4 * noise)
            elif "conv" in name and value.dim() == 3:
                # A column's own tokens, or those of all columns.
                value.copy_(layer * noise / value[0].numel() ** 0.5)
            else:
                value.copy_(layer * noise / min(value.shape) ** 0.5)
                if unscaled and "Attention.q." in name:
                    value.mul_(unscaled ** -0.5)
                if has(name, "EncDecAttention.o", "encoder_attn.out"):
                    value.mul_(cross)
        for name, value in model.named_buffers():
            if name.endswith("layer_scalar"):
                value.copy_(1 + 0.3 * torch.randn(value.shape,
                                                  generator=generator))
        if hasattr(model, "final_logits_bias"):
            logits = model.final_logits_bias
            logits.copy_(0.5 * torch.randn(logits.shape, generator=generator))


def build(cls, config, seed, **scales):
    generator = torch.Generator().manual_seed(seed)
    # Before the model copies it into its stacks.
    config._attn_implementation = "eager"
    model = cls(config)
    randomize(model, generator, **scales)
    model.tie_weights()
    model.config._attn_implementation = "eager"
    in_order(model)
    return model.eval()


def in_order(model):
    """Adds what a row's experts make in the order of their numbers."""
    model.config._experts_implementation = "eager"
    return model


def load(cls, folder, attn_implementation="eager", **options):
    """What transformers makes of a folder."""
    return in_order(cls.from_pretrained(
        folder, attn_implementation=attn_implementation, **options)).eval()


def chooses(model):
    """Whether it scores choices: rows to tfc, and to transformers an axis."""
    return "MultipleChoice" in type(model).__name__


def to_pixels(config, patches):
    """[batch, patches, channels x side x side] as the pictures that they are
    cut from."""
    return torch.nn.functional.fold(
        patches.float().transpose(1, 2), config.image_size, config.patch_size,
        stride=config.patch_size)


def to_features(patches):
    """[batch, rows, frames x mels] of two frames each as the log-mel
    spectrogram [batch, mels, frames] that they are of."""
    rows, count, width = patches.shape
    return patches.reshape(rows, 2 * count, width // 2).transpose(
        1, 2).contiguous()


def ask(model, targets, **feed):
    """XLNet's rows: of its query stream where a token is a target, which none
    sees, and of its content stream elsewhere."""
    rows, length = targets.shape
    hidden = targets[:, None].expand(-1, length, -1).to(model.dtype)
    every = torch.eye(length, dtype=model.dtype).expand(rows, -1, -1)
    told = model(**feed, perm_mask=hidden)
    body = getattr(model, "transformer", model)
    distances = body.relative_positional_encoding
    # Beside a query stream transformers takes them for the model's type.
    with unittest.mock.patch.object(
            body, "relative_positional_encoding",
            lambda *given, **named: distances(*given, **named).to(
                model.dtype)):
        asked = model(**feed, perm_mask=hidden, target_mapping=every)
    return {name: torch.where(targets[..., None] > 0, asked[name], told[name])
            for name in OUTPUTS if told.get(name) is not None}


def run(model, inputs):
    """What transformers computes of tfc's inputs; their rows are the choices
    of one question."""
    feed = {name: value.long() for name, value in inputs.items()
            if name != "patches"}
    if "patches" in inputs and model.config.model_type == "whisper":
        feed["input_features"] = to_features(inputs["patches"]).to(model.dtype)
    elif "patches" in inputs:
        feed["pixel_values"] = to_pixels(model.config, inputs["patches"]).to(
            model.dtype)
    with torch.no_grad():
        if "targets" in feed:
            return ask(model, **feed)
        if not chooses(model):
            return model(**feed)
        result = model(**{name: value[None] for name, value in feed.items()})
    result["logits"] = result["logits"].reshape(-1, 1)
    return result


def forward(model, inputs):
    """The class's float tensors; zero at masked tokens, as tfc has them."""
    result = run(model, inputs)
    # Which mask the rows of an output have.
    masks = dict.fromkeys(OUTPUTS, "attention_mask")
    if result.get("encoder_last_hidden_state") is not None:
        masks = dict.fromkeys(OUTPUTS, "decoder_attention_mask")
        masks["encoder_last_hidden_state"] = "attention_mask"
    for name in ("pooler_output", "seq_relationship_logits", "sop_logits",
                 "relevance_logits", "image_embeds", "text_embeds"):
        del masks[name]
    if chooses(model) or any(word in type(model).__name__ for word in (
            "SequenceClassification", "ImageClassification", "AudioClassification",
            "NextSentence")):
        del masks["logits"]
    out = {}
    for name in OUTPUTS:
        value = result.get(name)
        if value is None:
            continue
        value = value.float().clone()
        mask = inputs.get(masks.get(name))
        if mask is not None:
            value[mask == 0] = 0
        out[name] = value.contiguous()
    return out


def greedy(model, inputs, new_tokens, eos, pad):
    """generate's sequences, and per row and step the distance of the best
    score to the second best."""
    model.generation_config = hf.GenerationConfig(
        eos_token_id=eos, pad_token_id=pad, bos_token_id=1)
    return search(model, inputs, new_tokens)


def generate(model, inputs, **options):
    with torch.no_grad():
        return model.generate(
            **{name: value.long() for name, value in inputs.items()},
            do_sample=False, output_scores=True, return_dict_in_generate=True,
            **options)


def search(model, inputs, new_tokens, **options):
    """The same under the model's own generation_config."""
    result = generate(model, inputs, max_new_tokens=new_tokens,
                      **{"num_beams": 1, **options})
    eos = model.generation_config.eos_token_id
    ends = [] if eos is None else [eos] if isinstance(eos, int) else eos
    start = result.sequences.shape[1] - len(result.scores)
    margins = []
    for row in result.sequences.tolist():
        margins.append([])
        for step, scores in enumerate(result.scores):
            best = torch.topk(scores[len(margins) - 1], 2).values
            margins[-1].append(float(best[0] - best[1]))
            if row[start + step] in ends:
                break
    return result.sequences, margins


class Noise(hf.LogitsProcessor):
    """Moves scores by more than two right implementations differ."""

    def __init__(self, seed, size):
        self.generator = torch.Generator().manual_seed(seed)
        self.size = size

    def __call__(self, input_ids, scores):
        return scores + self.size * torch.randn(scores.shape,
                                                generator=self.generator)


def beams(model, inputs, new_tokens, noise, **options):
    """Sequences of beam search and their scores, and whether noise in the
    scores leaves the sequences as they are."""
    plain = generate(model, inputs, max_new_tokens=new_tokens, **options)
    stable = all(
        torch.equal(plain.sequences, generate(
            model, inputs, max_new_tokens=new_tokens,
            logits_processor=hf.LogitsProcessorList([Noise(seed, noise)]),
            **options).sequences)
        for seed in range(4))
    return plain.sequences, plain.sequences_scores.contiguous(), stable
