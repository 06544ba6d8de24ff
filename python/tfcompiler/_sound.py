# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sound as rows of log-mel frames, which encoders of sound take, and the tokens
that a text of it begins with (Radford et al. 2022, arXiv:2212.04356)."""
from __future__ import annotations

import functools
import json
import os
import wave
from pathlib import Path
from typing import List, Optional, Sequence, Tuple

import numpy as np

from tfcompiler._error import Code, Error
from tfcompiler._languages import CODES
from tfcompiler._numbers import path_bytes
from tfcompiler._patches import as_rows

RATE = 16000  # samples a second
_WINDOW, _HOP, _SECONDS = 400, 160, 30
_LONGEST = 24 * 3600
_BLOCK = 3000  # frames that are computed at once
RATE_FRAMES = RATE // _HOP
_BEFORE = "<|startofprev|>"  # in front of what was said before a sound
FRAMES = 2  # of a row, which is what the second convolution's stride leaves


def to_rows(features, width: int, positions: int) -> np.ndarray:
    """[batch, mels, frames] of a feature extractor as rows [batch, frames / 2,
    2 x mels]; `width` and `positions` are how wide a row of the model is and
    the most there are."""
    array = as_rows("input_features", features)
    if width % FRAMES:
        raise Error(Code.UNSUPPORTED, "input_features: expected a model whose "
                    f"rows are {FRAMES} frames, got one of rows of {width}")
    mels = width // FRAMES
    count = array.shape[2] // FRAMES if array.ndim == 3 else 0
    if array.ndim != 3 or not len(array) or array.shape[1] != mels or \
            array.shape[2] % FRAMES or not 0 < count <= positions:
        raise Error(Code.INVALID_ARGUMENT, "input_features: expected [batch, "
                    f"{mels}, frames], an even number of at most "
                    f"{positions * FRAMES} frames, got {list(array.shape)}")
    return np.ascontiguousarray(array.transpose(0, 2, 1)).reshape(
        -1, count, width)


def checked_features(features, mels: int) -> np.ndarray:
    """[batch, mels, frames] of a feature extractor."""
    array = as_rows("input_features", features)
    if array.ndim != 3 or not all(array.shape) or array.shape[1] != mels:
        raise Error(Code.INVALID_ARGUMENT, "input_features: expected [batch, "
                    f"{mels}, frames], got {list(array.shape)}")
    return array


def _to_mel(hertz):
    """Slaney's scale: linear up to 1000 Hz, logarithmic above."""
    hertz = np.asarray(hertz, np.float64)
    return np.where(hertz < 1000, 3 * hertz / 200,
                    15 + 27 * np.log(np.maximum(hertz, 1000) / 1000) /
                    np.log(6.4))


def _to_hertz(mel):
    return np.where(mel < 15, 200 * mel / 3,
                    1000 * np.exp(np.log(6.4) * (mel - 15) / 27))


