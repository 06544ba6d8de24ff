# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Jobs that come at any time, answered together: what a server is built on."""
from __future__ import annotations

import asyncio
import ctypes as c
import enum
import threading
from collections import deque
from dataclasses import dataclass
from typing import (TYPE_CHECKING, Any, AsyncIterator, Deque, Dict, Iterator,
                    List, Mapping, Optional, Sequence, Tuple)

import numpy as np

from tfcompiler import _structs as s
from tfcompiler._arrays import from_outputs, names_array
from tfcompiler._decoding import (EndTokens, biases, decoding_options,
                                  new_tokens, token_lists)
from tfcompiler._draft import draft_pointer
from tfcompiler._error import Code, Error
from tfcompiler._handle import Closes, Handle, Unique
from tfcompiler._library import runtime
from tfcompiler._numbers import UINT32, UINT64, ids_array, integer

if TYPE_CHECKING:
    from tfcompiler._model import Model

# A token's logprob, and (token, logprob) of the likeliest ones.
Logprob = Tuple[float, Tuple[Tuple[int, float], ...]]
_TOKENS, _PROMPT, _DONE = 1, 2, 3
_WAIT_US = 50_000


class Finish(enum.IntEnum):
    """How an answer ended."""

    ENDED = 1  # with an end token
    LENGTH = 2  # max_new_tokens
    STOPPED = 3  # with one of its stops
    FAILED = 4  # Piece.error says why
    CANCELLED = 5
    EXPIRED = 6  # a deadline
    ENCODED = 7


@dataclass(frozen=True)
class Usage:
    """What an answer cost. Seconds; cached_tokens: of the prompt's, those that
    were remembered."""

    prompt_tokens: int
    cached_tokens: int
    new_tokens: int
    preemptions: int
    queue_seconds: float
    run_seconds: float


@dataclass(frozen=True)
class Piece:
    """What comes of a job: new tokens of answer `index`, with a Logprob each
    where asked for; or those of its prompt's tokens from number prompt_at on
    (echo); and with the last piece of an answer finish and usage."""

    index: int
    tokens: Tuple[int, ...] = ()
    logprobs: Tuple[Logprob, ...] = ()
    prompt_at: int = 0
    prompt_logprobs: Tuple[Logprob, ...] = ()
    finish: Optional[Finish] = None
    usage: Optional[Usage] = None
    error: Optional[Error] = None

    @property
    def is_last(self) -> bool:
        return self.finish is not None


@dataclass(frozen=True)
class Answer:
    """All of an answer, or why it is none."""

    tokens: Tuple[int, ...]
    logprobs: Tuple[Logprob, ...]
    prompt_logprobs: Tuple[Logprob, ...]
    finish: Finish
    usage: Usage
    error: Optional[Error]


@dataclass(frozen=True)
class SchedulerStats:
    """tfc_scheduler_stats, and its n_finished by Finish."""

    n_jobs: int
    n_waiting: int
    n_running: int
    queue_tokens: int
    cache_bytes: int
    remembered_bytes: int
    max_cache_bytes: int
    n_steps: int
    n_encodes: int
    prompt_tokens: int
    cached_tokens: int
    new_tokens: int
    encoded_tokens: int
    n_preemptions: int
    n_evictions: int
    n_finished: Dict[Finish, int]
    drafted_tokens: int
    accepted_tokens: int
    block_tokens: int
    max_blocks: int


