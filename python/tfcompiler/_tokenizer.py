# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts to token ids and back, by the tokenizer's file of a model."""
from __future__ import annotations

import ctypes as c
from dataclasses import dataclass
from typing import Iterable, List, Optional, Sequence, Union

from tfcompiler import _structs as s
from tfcompiler._error import Code, Error
from tfcompiler._library import path_bytes, runtime

_TRUNCATE = {"longest_first": 0, "only_first": 1, "only_second": 2}


@dataclass(frozen=True)
class Encoding:
    """The tokens of a text, or of a text and its pair: lists of one length.

    offsets: the characters [begin, end) of its text that a token is of, (0, 0)
    of special tokens; sequences: 0 the text, 1 the pair, None neither."""

    ids: List[int]
    type_ids: List[int]
    offsets: List[tuple]
    sequences: List[Optional[int]]

    def __len__(self) -> int:
        return len(self.ids)


class Tokenizer:
    """Runs a tokenizer.json as it is written. Immutable; any thread may use
    it. Raises Error (NOT_FOUND, IO, INVALID_ARGUMENT: no tokenizer,
    UNSUPPORTED: a part of it) naming the file and the place."""

    def __init__(self, path):
        self._handle = c.c_void_p()
        self.path = str(path)
        runtime().tfc_tokenizer_load(path_bytes(path), c.byref(self._handle))

    def __del__(self):
        if self._handle:
            runtime().tfc_tokenizer_free(self._handle)

    def __len__(self) -> int:
        """One more than the greatest id."""
        return runtime().tfc_tokenizer_limit(self._handle)

    def token_to_id(self, token: str) -> Optional[int]:
        """The id of a token of the vocabulary, or None."""
        found = runtime().tfc_tokenizer_find(self._handle, token.encode())
        return None if found < 0 else found

    def id_to_token(self, id: int) -> Optional[str]:
        """The token of the vocabulary with this id, or None."""
        token = runtime().tfc_tokenizer_token(self._handle, id)
        return None if token is None else token.decode("utf-8", "replace")

    def encode(self, text: str, pair: Optional[str] = None, *,
               max_tokens: Optional[int] = None,
               truncate: str = "longest_first",
               add_special_tokens: bool = True,
               special_as_text: bool = False) -> Encoding:
        """The tokens of a text. More than max_tokens are cut off at the end, of
        a pair from what `truncate` says (longest_first, only_first,
        only_second). special_as_text: what looks like a special token is text,
        for texts of people who are not to write those."""
        if truncate not in _TRUNCATE:
            raise Error(Code.INVALID_ARGUMENT, "truncate: expected one of "
                        f"{', '.join(_TRUNCATE)}, got {truncate!r}")
        first = _utf8(text)
        second = None if pair is None else _utf8(pair)
        options = s.TokenizeOptions(
            text=first, text_bytes=len(first), pair=second,
            pair_bytes=len(second or b""), max_tokens=max_tokens or 0,
            truncate=_TRUNCATE[truncate],
            no_special=int(not add_special_tokens),
            special_as_text=int(special_as_text))
        tokens = c.c_void_p()
        library = runtime()
        library.tfc_tokenizer_encode(self._handle, c.byref(options),
                                     c.byref(tokens))
        try:
            info = s.TokensInfo()
            library.tfc_tokens_get_info(tokens, c.byref(info))
            n = info.n_tokens
            return Encoding(
                info.ids[:n], info.type_ids[:n],
                list(zip(info.begins[:n], info.ends[:n])),
                [None if part < 0 else part for part in info.sequences[:n]])
        finally:
            library.tfc_tokens_free(tokens)

    def decode(self, ids: Iterable[int], skip_special: bool = True) -> str:
        """The text of tokens."""
        array = ids_array(ids)
        text, size = c.c_void_p(), c.c_uint64()
        library = runtime()
        library.tfc_tokenizer_decode(self._handle, array, len(array),
                                     int(skip_special), c.byref(text))
        try:
            data = library.tfc_text_get(text, c.byref(size))
            return c.string_at(data, size.value).decode("utf-8", "replace")
        finally:
            library.tfc_text_free(text)

    def stream(self, skip_special: bool = True) -> "TextStream":
        """For text that is shown while it is generated."""
        return TextStream(self, skip_special)


class TextStream:
    """Text by tokens as they come, whole characters at a time. One thread."""

    def __init__(self, tokenizer: Tokenizer, skip_special: bool = True):
        self._tokenizer = tokenizer  # must outlive the stream
        self._handle = c.c_void_p()
        runtime().tfc_text_stream_create(tokenizer._handle, int(skip_special),
                                         c.byref(self._handle))

    def __del__(self):
        if self._handle:
            runtime().tfc_text_stream_free(self._handle)

    def push(self, id: int) -> str:
        """What the text has more by this token; maybe nothing."""
        data, size = c.c_void_p(), c.c_uint64()
        runtime().tfc_text_stream_push(self._handle, id, c.byref(data),
                                       c.byref(size))
        return c.string_at(data, size.value).decode("utf-8", "replace")

    def finish(self) -> str:
        """What was held back; the stream begins anew."""
        data, size = c.c_void_p(), c.c_uint64()
        runtime().tfc_text_stream_finish(self._handle, c.byref(data),
                                         c.byref(size))
        return c.string_at(data, size.value).decode("utf-8", "replace")


def _utf8(text: str) -> bytes:
    if not isinstance(text, str):
        raise Error(Code.INVALID_ARGUMENT,
                    f"expected a text (str), got {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Error(Code.INVALID_ARGUMENT,
                    f"expected a text without lone surrogates, got one at "
                    f"character {error.start}") from None


def ids_array(ids: Union[Sequence[int], Iterable[int]]):
    """Ids as C takes them."""
    values = [int(id) for id in ids]
    return (c.c_int64 * len(values))(*values)
