# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is asked of a model, what comes of it, and what that cost."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Sequence, Tuple

from tfcompiler._scheduler import Logprob
from tfcompiler.serve._grammar import Masks


@dataclass
class Question:
    """What is to be answered. words: of Scheduler.submit."""

    ids: Sequence[int]
    n: int = 1
    stops: Sequence[str] = ()
    keeps_stop: bool = False
    words: Mapping[str, Any] = field(default_factory=dict)
    masks: Optional[Masks] = None  # that a grammar gives
    keeps_special: bool = False  # special tokens are text, the end excepted


@dataclass(frozen=True)
class TextPiece:
    """What comes of an answer: text, and the tokens that it is of, without
    those that end it."""

    index: int
    text: str
    tokens: Tuple[int, ...] = ()
    logprobs: Tuple[Logprob, ...] = ()
    prompt_logprobs: Tuple[Logprob, ...] = ()
    finish: Optional[str] = None  # "stop", "length"


@dataclass
class Tally:
    """What a question's answers cost, once they are all there."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    new_tokens: int = 0
    preemptions: int = 0
    queue_seconds: float = 0.0  # of the one that waited longest

    def add(self, other: "Tally") -> None:
        self.prompt_tokens += other.prompt_tokens
        self.cached_tokens += other.cached_tokens
        self.new_tokens += other.new_tokens
        self.preemptions += other.preemptions
        self.queue_seconds = max(self.queue_seconds, other.queue_seconds)