class Job(Unique):
    """One that a Scheduler has taken. Iterate over it once, with `for` or with
    `async for`, from one thread or task: its pieces as they come, until each
    of its answers has ended. Leaving the loop early does not end the job:
    cancel() does."""

    def __init__(self, scheduler: "_Delivery", answers: int, encodes: bool):
        self._scheduler = scheduler
        self._encodes = encodes
        self._answers = answers
        self._coming = self._left = answers  # from the runtime; to the caller
        self._ready = threading.Condition()
        self._pieces: Deque[Piece] = deque()
        self._wake: Optional[Tuple[Any, asyncio.Event]] = None
        self.number = 0

    def cancel(self) -> None:
        """Each answer that has not ended gets a last piece, CANCELLED. Of a
        job that has ended nothing happens, but that outputs nobody took go."""
        if not self._coming and not self._encodes:
            return
        try:
            with self._scheduler.handle as pointer:
                runtime().tfc_scheduler_cancel(pointer, self.number)
        except Error as error:
            if error.code != Code.NOT_FOUND:
                raise

    def set_mask(self, index: int, position: int, mask: Any) -> None:
        """Of a job with needs_mask: which tokens may come as number `position`
        (from 0) of the new ones of answer `index`. mask: uint32 words, a bit a
        token, the lowest first. One for another position than the next is
        passed over, and so is one of a job that has ended. Raises Error."""
        words = np.ascontiguousarray(mask, np.uint32)
        try:
            with self._scheduler.handle as pointer:
                runtime().tfc_scheduler_set_mask(
                    pointer, self.number, integer("index", index, *UINT32),
                    integer("position", position, *UINT64),
                    words.ctypes.data_as(c.POINTER(c.c_uint32)), words.size)
        except Error as error:
            if error.code != Code.NOT_FOUND:
                raise

    def __iter__(self) -> Iterator[Piece]:
        while self._left:
            with self._ready:
                while not self._pieces:
                    self._ready.wait()
            yield self._next()

    async def __aiter__(self) -> AsyncIterator[Piece]:
        awake = asyncio.Event()
        with self._ready:
            self._wake = (asyncio.get_running_loop(), awake)
        while self._left:
            while not self._pieces:
                awake.clear()
                if not self._pieces:
                    await awake.wait()
            yield self._next()

    def result(self) -> List[Answer]:
        """Waits for all answers, by index."""
        return _answers(self._answers, list(self))

    async def aresult(self) -> List[Answer]:
        """The same without holding up the loop."""
        return _answers(self._answers, [piece async for piece in self])

    def arrays(self) -> Dict[str, np.ndarray]:
        """Of an encode job: waits, and gives what Model gives for these texts
        padded on the right. Raises the job's Error where there is none."""
        return self._outputs(self.result())

    async def aarrays(self) -> Dict[str, np.ndarray]:
        """The same without holding up the loop."""
        return self._outputs(await self.aresult())

    def _outputs(self, answers: List[Answer]) -> Dict[str, np.ndarray]:
        if not self._encodes:
            raise Error(Code.INVALID_ARGUMENT,
                        "expected a job of texts to encode, got another")
        if answers[0].finish != Finish.ENCODED:
            raise answers[0].error or Error(
                Code.CANCELLED, "expected a job that is done, got one that is "
                + answers[0].finish.name)
        outputs = c.c_void_p()
        with self._scheduler.handle as pointer:
            runtime().tfc_scheduler_take_outputs(pointer, self.number,
                                                 c.byref(outputs))
        return from_outputs(outputs)

    def _next(self) -> Piece:
        piece = self._pieces.popleft()
        if piece.error is not None and piece.finish is None:
            self._left = 0
            raise piece.error
        self._left -= piece.is_last
        return piece

    def _deliver(self, pieces: Sequence[Piece]) -> None:
        with self._ready:
            self._pieces.extend(pieces)
            self._ready.notify()
            wake = self._wake
        if wake is not None:
            try:
                wake[0].call_soon_threadsafe(wake[1].set)
            except RuntimeError:
                pass  # the loop is closed: nobody waits


