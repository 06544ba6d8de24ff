# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sequences that advance together: continuous batching."""
from __future__ import annotations

import ctypes as c
import enum
import functools
import threading
from dataclasses import dataclass
from typing import (TYPE_CHECKING, Callable, Dict, Iterator, List, Mapping,
                    Optional, Sequence, Tuple, Union)

from tfcompiler import _structs as s
from tfcompiler._decoding import (EndTokens, biases, decoding_options,
                                  new_tokens, token_lists)
from tfcompiler._draft import draft_pointer
from tfcompiler._error import Code, Error
from tfcompiler._handle import Closes, Handle, Unique
from tfcompiler._library import Interrupt, runtime
from tfcompiler._logits import LogitsHook, OnLogits
from tfcompiler._numbers import UINT32, UINT64, ids_array, integer
from tfcompiler._written import Written

if TYPE_CHECKING:
    from tfcompiler._model import Model

Prompt = Union[str, Sequence[int]]


class State(enum.IntEnum):
    """How a sequence is after a token."""

    RUNNING = 0
    ENDED = 1  # with an end token
    LENGTH_REACHED = 2  # max_new_tokens
    STOPPED = 3  # with one of its stops
    FAILED = 4  # without a token; NewToken.fault says why


class Fault(enum.IntEnum):
    """Why a sequence has no next token. Others are not harmed."""

    NONE_ALLOWED = 1  # on_logits, biases or options forbid every token
    NOT_A_NUMBER = 2  # a score is a NaN
    NO_EMBEDDING = 3  # the model gave a token that it cannot take
    NO_ROOM = 4  # it needs more than the whole cache can hold


@dataclass(frozen=True)
class NewToken:
    """A sequence's next token. text: what its text has more by it, "" where
    none is wanted; logprob: the natural logarithm of the token's probability,
    and likeliest: (token, logprob) of the likeliest ones, where asked for. A
    sequence that has FAILED has the token -1, and a fault."""

    sequence: int
    token: int
    state: State
    text: str = ""
    logprob: Optional[float] = None
    likeliest: Tuple[Tuple[int, float], ...] = ()
    fault: Optional[Fault] = None

    @property
    def is_last(self) -> bool:
        return self.state != State.RUNNING

    def expect_token(self) -> None:
        """Raises Error (INVALID_ARGUMENT, with the fault) where the sequence
        has FAILED."""
        if self.state == State.FAILED:
            why = self.fault.name if self.fault else "no reason"
            raise Error(Code.INVALID_ARGUMENT, "expected a next token of "
                        f"sequence {self.sequence}, got {why}")


@dataclass(frozen=True)
class SessionInfo:
    """n_sequences: that have not ended, n_paused of them paused; bytes of the
    cache that they have, and the most there can be; tokens that were guessed
    (max_drafts), and those of them that came."""

    n_sequences: int
    n_paused: int
    cache_bytes: int
    max_cache_bytes: int
    drafted_tokens: int = 0
    accepted_tokens: int = 0


