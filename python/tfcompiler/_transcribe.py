# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is said in a sound, and when: windows as long as the model hears at
once, each from the last time that was said in the one before, as transformers'
generate goes through a sound (Radford et al. 2022, arXiv:2212.04356, 3.8)."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, List, Optional, Sequence, Tuple

import numpy as np

from tfcompiler._error import Code, Error
from tfcompiler._numbers import INT64, UINT64, integer
from tfcompiler._sound import (FRAMES, RATE_FRAMES, Prompt, settings_of,
                               said_before, without_times)

if TYPE_CHECKING:
    from tfcompiler._model import Model

_STEP = 0.02  # seconds from one token of time to the next


@dataclass(frozen=True)
class Segment:
    """A part of what is said. start, end: seconds; tokens: with those of
    times; seek: the frame where the model began to hear, of 100 a second."""

    start: float
    end: float
    text: str
    tokens: Tuple[int, ...] = field(repr=False)
    seek: int


@dataclass(frozen=True)
class Transcript:
    """language: its code, None of a model that knows of one; duration: of the
    sound, in seconds; segments: in order, none without times."""

    text: str
    language: Optional[str]
    duration: float
    segments: Tuple[Segment, ...] = ()


@dataclass
class _Sound:
    """How far a sound has been heard."""

    features: np.ndarray  # [mels, frames]
    duration: float
    has_times: bool
    seek: int = 0
    prompt: Sequence[int] = ()
    tokens: List[int] = field(default_factory=list)
    parts: List[Tuple[float, float, List[int], int]] = field(
        default_factory=list)
    others: List[List[int]] = field(default_factory=list)

    @property
    def left(self) -> int:
        return self.features.shape[1] - self.seek

    def window(self, length: int) -> np.ndarray:
        """What is heard next; behind the end zeros, as transformers has it."""
        part = self.features[:, self.seek:self.seek + length]
        return np.pad(part, ((0, 0), (0, length - part.shape[1])))


