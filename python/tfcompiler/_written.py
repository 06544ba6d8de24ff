# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a sequence has written, as text, and where its stops are in it."""
from __future__ import annotations

from typing import Callable, List, Optional, Sequence, Tuple

from tfcompiler._numbers import refuse


class Written:
    """make_stream: gives a TextStream; None for no text. stops: texts behind
    which it ends."""

    def __init__(self, make_stream: Optional[Callable], stops: Sequence[str]):
        self._make_stream = make_stream
        self._stream = make_stream and make_stream()
        self._stops = list(stops)
        if "" in self._stops:
            raise refuse("stop", "texts that are not empty", "")
        self._tail = ""  # what a stop may have begun with
        self._tokens: List[int] = []  # that the stream got

    def push(self, token: int, is_end: bool, is_last: bool
             ) -> Tuple[str, bool]:
        """What the text has more by a token, and whether that ends with a
        stop, behind which it is cut. An end token is no text."""
        if self._stream is None:
            return "", False
        text = ""
        if not is_end:
            self._tokens.append(token)
            text = self._stream.push(token)
        if is_last:
            text += self._stream.finish()
        return self._cut(text)

    def _cut(self, text: str) -> Tuple[str, bool]:
        before = len(self._tail)
        self._tail += text
        ends = [self._tail.find(stop) + len(stop) for stop in self._stops
                if stop in self._tail]
        if ends:
            return self._tail[before:min(ends)], True
        most = max(map(len, self._stops), default=1) - 1
        self._tail = self._tail[-most:] if most else ""
        return text, False

    def fork(self) -> "Written":
        """Of a sequence that goes on where this one is."""
        made = Written(self._make_stream, self._stops)
        if made._stream is not None:
            for token in self._tokens:
                made._stream.push(token)
        made._tail, made._tokens = self._tail, list(self._tokens)
        return made