@functools.lru_cache(maxsize=4)
def _filters(mels: int) -> np.ndarray:
    """[mels, bins]: triangles on that scale up to 8000 Hz, of equal area."""
    edges = _to_hertz(np.linspace(_to_mel(0), _to_mel(RATE / 2), mels + 2))
    bins = np.linspace(0, RATE / 2, _WINDOW // 2 + 1)
    rising = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    return np.maximum(0, np.minimum(rising, falling)) * (
        2 / (edges[2:] - edges[:-2]))[:, None]


def log_mel(samples, mels: int = 80, *, seconds: Optional[float] = _SECONDS
            ) -> np.ndarray:
    """The log-mel spectrogram of samples from -1 to 1 at 16000 a second, as
    Whisper reads it: float32 [mels, frames], 100 frames a second. The sound is
    cut, or filled up with silence, to `seconds`; None: to a whole number of
    rows of two frames."""
    samples = _as_samples(samples)
    if samples.ndim != 1:
        raise Error(Code.INVALID_ARGUMENT, "sound: expected samples of one "
                    f"channel, got shape {list(samples.shape)}")
    if mels < 1 or (len(samples) < 1 if seconds is None else
                    not _HOP / RATE <= seconds <= _LONGEST):
        raise Error(Code.INVALID_ARGUMENT, "log_mel: expected at least one "
                    f"filter and one frame, and at most {_LONGEST} seconds, "
                    f"got {mels} filters, {len(samples)} samples, {seconds} "
                    "seconds")
    return _spectrogram(
        samples, mels, -(-len(samples) // (FRAMES * _HOP)) * FRAMES * _HOP
        if seconds is None else int(seconds * RATE))


def heard_features(sound, mels: int, frames: int) -> Tuple[np.ndarray, float]:
    """[mels, frames or more] of a sound, the path of a WAV file or samples, and
    how many seconds it has. One of no more than `frames` is filled up with
    silence."""
    samples = read_wave(sound) if isinstance(sound, (str, Path)) else sound
    shape = np.shape(samples)
    if len(shape) == 1 and not 0 < shape[0] <= _LONGEST * RATE:
        raise Error(Code.INVALID_ARGUMENT, "sound: expected from one sample to "
                    f"{_LONGEST} seconds of them, got {shape[0]} samples")
    if len(shape) != 1 or shape[0] <= frames * _HOP:
        made = log_mel(samples, mels, seconds=frames * _HOP / RATE)
    else:
        made = _spectrogram(_as_samples(samples), mels, shape[0])
    return made, shape[0] / RATE


def _as_samples(samples) -> np.ndarray:
    if np.asarray(samples).dtype.kind in "iu":
        raise Error(Code.INVALID_ARGUMENT, "sound: expected samples from -1 to "
                    "1, got integers")
    return as_rows("sound", samples).astype(np.float64)


def _spectrogram(samples: np.ndarray, mels: int, size: int) -> np.ndarray:
    """That of the first `size` samples, of which there may be fewer."""
    whole = np.zeros(max(size, _WINDOW), np.float64)
    whole[:min(size, len(samples))] = samples[:size]
    padded = np.pad(whole, _WINDOW // 2, mode="reflect")
    count = size // _HOP
    frames = np.lib.stride_tricks.sliding_window_view(
        padded, _WINDOW)[::_HOP][:count]
    # Hann's window as long as the frame and one more.
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_WINDOW) / _WINDOW)
    logs, filters = np.empty((mels, count)), _filters(mels)
    for at in range(0, count, _BLOCK):
        power = np.abs(np.fft.rfft(frames[at:at + _BLOCK] * window,
                                   axis=1)) ** 2
        logs[:, at:at + _BLOCK] = np.log10(np.maximum(
            filters @ power.T, 1e-10))
    logs = np.maximum(logs, logs.max() - 8)
    return ((logs + 4) / 4).astype(np.float32)


def read_wave(path) -> np.ndarray:
    """The samples of a WAV file of 16000 samples a second, 16 bits each; the
    mean of its channels."""
    return parse_wave(os.fsdecode(path_bytes(path, "sound")), path)


def parse_wave(source, path) -> np.ndarray:
    """The same of a name or a stream; path: what errors call it."""
    try:
        with wave.open(source, "rb") as file:
            shape = (file.getframerate(), file.getsampwidth())
            channels = file.getnchannels()
            data = file.readframes(file.getnframes())
    except FileNotFoundError as error:
        raise Error(Code.NOT_FOUND, f"{path}: no such file") from error
    except OSError as error:
        raise Error(Code.IO, f"{path}: expected a WAV file, got: "
                    f"{error.strerror}") from error
    except (wave.Error, EOFError, RuntimeError) as error:
        raise Error(Code.INVALID_ARGUMENT, f"{path}: expected a WAV file, got "
                    f"{str(error) or 'its end'}") from error
    if shape != (RATE, 2):
        raise Error(Code.INVALID_ARGUMENT, f"{path}: expected {RATE} samples a "
                    f"second of 16 bits, got {shape[0]} of {8 * shape[1]}")
    whole = len(data) // (2 * channels) * 2 * channels  # it may be cut off
    return np.frombuffer(data[:whole], "<i2").reshape(-1, channels).mean(
        axis=1).astype(np.float32) / 32768


def settings_of(folder: Optional[Path]) -> dict:
    path = folder / "generation_config.json" if folder else None
    if path is None or not path.exists():
        return {}
    try:
        with open(path, encoding="utf-8") as stream:
            made = json.load(stream)
    except (OSError, ValueError) as error:
        raise Error(Code.IO, f"{path}: expected JSON, got: {error}") from error
    if not isinstance(made, dict):
        raise Error(Code.INVALID_ARGUMENT, f"{path}: expected an object, got "
                    "another value")
    for name in ("lang_to_id", "task_to_id"):
        if not isinstance(made.get(name) or {}, dict):
            raise Error(Code.INVALID_ARGUMENT, f"{path}: {name}: expected an "
                        "object, got another value")
    return made


def knows_languages(settings: dict) -> bool:
    """Whether a language and a task can be said."""
    return bool(settings.get("lang_to_id") and settings.get("task_to_id") and
                settings.get("is_multilingual", True))


def _language_id(language: str, known: dict) -> int:
    said = language.lower()
    for name in (language, f"<|{said}|>", f"<|{CODES.get(said)}|>"):
        if name in known:
            return known[name]
    raise Error(Code.INVALID_ARGUMENT, "language: expected one of "
                + ", ".join(name.strip("<|>") for name in known)
                + f", got {language!r}")


def _forced(pairs) -> List[Optional[int]]:
    """The tokens of [place, token], of which transformers takes a chain from
    place 1 on."""
    behind: List[Optional[int]] = []
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise Error(Code.INVALID_ARGUMENT, "generation_config.json: "
                        "forced_decoder_ids: expected pairs of a place and a "
                        f"token, got {pair!r}")
        if pair[0] != len(behind) + 1:
            break
        behind.append(pair[1])
    return behind


class Prompt:
    """What the decoder begins with: the start, the language (what the model
    hears where nobody says it), the task, and, without times, that there are
    none. settings: of its generation_config.json."""

    def __init__(self, model, settings: dict, language: Optional[str],
                 task: Optional[str]):
        for name, word in (("language", language), ("task", task)):
            if word is not None and not isinstance(word, str):
                raise Error(Code.INVALID_ARGUMENT, f"{name}: expected a text, "
                            f"got {word!r}")
        self._model, self._settings = model, settings
        self._language = language or settings.get("language")
        self._task = task or settings.get("task")
        self._languages = settings.get("lang_to_id") or {}
        self._tasks = settings.get("task_to_id") or {}
        said = self._language or self._task
        if said and not knows_languages(settings):
            raise Error(Code.UNSUPPORTED, f"{model.info.name}: expected "
                        "neither language nor task (its generation_config.json"
                        f" has none), got {said!r}")
        if self._task and self._task not in self._tasks:
            raise Error(Code.INVALID_ARGUMENT, "task: expected one of "
                        f"{', '.join(self._tasks)}, got {self._task!r}")
        if self._language:
            _language_id(self._language, self._languages)

    def rows(self, arrays: dict, has_times: bool) -> np.ndarray:
        """A row for each sound of arrays."""
        behind: List[Optional[int]] = []
        if not self._language and not self._task:
            behind = _forced(self._settings.get("forced_decoder_ids") or [])
        start = json.loads(self._model.info.spec)["tokens"]["decoder_start"]
        count = next(iter(arrays.values())).shape[0]
        heard: Sequence[Optional[int]] = [behind[0] if behind else None
                                          ] * count
        if self._language:
            heard = [_language_id(self._language, self._languages)] * count
        elif self._languages and heard[0] is None:
            heard = _listen(self._model, arrays, start,
                            list(self._languages.values()))
        rest = behind[1:]
        if self._task:
            rest = [self._tasks[self._task]]
        elif self._language:
            rest = [self._tasks["transcribe"]] \
                if "transcribe" in self._tasks else []
        silent = self._settings.get("no_timestamps_token_id")
        if silent is not None:
            rest = [token for token in rest if token != silent]
            heard = [None if own == silent else own for own in heard]
            rest += [] if has_times else [silent]
        rows = [[start, own, *rest] for own in heard]
        return np.array([[token for token in row if token is not None]
                         for row in rows], np.int64)

    def language_of(self, row) -> Optional[str]:
        """The language that a row says."""
        said = row[1] if len(row) > 1 else None
        return next((name.strip("<|>") for name, id in self._languages.items()
                     if id == said), None)


def said_before(model, settings: dict, text: Optional[str]) -> List[int]:
    """The tokens of what was said before a sound, as the decoder has them in
    front of its start; of a long text the last ones, as Radford et al. 2022 cut
    it: half of the positions. Raises Error."""
    if text is None or text == "":
        return []
    if not isinstance(text, str):
        raise Error(Code.INVALID_ARGUMENT, "prompt: expected a text, got "
                    f"{text!r}")
    begin = settings.get("prev_sot_token_id")
    if begin is None:
        begin = model.tokenizer.token_to_id(_BEFORE)
    if begin is None:
        raise Error(Code.UNSUPPORTED, f"{model.info.name}: expected no prompt "
                    f"(its vocabulary has no {_BEFORE}), got one")
    said = model.tokenizer.encode(" " + text.strip(),
                                  add_special_tokens=False).ids
    # Behind the words' of the vocabulary there are special tokens alone.
    if any(token >= min([begin, *model.info.eos]) for token in said):
        raise Error(Code.INVALID_ARGUMENT, "prompt: expected a text without "
                    "special tokens, got one with them")
    return [begin, *said[-max(1, model._positions() // 2 - 1):]]


def without_times(settings: dict, tokens: Sequence[int]) -> List[int]:
    """Those that are no times, which come behind that of none."""
    silent = settings.get("no_timestamps_token_id")
    return [token for token in tokens if silent is None or token <= silent]


def _listen(model, arrays, start: int, languages: List[int]) -> List[int]:
    """The likeliest of the languages behind the start, for each sound."""
    count = next(iter(arrays.values())).shape[0]
    ids = np.full((count, 1), start, np.int64)
    logits = model(**arrays, decoder_input_ids=ids, outputs=["logits"],
                   head_rows=languages)["logits"]
    return [languages[best] for best in logits[:, 0].argmax(axis=-1)]