class Transcriber:
    """Hears sounds side by side, a window of each in a step; what it makes of
    one does not depend on the others. features: [mels, frames] each. prompt:
    what was said before, of every window."""

    def __init__(self, model: "Model", features: Sequence[np.ndarray],
                 durations: Optional[Sequence[float]] = None, *,
                 language: Optional[str] = None, task: Optional[str] = None,
                 prompt: Optional[str] = None,
                 return_timestamps: Optional[bool] = None,
                 max_new_tokens: Optional[int] = None, eos_token_id="model",
                 skip_special: bool = True, **words):
        self._model = model
        self._settings = settings_of(model.folder)
        self._window = FRAMES * model._most_rows()
        self._most = max_new_tokens
        self._ends = model._end_ids(eos_token_id)
        self._skips_special = skip_special
        self._words = dict(words, eos_token_id=eos_token_id)
        self._begin = self._first_time()
        self._steps = 0
        durations = durations or [each.shape[1] / RATE_FRAMES
                                  for each in features]
        self._sounds = [_Sound(each, seconds, self._times_of(
            each.shape[1], return_timestamps))
            for each, seconds in zip(features, durations)]
        self._prompt = Prompt(model, self._settings, language, task)
        self._before = said_before(model, self._settings, prompt)

    def _first_time(self) -> int:
        none = self._settings.get("no_timestamps_token_id")
        return 0 if none is None else 1 + integer(
            "no_timestamps_token_id", none, 0, 2**31)

    def _times_of(self, frames: int, wanted: Optional[bool]) -> bool:
        """Whether a sound of so many frames is heard with times."""
        if wanted is None:
            wanted = bool(self._settings.get("return_timestamps")) or \
                frames > self._window
        if frames > self._window and not wanted:
            raise Error(Code.INVALID_ARGUMENT, "return_timestamps: expected "
                        f"None or True of a sound of {frames} frames (more "
                        f"than {self._window} are heard by their times), got "
                        "False")
        if wanted and not self._begin:
            raise Error(Code.UNSUPPORTED, f"{self._model.info.name}: expected "
                        f"at most {self._window} frames without times (its "
                        "generation_config.json has no "
                        f"no_timestamps_token_id), got {frames} frames"
                        + (" with times" if frames <= self._window else ""))
        if wanted and self._words.get("num_return_sequences", 1) != 1:
            raise Error(Code.UNSUPPORTED, "num_return_sequences: expected 1 "
                        "of a sound with times, got "
                        f"{self._words['num_return_sequences']}")
        return wanted

    @property
    def is_done(self) -> bool:
        return all(sound.left <= 0 for sound in self._sounds)

    def step(self, should_stop=None) -> None:
        """Hears the next window of each sound that is not done."""
        for has_times in (False, True):
            sounds = [sound for sound in self._sounds
                      if sound.has_times == has_times and sound.left > 0]
            if sounds:
                self._hear(sounds, has_times, should_stop)
        self._steps += 1

    def transcripts(self) -> List[List[Transcript]]:
        """Of each sound; as many as num_return_sequences says."""
        return [[self._transcript(sound, tokens)
                 for tokens in [sound.tokens, *sound.others]]
                for sound in self._sounds]

    def _hear(self, sounds, has_times: bool, should_stop) -> None:
        windows = np.stack([sound.window(self._window) if has_times else
                            sound.features for sound in sounds])
        arrays = self._model._arrays({"input_features": windows})
        if not self._steps:
            for sound, row in zip(sounds, self._prompt.rows(
                    arrays, has_times)):
                sound.prompt = row
        ids = np.array([[*self._before, *sound.prompt] for sound in sounds],
                       np.int64)
        most, words = self._most, dict(self._words)
        if has_times:
            nearest = self._settings.get("max_initial_timestamp_index")
            words.update(
                timestamp_begin=self._begin, max_initial_timestamp_index=-1
                if nearest is None else integer(
                    "max_initial_timestamp_index", nearest, 0, INT64[1]))
            # Or each window would draw by the numbers of the one before.
            words["seed"] = (integer("seed", words.get("seed", 0), *UINT64)
                             + self._steps) % 2**64
        if most is None:
            most = self._model._most_new(ids.shape[1], not has_times)
        made = self._model.generate_ids(
            **arrays, decoder_input_ids=ids, max_new_tokens=most,
            should_stop=should_stop, **words).sequences[:, ids.shape[1]:]
        each = len(made) // len(sounds)
        for index, sound in enumerate(sounds):
            rows = [self._until_end(row)
                    for row in made[index * each:(index + 1) * each]]
            if has_times:
                self._take(sound, rows[0])
            else:
                sound.tokens, sound.others = rows[0], rows[1:]
                sound.seek = sound.features.shape[1]

    def _until_end(self, row) -> List[int]:
        tokens = row.tolist()
        return tokens[:next((index for index, token in enumerate(tokens)
                             if token in self._ends), len(tokens))]

    def _take(self, sound: _Sound, tokens: List[int]) -> None:
        heard = min(sound.left, self._window)
        offset = sound.seek * _STEP / FRAMES
        parts, step = split(tokens, self._begin, heard)
        for start, end, part in parts:
            sound.parts.append((offset + start * _STEP, offset + end * _STEP,
                                part, sound.seek))
            sound.tokens += part
        sound.seek += step

    def _transcript(self, sound: _Sound, tokens: List[int]) -> Transcript:
        return Transcript(
            self._text(tokens), self._prompt.language_of(sound.prompt),
            sound.duration, tuple(
                Segment(start, end, self._text(part), tuple(part), seek)
                for start, end, part, seek in sound.parts))

    def _text(self, tokens: Sequence[int]) -> str:
        return self._model.tokenizer.decode(
            without_times(self._settings, tokens), self._skips_special)


def split(tokens: List[int], begin: int, frames: int
          ) -> Tuple[List[Tuple[float, float, List[int]]], int]:
    """A window's tokens as parts (start, end, tokens), in tokens of time from
    the window's begin, and how many of its frames have been heard. Two times
    side by side end a part and begin the next; one that has no end is heard
    again, unless a time is the last that is said."""
    are_times = [token >= begin for token in tokens]
    cuts = [index + 1 for index, pair in enumerate(zip(
        are_times, are_times[1:])) if all(pair)]
    if not cuts:
        said = [token - begin for token in tokens if token >= begin]
        # The rounding of transformers' f32 included.
        end = int(np.float32(frames) * np.float32(0.01) / np.float32(_STEP))
        return [(0, said[-1] if said and said[-1] else end, tokens)], frames
    is_closed = are_times[-2:] == [False, True]
    if is_closed:
        cuts.append(len(tokens))
    else:
        cuts[-1] += 1  # with the time that begins the one that is heard again
    parts = []
    for first, last in zip([0, *cuts], cuts):
        is_open = last == cuts[-1] and not is_closed
        parts.append((tokens[first] - begin,
                      tokens[last - 1 - is_open] - begin, tokens[first:last]))
    if is_closed:
        return parts, frames
    # Not 0 by the rule of times: a pair is behind the first one.
    return parts, max(1, tokens[cuts[-1] - 2] - begin) * FRAMES