class Scheduler(Closes, Unique):
    """Answers jobs of a model of any kind together, in a thread of the runtime.
    An answer never depends on who else asks.

    max_cache_bytes: of keys and values; max_step_tokens: what a long prompt
    holds up others by; max_batch_tokens: of texts that are encoded together;
    max_queue_tokens: of jobs that wait, beyond which others are refused; 0 for
    the runtime's own of each. prefix_cache: whether beginnings are remembered
    for jobs with the same salt. max_drafts, draft: as in Session. Raises Error
    (UNSUPPORTED, EXHAUSTED, INCOMPATIBLE).

    Everything may be called from any thread. Close it, or leave its `with`:
    jobs that have not ended raise Error (CANCELLED) in whoever iterates."""

    def __init__(self, model: "Model", *, max_cache_bytes: int = 0,
                 max_step_tokens: int = 0, max_batch_tokens: int = 0,
                 max_queue_tokens: int = 0, prefix_cache: bool = True,
                 max_drafts: int = 0, draft: Optional["Model"] = None):
        self._model = model
        numbers = {"max_cache_bytes": max_cache_bytes,
                   "max_step_tokens": max_step_tokens,
                   "max_batch_tokens": max_batch_tokens,
                   "max_queue_tokens": max_queue_tokens,
                   "max_drafts": max_drafts}
        options = s.SchedulerOptions(
            no_prefix_cache=not prefix_cache,
            **{name: integer(name, value, *UINT64)
               for name, value in numbers.items()})
        self.has_prefix_cache = bool(prefix_cache)
        library = runtime()
        self._handle = Handle("scheduler", library.tfc_scheduler_free)
        with model._handle as pointer, \
                draft_pointer(model, draft) as options.draft:
            library.tfc_scheduler_create(pointer, c.byref(options),
                                         c.byref(self._handle.pointer))
        self._delivery = _Delivery(self._handle)

    def submit(self, prompt: Sequence[int], *,
               max_new_tokens: Optional[int] = None, n: int = 1,
               priority: int = 0, salt: int = 0,
               queue_deadline: Optional[float] = None,
               deadline: Optional[float] = None, eos_token_id="model",
               stop: Sequence[Sequence[int]] = (), logprobs: int = 0,
               echo: bool = False,
               logit_bias: Optional[Mapping[int, float]] = None,
               decoder_input_ids: Optional[Sequence[int]] = None,
               head_rows: Sequence[int] = (),
               needs_mask: bool = False, **words) -> Job:
        """Token ids to go on from (of an encoder-decoder its source); n
        answers, which draw what Model.generate's num_return_sequences draw; with
        num_beams the best n of a search, all of each at once.
        The greater priority (-1000 to 1000) goes first. Seconds from now:
        queue_deadline to begin, deadline to end. stop: lists of tokens. echo:
        the prompt's own logprobs. needs_mask: each token waits until
        Job.set_mask says which may come. Other words as in Session.add, and
        presence_penalty and frequency_penalty. Raises Error: EXHAUSTED (too
        much waits; it can never fit), CANCELLED (draining)."""
        tokens = ids_array(prompt, "prompt")
        begins = ids_array(() if decoder_input_ids is None
                           else decoder_input_ids, "decoder_input_ids")
        if max_new_tokens is None:
            max_new_tokens = self._model._most_new(
                0 if self._model.info.kind == "encoder-decoder"
                else len(tokens))
        with self._model._handle as pointer:
            decoding = decoding_options(pointer, {"num_beams": 1, **words})
        stops, kept = token_lists(stop)
        bias = biases(logit_bias)
        columns = ids_array(head_rows, "head_rows")
        request = s.Request(
            tokens=_pointer(tokens), n_tokens=len(tokens),
            max_new_tokens=new_tokens(max_new_tokens),
            decoding=c.pointer(decoding), stops=stops, n_stops=len(kept),
            n_logprobs=integer("logprobs", logprobs, *UINT32),
            logit_bias=bias, n_logit_bias=len(bias),
            decoder_tokens=_pointer(begins) if len(begins) else None,
            n_decoder_tokens=len(begins), n=integer("n", n, 1, UINT32[1]),
            echo=bool(echo), head_rows=_pointer(columns),
            n_head_rows=len(columns))
        EndTokens(eos_token_id).set_on(request)
        options = s.JobOptions(
            request=c.pointer(request),
            priority=integer("priority", priority, -1000, 1000),
            needs_mask=bool(needs_mask),
            salt=integer("salt", salt, *UINT64),
            queue_deadline_us=_microseconds("queue_deadline", queue_deadline),
            deadline_us=_microseconds("deadline", deadline))
        return self._delivery.submit("tfc_scheduler_submit", options, n, False)

    def submit_encode(self, texts: Sequence[Sequence[int]], *,
                      type_ids: Optional[Sequence[Sequence[int]]] = None,
                      unseen: Optional[Sequence[int]] = None,
                      outputs: Optional[Sequence[str]] = None,
                      priority: int = 0,
                      queue_deadline: Optional[float] = None,
                      deadline: Optional[float] = None) -> Job:
        """Texts' token ids, to be encoded: Job.arrays() gives the outputs.
        unseen: of each text, how many of its last tokens see the others and are
        seen by none. Raises Error."""
        lists, kept = token_lists(texts)
        types, kept_types = token_lists(type_ids or ())
        if type_ids is not None and len(kept_types) != len(kept):
            raise Error(Code.INVALID_ARGUMENT, f"type_ids: expected {len(kept)}"
                        f" lists, one a text, got {len(kept_types)}")
        names = names_array(list(outputs or ()))
        if unseen is not None and len(unseen) != len(kept):
            raise Error(Code.INVALID_ARGUMENT, f"unseen: expected {len(kept)}"
                        f" numbers, one a text, got {len(unseen)}")
        hidden = None if unseen is None else (c.c_uint64 * len(kept))(
            *[integer("unseen", each, *UINT64) for each in unseen])
        options = s.EncodeJob(
            texts=lists, n_texts=len(kept),
            type_ids=None if type_ids is None else types,
            outputs=names if len(names) else None, n_outputs=len(names),
            priority=integer("priority", priority, -1000, 1000),
            queue_deadline_us=_microseconds("queue_deadline", queue_deadline),
            deadline_us=_microseconds("deadline", deadline), n_unseen=hidden)
        return self._delivery.submit("tfc_scheduler_submit_encode", options, 1,
                                     True)

    def drain(self, deadline: Optional[float] = None) -> None:
        """Refuses new jobs; those that are there have so many seconds to end,
        without a number as many as they need."""
        with self._handle as pointer:
            runtime().tfc_scheduler_drain(
                pointer, _microseconds("deadline", deadline))

    @property
    def stats(self) -> SchedulerStats:
        """Its counters."""
        stats = s.SchedulerStats()
        with self._handle as pointer:
            runtime().tfc_scheduler_get_stats(pointer, c.byref(stats))
        values = {name: getattr(stats, name)
                  for name, _ in stats._fields_[1:]}
        values["n_finished"] = {how: stats.n_finished[how] for how in Finish}
        return SchedulerStats(**values)

    def close(self) -> None:
        """Ends the step that runs and frees everything."""
        self._delivery.close()
        super().close()

    def __del__(self):
        if hasattr(self, "_delivery"):
            self.close()


