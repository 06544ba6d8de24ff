# The golden models of sound: what transformers computes of log-mel frames, and
# tfc of rows of two frames each, [frames, mels].
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy

import torch
import transformers as hf

from reference import build, forward, to_features
from writer import MARGIN, stable, store

START, END = 90, 89
# No tile divides rows, columns or mels; the longest sound has 13 rows.
SMALL = dict(
    vocab_size=97, num_mel_bins=10, d_model=52, encoder_layers=2,
    decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
    encoder_ffn_dim=75, decoder_ffn_dim=75, max_source_positions=13,
    max_target_positions=48, pad_token_id=END, bos_token_id=END,
    eos_token_id=END, decoder_start_token_id=START,
    begin_suppress_tokens=[5, END])
OTHER = dict(SMALL, num_mel_bins=7, d_model=42, encoder_layers=3,
             encoder_attention_heads=3, decoder_attention_heads=7,
             encoder_ffn_dim=59, decoder_ffn_dim=31, decoder_layers=1,
             max_source_positions=21, activation_function="gelu_new")
MODELS = (
    ("whisper-lm", hf.WhisperForConditionalGeneration, SMALL),
    ("whisper-model", hf.WhisperModel, OTHER),
    ("whisper-cls", hf.WhisperForAudioClassification, dict(
        OTHER, classifier_proj_size=19, num_labels=5)),
)
GENERATION = dict(
    decoder_start_token_id=START, eos_token_id=END, pad_token_id=END,
    bos_token_id=END, lang_to_id={"<|en|>": 91, "<|de|>": 92},
    task_to_id={"transcribe": 93, "translate": 94}, no_timestamps_token_id=95,
    is_multilingual=True, return_timestamps=False, max_length=48,
    suppress_tokens=[7, 8, 90, 91, 92, 93, 94, 95, 96],
    begin_suppress_tokens=[5, END])
FORWARD = ("one", "several", "short", "ragged", "left")


def cut(model, positions):
    """The model as if it had been made for shorter sounds: transformers takes
    none but the longest."""
    short = copy.deepcopy(model)
    encoder = getattr(short, "model", short).encoder
    encoder.config.max_source_positions = positions
    encoder.max_source_positions = positions
    encoder.embed_positions = torch.nn.Embedding.from_pretrained(
        encoder.embed_positions.weight[:positions])
    return short


def decoder_of(model):
    return getattr(getattr(model, "model", model), "decoder", None)


def draw(config, generator, rows, positions, tokens):
    return {
        "patches": torch.randn(rows, positions, 2 * config.num_mel_bins,
                               generator=generator),
        "decoder_input_ids": torch.randint(
            0, config.vocab_size, (rows, tokens), generator=generator)}


def masked(lengths, width, side="right"):
    return torch.tensor([
        [0] * (width - n) + [1] * n if side == "left" else
        [1] * n + [0] * (width - n) for n in lengths])


def forward_sound(model, inputs):
    """What transformers computes of sounds of any length; where a mask says
    that there are several, of each row by itself."""
    if "attention_mask" not in inputs:
        return forward(cut(model, inputs["patches"].shape[1]), inputs)
    out = {}
    for row, length in enumerate(inputs["attention_mask"].sum(1).tolist()):
        own = {name: value[row:row + 1] for name, value in inputs.items()
               if name != "attention_mask"}
        own["patches"] = own["patches"][:, :length]
        for name, value in forward(cut(model, length), own).items():
            if name == "encoder_last_hidden_state":
                whole = value.new_zeros(1, inputs["patches"].shape[1],
                                        value.shape[2])
                whole[:, :length] = value
                value = whole
            out.setdefault(name, []).append(value)
    return {name: torch.cat(rows) for name, rows in out.items()}


def write_forward(out, name, model, seed):
    config = model.config
    longest = config.max_source_positions
    cases = FORWARD if decoder_of(model) else FORWARD[:-1]
    for index, case in enumerate(cases):
        generator = torch.Generator().manual_seed(seed * 100 + index)
        short = 5 if case == "short" else longest
        inputs = draw(config, generator, 1 if case == "one" else 3, short,
                      1 if case == "one" else 6)
        if not decoder_of(model):
            del inputs["decoder_input_ids"]
        elif case in ("ragged", "left"):
            inputs["decoder_attention_mask"] = masked(
                (3, 1, 6), 6, "left" if case == "left" else "right")
        if case == "ragged":
            inputs["attention_mask"] = masked((4, longest, 1), longest)
        store(out.folder(name), "inputs-" + case, inputs)
        store(out.folder(name), "expected-" + case,
              forward_sound(model, inputs))
    return cases


def write_generation(out, name, model, seed):
    """Sounds whose tokens are stable, with the prompt of a language."""
    model.generation_config = hf.GenerationConfig(**GENERATION)
    model.generation_config.save_pretrained(out.folder(name))
    for attempt in range(1000):
        generator = torch.Generator().manual_seed(seed + attempt)
        inputs = draw(model.config, generator, 3,
                      model.config.max_source_positions, 1)
        model.generation_config = hf.GenerationConfig(**GENERATION)
        with torch.no_grad():
            result = model.generate(
                to_features(inputs["patches"]), language="de",
                max_new_tokens=40, return_dict_in_generate=True,
                output_scores=True)
        sequences = result["sequences"]
        prompt = sequences.shape[1] - len(result["scores"])
        margins = [[float(torch.diff(-torch.topk(scores[row], 2).values))
                    for step, scores in enumerate(result["scores"])
                    if END not in sequences[row, prompt:prompt + step]]
                   for row in range(len(sequences))]
        varied = [len(set(row[prompt:].tolist())) for row in sequences]
        if stable(margins) and min(varied) >= 4 and max(varied) >= 8:
            inputs["decoder_input_ids"] = sequences[:, :prompt].contiguous()
            store(out.folder(name), "inputs-generate", inputs)
            store(out.folder(name), "expected-generate",
                  {"sequences": sequences.contiguous()})
            return [{"name": "generate"}]
    raise SystemExit(f"no stable sounds for {name} (by {MARGIN})")


def write(out):
    for number, (name, cls, config) in enumerate(MODELS):
        if not out.wants(name):
            continue
        seed = 1501 + number
        model = build(cls, hf.WhisperConfig(**config), seed, token=0.3,
                      position=1.5, bias=0.06)
        with torch.no_grad():  # or most texts end at once
            if decoder_of(model):
                decoder_of(model).embed_tokens.weight[END] *= 0.4
        out.save(name, model)
        model = out.load(cls, name)
        cases = write_forward(out, name, model, seed)
        steps = (write_generation(out, name, model, seed)
                 if model.can_generate() else [])
        out.add(name, cases, steps)
