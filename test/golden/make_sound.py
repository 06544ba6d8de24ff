# The golden models of sound: what transformers computes of log-mel frames, and
# tfc of rows of two frames each, [frames, mels].
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import contextlib
import copy

import torch
import transformers as hf

from reference import build, forward, to_features
from writer import MARGIN, stable, store

START, END = 90, 89
FIRST_TIME, LAST_INITIAL = 96, 4
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
TIMED = dict(GENERATION, max_initial_timestamp_index=LAST_INITIAL,
             suppress_tokens=[7, 8, 90, 91, 92, 93, 94, 95])
FORWARD = ("one", "several", "short", "ragged", "left")
# 13 rows are heard at once, which are times 0.00 to 0.26.
TIMES = dict(SMALL, vocab_size=FIRST_TIME + 14, d_model=28, encoder_layers=1,
             decoder_layers=1)


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


@contextlib.contextmanager
def watched():
    """How near transformers' rule of times comes to another token: of each call
    between the two best scores, and between all times and the best text."""
    rule = hf.models.whisper.generation_whisper.WhisperTimeStampLogitsProcessor
    apply, nearest = rule.__call__, []

    def watch(self, ids, scores):
        self._detect_timestamp_from_logprob = False
        free = apply(self, ids, scores)
        self._detect_timestamp_from_logprob = True
        gap = free[:, FIRST_TIME:].logsumexp(-1) - free[:, :FIRST_TIME].max(
            -1).values
        made = apply(self, ids, scores)
        best = torch.topk(made, 2).values
        nearest.append(min(float(gap.abs().min()),
                           float((best[:, 0] - best[:, 1]).min())))
        return made
    rule.__call__ = watch
    try:
        yield nearest
    finally:
        rule.__call__ = apply


def hear(model, features, **words):
    """What transformers makes of a sound with times, or None where it might be
    otherwise elsewhere."""
    model.generation_config = hf.GenerationConfig(**TIMED)
    with watched() as nearest, torch.no_grad():
        made = model.generate(features, language="de", return_timestamps=True,
                              **words)
    return made if min(nearest) > MARGIN else None


def write_times(out, name, model, seed):
    """Two sounds in one window each, and one that is heard in several."""
    model.generation_config = hf.GenerationConfig(**TIMED)
    model.generation_config.save_pretrained(out.folder(name))
    longest = model.config.max_source_positions
    for attempt in range(1000):
        generator = torch.Generator().manual_seed(seed + attempt)
        inputs = draw(model.config, generator, 2, longest, 1)
        made = hear(model, to_features(inputs["patches"]), max_new_tokens=24,
                    return_dict_in_generate=True,
                    force_unique_generate_call=True)
        if made is None:
            continue
        sequences = made["sequences"]
        inputs["decoder_input_ids"] = sequences[:, :3].contiguous()
        said = sequences[:, 3:]
        if min(int((row >= FIRST_TIME).sum()) for row in said) >= 3 and min(
                len(set(row.tolist())) for row in said) >= 7:
            break
    else:
        raise SystemExit(f"no stable times for {name} (by {MARGIN})")
    store(out.folder(name), "inputs-generate", inputs)
    store(out.folder(name), "expected-generate",
          {"sequences": sequences.contiguous()})
    for attempt in range(1000):
        generator = torch.Generator().manual_seed(seed + attempt)
        features = torch.randn(1, model.config.num_mel_bins, 8 * longest + 5,
                               generator=generator)
        made = hear(model, features, max_new_tokens=24, return_segments=True)
        parts = made and made["segments"][0]
        # Windows that begin where a part ended, and one of several parts.
        begins = made and {round(float(part["start"]), 2) for part in parts}
        if made and len(parts) >= 8 and any(
                round(50 * begin) % longest for begin in begins):
            break
    else:
        raise SystemExit(f"no stable long sound for {name} (by {MARGIN})")
    store(out.folder(name), "inputs-long", {"features": features})
    store(out.folder(name), "expected-long", {
        "sequences": made["sequences"].contiguous(),
        **{key: torch.tensor([float(part[key]) for part in parts],
                             dtype=torch.float64) for key in ("start", "end")},
        "tokens": torch.tensor([len(part["tokens"]) for part in parts])})
    return [{"name": "generate", "new_tokens": 24, "options": {
        "timestamp_begin": FIRST_TIME,
        "max_initial_timestamp_index": LAST_INITIAL}}]


def write(out):
    write_models(out)
    name = "whisper-times"
    if out.wants(name):
        cls, seed = hf.WhisperForConditionalGeneration, 1541
        model = build(cls, hf.WhisperConfig(**TIMES), seed, token=0.3,
                      position=1.5, bias=0.06)
        out.save(name, model)
        model = out.load(cls, name)
        out.add(name, [], write_times(out, name, model, seed))


def write_models(out):
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
