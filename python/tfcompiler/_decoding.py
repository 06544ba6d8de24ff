# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How tokens are chosen, in the words of Hugging Face's generate."""
from __future__ import annotations

import ctypes as c
import operator
from typing import Iterable, Mapping, Optional, Sequence

import numpy as np

from tfcompiler import _structs as s
from tfcompiler._error import Code, Error
from tfcompiler._library import runtime
from tfcompiler._numbers import (INT64, UINT32, UINT64, ids_array, integer,
                                 refuse)

# Keyword -> member of tfc_decoding_options, where the names differ.
_MEMBERS = {
    "no_repeat_ngram_size": "no_repeat_ngram",
    "forced_bos_token_id": "forced_bos",
    "forced_eos_token_id": "forced_eos",
    "suppress_tokens": "suppress",
    "begin_suppress_tokens": "begin_suppress",
    "max_initial_timestamp_index": "max_initial_timestamp",
}
_LISTS = ("begin_suppress_tokens", "suppress_tokens")
_EARLY = {False: 0, True: 1, "never": 2}
_RANGES = {c.c_int64: INT64, c.c_uint32: UINT32, c.c_uint64: UINT64}
_TYPES = {field[0]: field[1] for field in s.DecodingOptions._fields_}
WORDS = (
    "begin_suppress_tokens", "do_sample", "early_stopping",
    "forced_bos_token_id", "forced_eos_token_id", "frequency_penalty",
    "length_penalty", "max_initial_timestamp_index", "min_length",
    "min_new_tokens", "min_p", "no_repeat_ngram_size", "num_beams",
    "num_return_sequences", "presence_penalty", "repetition_penalty", "seed",
    "suppress_tokens", "temperature", "timestamp_begin", "top_k", "top_p")


def decoding_options(model, words: dict) -> s.DecodingOptions:
    """The model's own options, changed by keywords."""
    options = s.DecodingOptions()
    runtime().tfc_decoding_init(model, c.byref(options))
    for word, value in words.items():
        if word not in WORDS:
            raise Error(Code.INVALID_ARGUMENT, f"{word}: expected one of "
                        f"max_new_tokens, eos_token_id, {', '.join(WORDS)}")
        member = _MEMBERS.get(word, word)
        if word in _LISTS:
            ids = ids_array(() if value is None else value, word)
            setattr(options, "n_" + member, len(ids))
            value = c.cast(ids, c.POINTER(c.c_int64))
        else:
            value = _member(word, value)
        setattr(options, member, value)
    return options


# That change no answer where there is one beam.
_OF_BEAMS = ("early_stopping", "length_penalty", "num_beams",
             "num_return_sequences")


def written_words(options: s.DecodingOptions) -> dict:
    """The keywords that give these options to a model with any others of its
    own; without those of beams where there is one."""
    made = {}
    unused = _OF_BEAMS if options.num_beams <= 1 else _OF_BEAMS[-1:]
    for word in WORDS:
        member = _MEMBERS.get(word, word)
        value = getattr(options, member)
        if word in _LISTS:
            value = value[:getattr(options, "n_" + member)]
        if word.startswith("forced_") and value < 0:
            value = None
        if word == "early_stopping":
            value = next(said for said, number in _EARLY.items()
                         if number == value)
        if word not in unused:
            made[word] = bool(value) if word == "do_sample" else value
    return made


def _member(word: str, value):
    """A keyword's value as its member has it."""
    if word == "early_stopping":
        try:
            return _EARLY[value]
        except (KeyError, TypeError):
            raise refuse(word, 'False, True or "never"', value) from None
    if word == "do_sample":
        # NumPy's truths are no integers.
        return integer(word, int(value) if isinstance(value, np.bool_)
                       else value, 0, 1)
    if word in ("forced_bos_token_id", "forced_eos_token_id"):
        return -1 if value is None else integer(word, value)
    kind = _TYPES[_MEMBERS.get(word, word)]
    if kind in _RANGES:
        return integer(word, value, *_RANGES[kind])
    try:
        return c.c_double(value).value
    except (TypeError, OverflowError):
        raise refuse(word, "a number", value) from None


def new_tokens(value) -> int:
    """max_new_tokens. As for Hugging Face, none at all is no generation."""
    return integer("max_new_tokens", value, 1)


class EndTokens:
    """eos_token_id: "model" (its own), None or [] (nothing ends a row early),
    an id, or several."""

    def __init__(self, value):
        self.is_own = not (isinstance(value, str) and value == "model")
        ids: Iterable[int] = ()
        if self.is_own and value is not None:
            try:
                ids = [operator.index(value)]
            except TypeError:
                ids = value
        self.array = ids_array(ids, "eos_token_id")

    def set_on(self, options) -> None:
        """Writes it into a tfc_generate_options or a tfc_request."""
        if not self.is_own:
            return
        options.own_eos = 1
        options.n_eos = len(self.array)
        options.eos = c.cast(self.array, c.POINTER(c.c_int64))


def token_lists(lists: Optional[Sequence[Sequence[int]]]):
    """Stop sequences as C takes them, and what must outlive them."""
    arrays = [ids_array(ids, "stop") for ids in lists or []]
    made = (s.TokenList * len(arrays))(*[
        s.TokenList(tokens=c.cast(array, c.POINTER(c.c_int64)),
                    n_tokens=len(array)) for array in arrays])
    return made, arrays


def biases(given: Optional[Mapping[int, float]]):
    """What is added to tokens' logits, as C takes it."""
    made = (s.LogitBias * len(given or {}))()
    for bias, (token, value) in zip(made, (given or {}).items()):
        bias.token = integer("logit_bias", token, *INT64)
        try:
            bias.bias = value
        except TypeError:
            raise refuse(f"logit_bias[{token}]", "a number", value) from None
    return made