class Session(Closes, Unique):
    """Sequences of a model that advance together, a token each a step (with
    max_drafts several); new
    ones may come and old ones go between two steps.

    max_cache_bytes: of keys and values; 0 for half of the memory there is.
    max_step_tokens: longer prompts go in over several steps; 0 for whole ones.
    max_drafts: guesses of a sequence's next tokens in a step, at most, looked
    up in its own text; a guess counts only if it is the token that comes, so
    nothing changes but the number of steps. 0, or with on_logits: none.
    draft: a smaller model with the same vocabulary, whose likeliest tokens are
    the guesses instead; max_drafts is 8 then, unless it is given.
    on_logits(sequence, logits) may change the logits float32 [vocabulary] in
    place before the next token is chosen; the array is the session's own and
    has these values only during the call. should_stop, asked several times a
    layer, ends a step with CANCELLED by returning True; nothing has happened
    then, and the next step does all of it.

    add, remove, pause and resume may be called from any thread, also during a
    step; step, fork and info from one thread at a time, and not from on_logits.
    The session may outlive its model. Raises Error (UNSUPPORTED: the model
    cannot generate; EXHAUSTED)."""

    def __init__(self, model: "Model", *, max_cache_bytes: int = 0,
                 max_step_tokens: int = 0, max_drafts: int = 0,
                 draft: Optional["Model"] = None,
                 on_logits: Optional[OnLogits] = None,
                 should_stop: Optional[Callable[[], bool]] = None):
        self._model = model
        self._lock = threading.RLock()  # of the next one
        self._written: Dict[int, Written] = {}
        self._pending: List[NewToken] = []
        self._is_idle = True
        self._interrupt = Interrupt(should_stop)
        self._logits = s.LOGITS() if on_logits is None else s.LOGITS(
            LogitsHook(on_logits, self._interrupt).call)
        options = s.SessionOptions(
            max_cache_bytes=integer("max_cache_bytes", max_cache_bytes,
                                    *UINT64),
            max_step_tokens=integer("max_step_tokens", max_step_tokens,
                                    *UINT64),
            should_stop=self._interrupt.ask, on_logits=self._logits,
            max_drafts=integer("max_drafts", max_drafts, *UINT64))
        library = runtime()
        self._handle = Handle("session", library.tfc_session_free)
        with model._handle as pointer, \
                draft_pointer(model, draft) as options.draft:
            library.tfc_session_create(pointer, c.byref(options),
                                       c.byref(self._handle.pointer))

    # ---- From any thread ----

    def add(self, prompt: Prompt, *, max_new_tokens: Optional[int] = None,
            eos_token_id="model", stop: Sequence[Prompt] = (),
            logprobs: int = 0,
            logit_bias: Optional[Mapping[int, float]] = None,
            decoder_input_ids: Optional[Sequence[int]] = None,
            head_rows: Sequence[int] = (),
            text: Optional[bool] = None, skip_special: bool = True,
            **words) -> int:
        """Adds a sequence, which the next step takes in, and gives its number.

        prompt: a text, or token ids. stop: texts behind which it ends, and
        lists of tokens. logprobs: how many of the likeliest tokens are
        reported with each new one. logit_bias: what is added to the logits of
        tokens; minus infinity forbids one. text: whether new tokens have
        texts; None: where the prompt is one. decoder_input_ids: of an
        encoder-decoder, what its decoder begins with. head_rows: the tokens
        that may come, where these are few (labels, choices): probabilities
        are among them, and steps of such sequences alone compute no other
        logits where the program can. Other words as in Model.generate; there are no beams. Raises Error."""
        tokens = ids_array(self._model.tokenize([prompt])[0].ids
                           if isinstance(prompt, str) else prompt, "prompt")
        begins = ids_array(() if decoder_input_ids is None
                           else decoder_input_ids, "decoder_input_ids")
        if max_new_tokens is None:
            max_new_tokens = self._model._most_new(
                0 if self._model.info.kind == "encoder-decoder"
                else len(tokens))
        texts = [each for each in _stops(stop) if isinstance(each, str)]
        wants_text = isinstance(prompt, str) if text is None else text
        written = Written(self._make_stream(skip_special)
                          if wants_text or texts else None, texts)
        decoding = self._decoding({"num_beams": 1, **words})
        stops, kept = token_lists([each for each in _stops(stop)
                                   if not isinstance(each, str)])
        bias = biases(logit_bias)
        columns = ids_array(head_rows, "head_rows")
        request = s.Request(
            tokens=_pointer(tokens), n_tokens=len(tokens),
            max_new_tokens=new_tokens(max_new_tokens),
            decoding=c.pointer(decoding), stops=stops, n_stops=len(kept),
            n_logprobs=integer("logprobs", logprobs, *UINT32),
            logit_bias=bias, n_logit_bias=len(bias),
            decoder_tokens=_pointer(begins) if len(begins) else None,
            n_decoder_tokens=len(begins),
            head_rows=_pointer(columns), n_head_rows=len(columns))
        EndTokens(eos_token_id).set_on(request)
        sequence = c.c_uint64()
        with self._handle as pointer, self._lock:
            runtime().tfc_session_add(pointer, c.byref(request),
                                      c.byref(sequence))
            self._written[sequence.value] = written
        return sequence.value

    def remove(self, sequence: int) -> None:
        """Takes a sequence out before its end; during a step, at the end of
        the step, which may still report a token of it. Raises Error
        (NOT_FOUND: no such sequence, or it has ended)."""
        self._call("tfc_session_remove", sequence)
        with self._lock:
            self._written.pop(sequence, None)

    def pause(self, sequence: int) -> None:
        """Gives a sequence's cache back and leaves it out of the steps, until
        it is resumed. Raises Error (NOT_FOUND)."""
        self._call("tfc_session_pause", sequence)

    def resume(self, sequence: int) -> None:
        """A paused sequence goes on with the tokens that it would have had
        without the pause. Raises Error (NOT_FOUND)."""
        self._call("tfc_session_resume", sequence)

    # ---- From one thread at a time ----

    def step(self) -> List[NewToken]:
        """One call of the model over all sequences: whole prompts of new ones,
        one token of the others. Gives the new tokens; those that ended have
        left the session. Raises Error: EXHAUSTED (pause or remove a sequence
        and try again), CANCELLED, INCOMPATIBLE; what on_logits raises comes
        after the step, whose tokens the next one gives."""
        with self._handle.alone() as pointer:
            if not self._pending:
                with self._interrupt:
                    result = s.StepResult()
                    runtime().tfc_session_step(pointer, c.byref(result))
                    self._is_idle = result.n_sequences == result.n_paused
                    self._pending = self._take_all(pointer, result)
            made, self._pending = self._pending, []
            return made

    def __iter__(self) -> Iterator[NewToken]:
        """The tokens of step after step, until nobody runs."""
        while True:
            made = self.step()
            yield from made
            if not made and self._is_idle:
                return

    def fork(self, sequence: int, **words) -> int:
        """Adds a sequence that goes on where another one is, and shares its
        cache until they differ; words as in add say how its tokens are chosen
        (seed=...), those that are not given as the model's. Without words both
        draw the same. Raises Error (NOT_FOUND)."""
        options = s.ForkOptions()
        if words:
            decoding = self._decoding({"num_beams": 1, **words})
            options.decoding = c.pointer(decoding)
        made = c.c_uint64()
        number = integer("sequence", sequence, *UINT64)
        with self._handle.alone() as pointer, self._lock:
            runtime().tfc_session_fork(pointer, number, c.byref(options),
                                       c.byref(made))
            self._written[made.value] = self._written[number].fork()
        return made.value

    @property
    def info(self) -> SessionInfo:
        """What it holds."""
        info = s.SessionInfo()
        with self._handle.alone() as pointer:
            runtime().tfc_session_get_info(pointer, c.byref(info))
        return SessionInfo(info.n_sequences, info.n_paused, info.cache_bytes,
                           info.max_cache_bytes, info.drafted_tokens,
                           info.accepted_tokens)

    def _call(self, name: str, sequence: int) -> None:
        number = integer("sequence", sequence, *UINT64)
        with self._handle as pointer:
            getattr(runtime(), name)(pointer, number)

    def _make_stream(self, skip_special: bool) -> Callable:
        tokenizer = self._model.tokenizer
        if not hasattr(tokenizer, "stream"):
            raise Error(Code.UNSUPPORTED, "expected a tokenizer with stream(), "
                        "for text as it comes, got "
                        f"{type(tokenizer).__name__}")
        return functools.partial(tokenizer.stream, skip_special)

    def _decoding(self, words: dict) -> s.DecodingOptions:
        with self._model._handle as pointer:
            return decoding_options(pointer, words)

    def _take_all(self, pointer, result: s.StepResult) -> List[NewToken]:
        """A step's new tokens, without those behind a stop in a text, which
        are not the sequence's any more."""
        made: List[NewToken] = []
        ended = set()
        for index in range(result.n_tokens):
            if result.tokens[index].sequence not in ended:
                made.append(self._take(pointer, result, index))
                if made[-1].is_last:
                    ended.add(made[-1].sequence)
        return made

    def _take(self, pointer, result: s.StepResult, index: int) -> NewToken:
        """A new token of a step; a stop in its text ends its sequence."""
        new = result.tokens[index]
        number, state, text = new.sequence, State(new.state), ""
        with self._lock:
            written = self._written.get(number)
            if written is not None and state != State.FAILED:
                text, is_stopped = written.push(
                    new.token, state == State.ENDED, state != State.RUNNING)
                if is_stopped:
                    if state == State.RUNNING:
                        _remove(pointer, number)
                    state = State.STOPPED
            if state != State.RUNNING:
                self._written.pop(number, None)
        return NewToken(number, new.token, state, text,
                        *_logprobs(result, index), _fault(result, number))


def _stops(stop: Sequence[Prompt]) -> Sequence[Prompt]:
    """A text alone is one stop."""
    return [stop] if isinstance(stop, str) else stop


def _remove(pointer, number: int) -> None:
    """Another thread may have been faster."""
    try:
        runtime().tfc_session_remove(pointer, number)
    except Error as error:
        if error.code != Code.NOT_FOUND:
            raise


def _pointer(ids):
    return c.cast(ids, c.POINTER(c.c_int64))


def _logprobs(result: s.StepResult, index: int):
    """A new token's logprob and the likeliest ones', as far as asked for."""
    if not result.logprobs or not result.logprobs[index].n:
        return None, ()
    made = result.logprobs[index]
    return made.chosen, tuple(zip(made.tokens[:made.n], made.values[:made.n]))


def _fault(result: s.StepResult, number: int) -> Optional[Fault]:
    for fault in result.faults[:result.n_faults]:
        if fault.sequence == number:
            return Fault(fault.reason)
    return None
