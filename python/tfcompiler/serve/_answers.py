# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Answers of several questions as one sequence of pieces, timed."""
from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace
from typing import Any, AsyncIterator, List, Mapping, Optional, Sequence, Tuple

from tfcompiler._error import Error
from tfcompiler._scheduler import Job
from tfcompiler.serve._engine import Engine
from tfcompiler.serve._errors import ApiError, from_error
from tfcompiler.serve._ids import new_id
from tfcompiler.serve._metrics import Metrics
from tfcompiler.serve._question import Question, Tally, TextPiece
from tfcompiler.serve._receipt import Outputs, receipt
from tfcompiler.serve._server import Server
from tfcompiler.serve._text import TokenTexts
from tfcompiler.serve._traces import Times, epoch, origin, spans

Asked = Tuple[Question, Job]


class Reply:
    """A response that is being written: the pieces of its answers, and what
    stands before them in every object of it. prefix: of its id."""

    def __init__(self, engine: Engine, asked: Sequence[Asked],
                 fields: Mapping[str, Any], server: Server, prefix: str):
        self.engine, self.asked, self.fields = engine, asked, fields
        self.tally = Tally()
        self.texts = TokenTexts(engine.model.tokenizer)
        self.n = asked[0][0].n
        self.head = {"id": prefix + new_id(),
                     "created": int(time.time()), "model": engine.name,
                     "system_fingerprint": engine.fingerprint}
        self._metrics = server.metrics
        self._traces, self._origin = server.traces, origin.get()
        self._finishes: List[str] = []
        self._began = self._ended = time.monotonic()
        self._first: Optional[float] = None
        self._outputs = Outputs(self.n * len(asked)) \
            if fields.get("receipt") else None

    async def pieces(self) -> AsyncIterator[TextPiece]:
        """Of all answers."""
        source = pieces(self.engine, self.asked, self.tally, self._metrics)
        fault = "it did not come to its end"
        try:
            async with contextlib.aclosing(source) as found:
                async for piece in found:
                    if self._first is None and piece.tokens:
                        self._first = time.monotonic()
                    if piece.finish:
                        self._finishes.append(piece.finish)
                    if self._outputs:
                        self._outputs.add(piece)
                    yield piece
            fault = ""
        except ApiError as error:
            fault = error.code
            raise
        finally:
            self._ended = time.monotonic()
            if self._traces and self._origin:
                self._traces.add(self._spans(fault))

    def _spans(self, fault: str) -> List[dict]:
        base = epoch()
        ran = base + self._began + self.tally.queue_seconds
        times = Times(base + self._began, None if fault else ran,
                      self._first and base + self._first, base + self._ended)
        return spans(self._origin, times, {
            "gen_ai.operation.name": "chat" if self.head["id"].startswith(
                "chat") else "text_completion",
            "gen_ai.request.model": self.engine.name,
            "gen_ai.response.id": self.head["id"],
            "gen_ai.response.finish_reasons": self._finishes,
            "gen_ai.usage.input_tokens": self.tally.prompt_tokens,
            "gen_ai.usage.output_tokens": self.tally.new_tokens}, fault)

    async def more(self) -> dict:
        """What a request asked for beside the answer, once it is there:
        receipt, timings. Raises Error."""
        made: dict = {}
        if self.fields.get("timings"):
            made["timings"] = self._timings()
        if self._outputs:
            # Which reads all of the weights when it is first asked for.
            await asyncio.to_thread(getattr, self.engine, "environment")
            made["receipt"] = receipt(
                self.engine, [question for question, _ in self.asked],
                self._outputs, self.tally)
        return made

    def _timings(self) -> dict:
        """In milliseconds: until the answer that waited longest began, until
        the first token, and all; and tokens a second behind the first one."""
        first = self._ended if self._first is None else self._first
        behind = self._ended - first
        count = self.tally.new_tokens - 1
        return {"queue_ms": 1000 * self.tally.queue_seconds,
                "first_token_ms": 1000 * (first - self._began),
                "total_ms": 1000 * (self._ended - self._began),
                "tokens_per_second": count / behind
                if behind > 0 and count > 0 else None}

    def cancel(self) -> None:
        """Ends all that have not ended."""
        for _, job in self.asked:
            job.cancel()

    def usage(self) -> dict:
        """What it cost, as OpenAI's clients read it."""
        tally = self.tally
        return {
            "prompt_tokens": tally.prompt_tokens,
            "completion_tokens": tally.new_tokens,
            "total_tokens": tally.prompt_tokens + tally.new_tokens,
            "prompt_tokens_details": {"cached_tokens": tally.cached_tokens}}


def submit(engine: Engine, questions: Sequence[Question]) -> List[Asked]:
    """All of them, or none. Raises ApiError."""
    made: List[Asked] = []
    try:
        for question in questions:
            made.append((question, engine.submit(question)))
    except BaseException:
        for _, job in made:
            job.cancel()
        raise
    return made


async def pieces(engine: Engine, asked: Sequence[Asked], tally: Tally,
                 metrics: Metrics) -> AsyncIterator[TextPiece]:
    """The pieces of all answers as they come; answer i of question q has the
    index q * n + i. Leaving it cancels all of them. Raises ApiError."""
    began = latest = time.monotonic()
    is_first = True
    model = {"model_name": engine.name}
    source = _one(engine, 0, *asked[0], tally) if len(asked) == 1 else \
        _merged(engine, asked, tally)
    async with contextlib.aclosing(source) as found:
        async for piece in found:
            now = time.monotonic()
            metrics.observe("vllm:time_to_first_token_seconds" if is_first
                            else "vllm:inter_token_latency_seconds",
                            now - latest, **model)
            is_first, latest = False, now
            if piece.finish:
                metrics.count("vllm:request_success_total", **model,
                              finished_reason=piece.finish)
            yield piece
    metrics.observe("vllm:request_queue_time_seconds", tally.queue_seconds,
                    **model)
    metrics.observe("vllm:e2e_request_latency_seconds",
                    time.monotonic() - began, **model)


async def _one(engine: Engine, at: int, question: Question, job: Job,
               tally: Tally) -> AsyncIterator[TextPiece]:
    own = Tally()
    try:
        async with contextlib.aclosing(
                engine.answers(question, job, own)) as found:
            async for piece in found:
                yield piece if not at else replace(
                    piece, index=piece.index + at)
    except Error as error:  # the scheduler has ended
        raise from_error(error) from None
    tally.add(own)


async def _merged(engine: Engine, asked: Sequence[Asked], tally: Tally
                  ) -> AsyncIterator[TextPiece]:
    queue: asyncio.Queue = asyncio.Queue()

    async def pump(number: int, question: Question, job: Job) -> None:
        try:
            async for piece in _one(engine, number * question.n, question, job,
                                    tally):
                queue.put_nowait(piece)
            queue.put_nowait(None)
        except Exception as error:
            queue.put_nowait(error)

    tasks = [asyncio.ensure_future(pump(number, *each))
             for number, each in enumerate(asked)]
    try:
        left = len(tasks)
        while left:
            piece = await queue.get()
            if isinstance(piece, Exception):
                raise piece
            if piece is None:
                left -= 1
            else:
                yield piece
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
