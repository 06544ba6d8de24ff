# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How tokens are chosen, in the words of Hugging Face's generate."""
from __future__ import annotations

import ctypes as c
from typing import List, Optional, Sequence

from tfcompiler import _structs as s
from tfcompiler._error import Code, Error
from tfcompiler._library import runtime
from tfcompiler._tokenizer import ids_array

# Keyword -> member of tfc_decoding_options, where the names differ.
_MEMBERS = {
    "no_repeat_ngram_size": "no_repeat_ngram",
    "forced_bos_token_id": "forced_bos",
    "forced_eos_token_id": "forced_eos",
}
_EARLY = {False: 0, True: 1, "never": 2}
WORDS = (
    "do_sample", "early_stopping", "forced_bos_token_id",
    "forced_eos_token_id", "length_penalty", "min_length", "min_new_tokens",
    "min_p", "no_repeat_ngram_size", "num_beams", "num_return_sequences",
    "repetition_penalty", "seed", "temperature", "top_k", "top_p")


def decoding_options(model_handle, words: dict) -> s.DecodingOptions:
    """The model's own options, changed by keywords."""
    options = s.DecodingOptions()
    runtime().tfc_decoding_init(model_handle, c.byref(options))
    for word, value in words.items():
        if word not in WORDS:
            raise Error(Code.INVALID_ARGUMENT, f"{word}: expected one of "
                        f"max_new_tokens, eos_token_id, {', '.join(WORDS)}")
        try:
            if word == "early_stopping":
                value = _EARLY[value]
            elif word == "do_sample":
                value = int(bool(value))
            setattr(options, _MEMBERS.get(word, word),
                    -1 if value is None else value)
        except (KeyError, TypeError):
            raise Error(Code.INVALID_ARGUMENT,
                        f"{word}: expected a value of generate's, got "
                        f"{value!r}") from None
    return options


class EndTokens:
    """eos_token_id: "model" (its own), None or [] (nothing ends a row early),
    an id, or several."""

    def __init__(self, value):
        self.is_own = not (isinstance(value, str) and value == "model")
        ids: Sequence[int] = ()
        if self.is_own and value is not None:
            ids = [value] if isinstance(value, int) else value
        self.array = ids_array(ids)

    def set_on(self, options) -> None:
        """Writes it into a tfc_generate_options or a tfc_request."""
        if not self.is_own:
            return
        options.own_eos = 1
        options.n_eos = len(self.array)
        options.eos = c.cast(self.array, c.POINTER(c.c_int64))


def token_lists(lists: Optional[List[List[int]]]):
    """Stop sequences as C takes them, and what must outlive them."""
    arrays = [ids_array(ids) for ids in lists or []]
    made = (s.TokenList * len(arrays))(*[
        s.TokenList(tokens=c.cast(array, c.POINTER(c.c_int64)),
                    n_tokens=len(array)) for array in arrays])
    return made, arrays