class _Delivery:
    """Takes events from the runtime and puts pieces where they are waited for.
    The thread knows this alone, so that a scheduler nobody has goes."""

    def __init__(self, handle: Handle):
        self.handle = handle
        self._jobs: Dict[int, Job] = {}
        self._lock = threading.Lock()
        self._is_closed = False
        self._ended: Optional[Error] = None
        self._thread = threading.Thread(target=self._run, daemon=True,
                                        name="tfc-scheduler")
        self._thread.start()

    def submit(self, function: str, options, answers: int, encodes: bool):
        number = c.c_uint64()
        job = Job(self, answers, encodes)
        # Its events may come before this returns.
        with self.handle as pointer, self._lock:
            if self._ended is not None:
                raise self._ended
            getattr(runtime(), function)(pointer, c.byref(options),
                                         c.byref(number))
            job.number = number.value
            self._jobs[number.value] = job
        return job

    def close(self) -> None:
        self._is_closed = True
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        events = s.JobEvents()
        why = Error(Code.CANCELLED, "expected a scheduler that runs, got one "
                    "that was closed")
        try:
            while not self._is_closed:
                with self.handle as pointer:
                    runtime().tfc_scheduler_wait(pointer, _WAIT_US,
                                                 c.byref(events))
                    self._hand_over(events)
        except Error as error:
            why = error
        with self._lock:
            self._ended = why
            left, self._jobs = list(self._jobs.values()), {}
        for job in left:
            job._deliver([Piece(0, error=why)])

    def _hand_over(self, events: s.JobEvents) -> None:
        made: Dict[int, List[Piece]] = {}
        for event in events.events[:events.n_events]:
            made.setdefault(event.job, []).append(_piece(events, event))
        for number, pieces in made.items():
            with self._lock:
                job = self._jobs[number]
                job._coming -= sum(piece.is_last for piece in pieces)
                if not job._coming:
                    del self._jobs[number]
            job._deliver(pieces)


def _piece(events: s.JobEvents, event: s.JobEvent) -> Piece:
    span = slice(event.first, event.first + event.count)
    logprobs = tuple(
        (each.chosen, tuple(zip(each.tokens[:each.n], each.values[:each.n])))
        for each in (events.logprobs[span] if events.logprobs
                     and event.kind != _DONE else ()))
    if event.kind == _PROMPT:
        return Piece(event.index, prompt_at=event.at, prompt_logprobs=logprobs)
    if event.kind == _TOKENS:
        asked = any(each[1] for each in logprobs)
        return Piece(event.index, tuple(events.tokens[span]),
                     logprobs if asked else ())
    finish = Finish(event.finish)
    error = None
    if finish == Finish.FAILED:
        error = Error(Code(event.code),
                      event.message.decode("utf-8", "replace"))
    return Piece(event.index, finish=finish, error=error, usage=Usage(
        event.prompt_tokens, event.cached_tokens, event.new_tokens,
        event.preemptions, event.queue_us / 1e6, event.run_us / 1e6))


def _answers(count: int, pieces: Sequence[Piece]) -> List[Answer]:
    answers = []
    for index in range(count):
        own = [piece for piece in pieces if piece.index == index]
        last = own[-1]
        answers.append(Answer(
            tuple(token for piece in own for token in piece.tokens),
            tuple(each for piece in own for each in piece.logprobs),
            tuple(each for piece in own for each in piece.prompt_logprobs),
            last.finish, last.usage, last.error))
    return answers


def _microseconds(name: str, seconds: Optional[float]) -> int:
    if seconds is None:
        return 0
    if not 0 < seconds < 1e12:
        raise Error(Code.INVALID_ARGUMENT, f"{name}: expected seconds, more "
                    f"than 0, got {seconds!r}")
    return max(1, int(seconds * 1e6))


def _pointer(ids):
    return c.cast(ids, c.POINTER(c.c_int64))
