# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Special tokens that people write into their messages stay text: only those
that the chat template writes are special."""
from __future__ import annotations

import json
from typing import Dict, List, Tuple


class Marks:
    """Characters that nobody uses, each in the place of a special token that
    stands in a message, while a template looks at it."""

    def __init__(self, tokenizer):
        self._tokenizer = tokenizer
        self._is_special: Dict[int, bool] = {}
        self._texts: Dict[str, str] = {}  # by mark
        self._used = ""

    def __bool__(self) -> bool:
        return bool(self._texts)

    def hide(self, value, beside: str):
        """A value with marks in all its texts; `beside` is what it is written
        with."""
        self._used = beside + json.dumps(value, ensure_ascii=False,
                                         default=str)
        return self._hide(value)

    def _hide(self, value):
        if isinstance(value, str):
            return self._hide_text(value)
        if isinstance(value, dict):
            return {key: self._hide(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._hide(each) for each in value]
        return value

    def _hide_text(self, text: str) -> str:
        parts, end = [], 0
        for begin, after in self.special_places(text):
            # Spaces that a token takes with it are not the token's.
            token = text[begin:after].strip()
            begin = text.index(token, begin)
            parts += [text[end:begin], self._mark(token)]
            end = begin + len(token)
        return "".join(parts) + text[end:]

    def special_places(self, text: str) -> List[Tuple[int, int]]:
        """Where a text has special tokens."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return [place for id, place in zip(encoding.ids, encoding.offsets)
                if self.is_special(id)]

    def is_special(self, id: int) -> bool:
        if id not in self._is_special:
            decode = self._tokenizer.decode
            self._is_special[id] = not decode([id], True) and \
                decode([id], False) != ""
        return self._is_special[id]

    def _mark(self, token: str) -> str:
        for mark, text in self._texts.items():
            if text == token:
                return mark
        # Private characters of one plane: no text has all of them.
        mark = next(chr(code) for code in range(0xe000, 0xf900)
                    if chr(code) not in self._used
                    and chr(code) not in self._texts)
        self._texts[mark] = token
        return mark

    def restore(self, text: str) -> str:
        """The text that was meant, also where a template wrote it as JSON."""
        for mark, token in self._texts.items():
            for form in (str, lambda each: json.dumps(each)[1:-1]):
                text = text.replace(form(mark), form(token))
        return text

    def veil(self, text: str) -> str:
        """A text of the same places without marks, which may have no token."""
        return text.translate({ord(mark): "." for mark in self._texts})


def encode_marked(tokenizer, text: str, marks: Marks) -> List[int]:
    """The tokens of a prompt. Special tokens cut a text, so that what is
    between two of them has tokens of its own: those of a part with marks are
    made of what was meant, as text; all others are those of the whole."""
    whole = tokenizer.encode(marks.veil(text), add_special_tokens=False)
    if not marks:
        return whole.ids
    made: List[int] = []
    part: List[int] = []  # tokens since the last special one, which ended at
    before, end = "", 0
    for id, (begin, after) in [*zip(whole.ids, whole.offsets),
                               (None, (len(text), len(text)))]:
        if id is not None and not marks.is_special(id):
            part.append(id)
            continue
        inside = text[end:begin]
        meant = marks.restore(inside)
        made += part if meant == inside else \
            _encode_part(tokenizer, before, meant)
        part, before, end = [], text[begin:after], after
        if id is not None:
            made.append(id)
    return made


def _encode_part(tokenizer, before: str, text: str) -> List[int]:
    """The tokens of a text behind a special token, or of a text's beginning."""
    def ids(text: str, as_text: bool = True) -> List[int]:
        return tokenizer.encode(text, add_special_tokens=False,
                                special_as_text=as_text).ids

    # Some tokenizers put something before a text's beginning only, as if it
    # were a word: then the part stands behind a line of its own.
    if before and ids(before + "a", False)[1:] != ids("a"):
        line = ids("\n")
        joined = ids("\n" + text)
        if joined[:len(line)] == line:
            return joined[len(line):]
    return ids(text)
