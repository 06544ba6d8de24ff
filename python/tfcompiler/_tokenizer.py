# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts to token ids and back, by the tokenizer's file of a model."""
from __future__ import annotations

import ctypes as c
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Sequence, Union

from tfcompiler import _structs as s
from tfcompiler._chat import ChatTemplate, apply_chat_template
from tfcompiler._error import Code, Error
from tfcompiler._handle import Closes, Handle, Unique
from tfcompiler._library import Interrupt, runtime
from tfcompiler._numbers import (INT64, c_string, ids_array, integer, optional,
                                 path_bytes, utf8)

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


class Tokenizer(Closes):
    """Runs a tokenizer.json as it is written. Immutable; any thread may use
    it, and a pickle of it is its path. Raises Error (NOT_FOUND, IO,
    INVALID_ARGUMENT: no tokenizer, UNSUPPORTED: a part of it) naming the file
    and the place."""

    def __init__(self, path):
        name = path_bytes(path, "tokenizer")
        library = runtime()
        self._handle = Handle("tokenizer", library.tfc_tokenizer_free)
        self.path = str(path)
        library.tfc_tokenizer_load(name, c.byref(self._handle.pointer))

    def __copy__(self):
        return self

    def __deepcopy__(self, known):
        return self

    def __reduce__(self):
        return Tokenizer, (str(Path(self.path).absolute()),)

    def __len__(self) -> int:
        """One more than the greatest id."""
        with self._handle as pointer:
            return runtime().tfc_tokenizer_limit(pointer)

    def token_to_id(self, token: str) -> Optional[int]:
        """The id of a token of the vocabulary, or None."""
        name = c_string("token", token)
        with self._handle as pointer:
            found = runtime().tfc_tokenizer_find(pointer, name)
        return None if found < 0 else found

    def id_to_token(self, id: int) -> Optional[str]:
        """The token of the vocabulary with this id, or None."""
        id = integer("id", id, *INT64)
        with self._handle as pointer:
            token = runtime().tfc_tokenizer_token(pointer, id)
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
        first = utf8(text)
        second = None if pair is None else utf8(pair, "pair")
        interrupt = Interrupt()  # Ctrl-C in a long text
        options = s.TokenizeOptions(
            should_stop=interrupt.ask,
            text=first, text_bytes=len(first), pair=second,
            pair_bytes=len(second or b""),
            max_tokens=optional("max_tokens", max_tokens, 1) or 0,
            truncate=_TRUNCATE[truncate],
            no_special=int(not add_special_tokens),
            special_as_text=int(bool(special_as_text)))
        tokens = c.c_void_p()
        library = runtime()
        with self._handle as pointer, interrupt:
            library.tfc_tokenizer_encode(pointer, c.byref(options),
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

    def encode_batch(self, texts: Iterable[str],
                     pairs: Optional[Iterable[str]] = None, **how
                     ) -> List[Encoding]:
        """The tokens of each text, or of each text and its pair; how is
        encode's."""
        texts = _listed("texts", texts)
        if pairs is None:
            return [self.encode(text, **how) for text in texts]
        pairs = _listed("pairs", pairs)
        if len(pairs) != len(texts):
            raise Error(Code.INVALID_ARGUMENT, f"pairs: expected {len(texts)},"
                        f" one a text, got {len(pairs)}")
        return [self.encode(*both, **how) for both in zip(texts, pairs)]

    def decode(self, ids: Iterable[int], skip_special: bool = True) -> str:
        """The text of tokens."""
        array = ids_array(ids)
        text, size = c.c_void_p(), c.c_uint64()
        library = runtime()
        with self._handle as pointer:
            library.tfc_tokenizer_decode(pointer, array, len(array),
                                         int(bool(skip_special)),
                                         c.byref(text))
        try:
            data = library.tfc_text_get(text, c.byref(size))
            return c.string_at(data, size.value).decode("utf-8", "replace")
        finally:
            library.tfc_text_free(text)

    def decode_batch(self, rows: Iterable[Iterable[int]],
                     skip_special: bool = True) -> List[str]:
        """The text of each row of tokens."""
        return [self.decode(row, skip_special) for row in rows]

    @cached_property
    def _template(self) -> ChatTemplate:
        path = Path(self.path)
        return ChatTemplate(path if path.is_dir() else path.parent)

    def apply_chat_template(self, messages: Sequence[Dict], **how
                            ) -> Union[str, List[int]]:
        """As Model.apply_chat_template, by the template beside the tokenizer's
        file."""
        return apply_chat_template(self, lambda: self._template, messages,
                                   **how)

    def stream(self, skip_special: bool = True) -> "TextStream":
        """For text that is shown while it is generated."""
        return TextStream(self, skip_special)


class TextStream(Closes, Unique):
    """Text by tokens as they come, whole characters at a time. One thread at a
    time; its tokenizer lives as long."""

    def __init__(self, tokenizer: Tokenizer, skip_special: bool = True):
        library = runtime()
        self._handle = Handle("text stream", library.tfc_text_stream_free,
                              tokenizer._handle)
        library.tfc_text_stream_create(tokenizer._handle.pointer,
                                       int(bool(skip_special)),
                                       c.byref(self._handle.pointer))

    def push(self, id: int) -> str:
        """What the text has more by this token; maybe nothing."""
        id = integer("id", id, *INT64)
        data, size = c.c_void_p(), c.c_uint64()
        with self._handle.alone() as pointer:
            runtime().tfc_text_stream_push(pointer, id, c.byref(data),
                                           c.byref(size))
            return c.string_at(data, size.value).decode("utf-8", "replace")

    def finish(self) -> str:
        """What was held back; the stream begins anew."""
        data, size = c.c_void_p(), c.c_uint64()
        with self._handle.alone() as pointer:
            runtime().tfc_text_stream_finish(pointer, c.byref(data),
                                             c.byref(size))
            return c.string_at(data, size.value).decode("utf-8", "replace")


def _listed(name: str, texts) -> List[str]:
    """Texts as a list; a text alone is none, though it has characters."""
    if isinstance(texts, (str, bytes)):
        raise Error(Code.INVALID_ARGUMENT, f"{name}: expected a list of texts,"
                    " got one text")
    return list(texts)
