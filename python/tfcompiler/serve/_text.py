# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of an answer as its tokens come, without the stop that ends it."""
from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

from tfcompiler._tokenizer import Tokenizer


class AnswerText:
    """stops: texts that end the answer and are not in it (keeps_stop: and are
    in it). What a stop may have begun with is held back."""

    def __init__(self, tokenizer: Tokenizer, stops: Sequence[str],
                 keeps_stop: bool, skip_special: bool = True):
        self._stream = tokenizer.stream(skip_special)
        self._stops = stops
        self._keeps = keeps_stop
        self._held = ""
        self.is_stopped = False

    def push(self, tokens: Sequence[int], is_last: bool) -> Tuple[str, int]:
        """What the text has more by these tokens, and how many of them it is
        of: none behind a stop."""
        if self.is_stopped:
            return "", 0
        for count, token in enumerate(tokens, 1):
            self._held += self._stream.push(token)
            if self._find():
                return self._take(len(self._held)), count
        if is_last:
            self._held += self._stream.finish()
            self._find()
            return self._take(len(self._held)), len(tokens)
        return self._take(len(self._held) - self._begun()), len(tokens)

    def _find(self) -> bool:
        """Cuts the text where the first stop is."""
        found = [(self._held.find(stop), -len(stop)) for stop in self._stops
                 if stop in self._held]
        if not found:
            return False
        at, length = min(found)
        self._held = self._held[:at - length if self._keeps else at]
        self.is_stopped = True
        return True

    def _begun(self) -> int:
        """Characters at the end with which a stop may begin."""
        most = 0
        for stop in self._stops:
            for length in range(min(len(stop) - 1, len(self._held)), most, -1):
                if self._held.endswith(stop[:length]):
                    most = length
                    break
        return most

    def _take(self, length: int) -> str:
        taken, self._held = self._held[:length], self._held[length:]
        return taken


class TokenTexts:
    """Tokens as texts of their own, for lists of probabilities."""

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer

    def text(self, token: int) -> str:
        """As the tokenizer decodes it alone."""
        return self._tokenizer.decode([token], skip_special=False)

    def pair(self, token: int) -> Tuple[str, Optional[List[int]]]:
        """The text and its bytes, which are not known of a token that is a
        part of a character."""
        made = self.text(token)
        return made, (None if "\ufffd" in made else list(made.encode()))
