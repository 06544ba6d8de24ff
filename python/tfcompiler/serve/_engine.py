# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model that is served: its scheduler, its tokenizer, and what it can do."""
from __future__ import annotations

import asyncio
import functools
import hashlib
import json
import time
from typing import (Any, AsyncIterator, Dict, List, Optional, Sequence,
                    Union)

import numpy as np

from tfcompiler._error import Code, Error
from tfcompiler._model import Model
from tfcompiler._scheduler import Finish, Job, Piece, Scheduler
from tfcompiler._sentence import SentenceEncoder
from tfcompiler._tokenizer import Encoding
from tfcompiler.serve._errors import ApiError, from_error, hide
from tfcompiler.serve._grammar import Form, Grammars, Masks
from tfcompiler.serve._late import BgeM3, ColBert
from tfcompiler.serve._listener import Listener
from tfcompiler.serve._modules import SparseEncoder, YesOrNo, read_modules
from tfcompiler.serve._question import Question, Tally, TextPiece
from tfcompiler.serve._text import AnswerText

_INLINE = 2000  # characters that are tokenized without a thread


class Engine:
    """model: any kind. words: of Scheduler. Leaving its `with` closes both."""

    def __init__(self, name: str, model: Model, *,
                 chat_template: Optional[str] = None, **words):
        self.name = name
        self.model = model
        self.created = int(time.time())
        for path in (model._loaded_by[0], *model.weights, model.folder):
            if path is not None:
                hide(path, name)
        self.config = _read_json(model, "config.json")
        modules = read_modules(model.folder)
        kinds = {kind for kind, _ in modules}
        self.sparse = SparseEncoder(model) if "SpladePooling" in kinds \
            and self._has_rows("logits") else None
        self.judge = YesOrNo(model, modules) if "LogitScore" in kinds \
            and self.generates else None
        self.late = self._late_interaction(modules)
        self.encoder = None if self.sparse or isinstance(
            self.late, ColBert) else self._sentence_encoder()
        self.grammars = Grammars(model)
        self._template_text = chat_template
        self.listener = Listener(model) if model.hears else None
        self.scheduler = Scheduler(model, **words)

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *raised) -> None:
        self.scheduler.close()
        if self.listener:
            self.listener.close()
        self.model.close()

    @property
    def n_jobs(self) -> int:
        """That have not ended."""
        return self.scheduler.stats.n_jobs + (
            self.listener.n_jobs if self.listener else 0)

    # ---- What it can do ----

    @property
    def generates(self) -> bool:
        return self.model.info.can_generate

    @property
    def embeds(self) -> bool:
        return self.encoder is not None

    @property
    def classifies(self) -> bool:
        """Whether it gives a text, or two, one row of logits."""
        return self.model.info.kind == "encoder" and any(
            port.name == "logits" and port.rank == 2
            for port in self.model.info.outputs)

    def _has_rows(self, name: str) -> bool:
        """Whether it gives a text a row of that output for each token."""
        return self.model.info.kind == "encoder" and any(
            port.name == name and port.rank == 3
            for port in self.model.info.outputs)

    @property
    def labels(self) -> int:
        """Of a classifier: how many it tells apart."""
        return next(port.width for port in self.model.info.outputs
                    if port.name == "logits")

    @property
    def reranks(self) -> bool:
        """Whether it scores pairs of texts by one number."""
        return self.judge is not None or self.late is not None or \
            self.classifies and self.labels == 1

    @property
    def activation(self) -> str:
        """What the folder says a cross-encoder's logit goes through; ""
        where it says nothing."""
        named = self.config.get("sentence_transformers") or {}
        return str(named.get("activation_fn") or self.config.get(
            "sbert_ce_default_activation_function") or "")

    @functools.cached_property
    def fingerprint(self) -> str:
        """Another one where answers may be others."""
        info = self.model.info
        made = hashlib.sha256("\0".join(
            (info.spec, info.program, info.producer)).encode())
        return "tfc_" + made.hexdigest()[:12]

    @property
    def m3(self) -> Optional[BgeM3]:
        """Of a model that gives a vector, weights of words and vectors of
        tokens."""
        return self.late if isinstance(self.late, BgeM3) else None

    def _late_interaction(self, modules) -> Union[ColBert, BgeM3, None]:
        """Who makes vectors of tokens, where the folder says that."""
        if not self._has_rows("last_hidden_state"):
            return None
        told = _read_json(self.model, "config_sentence_transformers.json")
        kind = told.get("model_type") if isinstance(told, dict) else None
        if kind in ("ColBERT", "MultiVectorEncoder") or any(
                name == "MultiVectorMask" for name, _ in modules):
            return ColBert(self.model, modules)
        return BgeM3(self.model) if BgeM3.is_in(self.model.folder) else None

    def _sentence_encoder(self) -> Optional[SentenceEncoder]:
        found = {port.name for port in self.model.info.outputs}
        if self.model.info.kind != "encoder" or not found & {
                "last_hidden_state", "sentence_embedding"}:
            return None
        return SentenceEncoder(self.model)

    @functools.cached_property
    def environment(self) -> Dict[str, Any]:
        """What its answers depend on, for receipts; the first time it reads all
        of the weights. Raises Error."""
        from tfcompiler.serve._receipt import environment
        return environment(self.model)

    # ---- Texts ----

    async def tokenize(self, texts: Sequence[str],
                       pairs: Optional[Sequence[str]] = None, **how
                       ) -> List[Encoding]:
        """As Model.tokenize; long texts in a thread."""
        return await in_thread(
            sum(map(len, texts)) + sum(map(len, pairs or ())),
            self.model.tokenize, list(texts), pairs and list(pairs), **how)

    async def prompt(self, messages: Sequence[Dict], **how) -> List[int]:
        """The tokens of a chat. Raises Error."""
        return await asyncio.to_thread(self._render, messages, how)

    def template_text(self, has_tools: bool) -> str:
        """The template of chats with tools, or without; "" where there is
        none. Raises Error."""
        if self._template_text is not None:
            return self._template_text
        try:
            return self.model._template.text_for(has_tools)
        except Error as error:
            if error.code != Code.NOT_FOUND:
                raise
            return ""

    def _render(self, messages, how) -> List[int]:
        if self._template_text is not None:
            how["chat_template"] = self._template_text
        return self.model.apply_chat_template(messages, **how)

    # ---- Answers ----

    async def masks(self, form: Optional[Form], count: int
                    ) -> Optional[Masks]:
        """What enforces a form in so many answers. Raises ApiError."""
        if form is None:
            return None
        return await asyncio.to_thread(self.grammars.masks, form, count)

    def submit(self, question: Question) -> Job:
        """Raises ApiError."""
        self._expect_room(question)
        masks = question.masks
        try:
            job = self.scheduler.submit(
                question.ids, n=question.n, needs_mask=masks is not None,
                **question.words)
        except Error as error:
            raise from_error(error) from None
        try:
            for index in range(question.n if masks else 0):
                job.set_mask(index, 0, masks.next(index, ()))
        except BaseException:
            job.cancel()
            raise
        return job

    def _expect_room(self, question: Question) -> None:
        most = self.model.info.max_positions
        count = len(question.ids)
        new = question.words.get("max_new_tokens") or 0
        needed = max(count, new) \
            if self.model.info.kind == "encoder-decoder" else count + new
        if most and needed > most:
            raise ApiError(
                400, "context_length_exceeded", f"expected at most {most} "
                f"tokens with max_tokens {new}, got {needed}", "/max_tokens")

    async def answers(self, question: Question, job: Job, tally: Tally
                      ) -> AsyncIterator[TextPiece]:
        """The texts of a job's answers as they come, and at the end what they
        cost. Leaving it cancels the job. Raises ApiError where an answer has
        failed."""
        tokenizer = self.model.tokenizer
        texts = [AnswerText(tokenizer, question.stops, question.keeps_stop,
                            not question.keeps_special)
                 for _ in range(question.n)]
        left = question.n
        masks = question.masks
        counts = [0] * question.n  # of tokens
        try:
            async for piece in job:
                if masks and piece.tokens:
                    counts[piece.index] += len(piece.tokens)
                    self._give_mask(job, masks, piece, counts[piece.index])
                if piece.is_last and piece.usage and not piece.index:
                    tally.prompt_tokens = piece.usage.prompt_tokens
                    tally.cached_tokens = piece.usage.cached_tokens
                if piece.usage:
                    tally.preemptions += piece.usage.preemptions
                    tally.queue_seconds = max(tally.queue_seconds,
                                              piece.usage.queue_seconds)
                text = texts[piece.index]
                if text.is_stopped:
                    continue
                if piece.error is not None:
                    raise from_error(piece.error)
                made = self._text_piece(piece, text, tally)
                if masks:
                    masks.add(made.index, made.text, made.finish)
                yield made
                left -= made.finish is not None
                if not left:
                    job.cancel()  # a stop is a text, of which it knows nothing
        finally:
            job.cancel()

    def _give_mask(self, job: Job, masks: Masks, piece: Piece, count: int
                   ) -> None:
        """That of the token behind these."""
        if piece.tokens[-1] not in self.model.info.eos:
            job.set_mask(piece.index, count,
                         masks.next(piece.index, piece.tokens))

    def _text_piece(self, piece: Piece, text: AnswerText, tally: Tally
                    ) -> TextPiece:
        ends = self.model.info.eos
        count = len(piece.tokens)
        if count and piece.tokens[-1] in ends:
            count -= 1
        new, count = text.push(piece.tokens[:count], piece.is_last)
        is_stopped = text.is_stopped
        tally.new_tokens += count if is_stopped else len(piece.tokens)
        return TextPiece(piece.index, new, piece.tokens[:count],
                         piece.logprobs[:count], piece.prompt_logprobs,
                         "stop" if is_stopped else finish_word(piece.finish))

    # ---- Encoders ----

    async def encode(self, encodings: Sequence[Encoding],
                     outputs: Sequence[str], **words
                     ) -> Dict[str, np.ndarray]:
        """The outputs of texts. Raises ApiError."""
        types = None
        if any(port.name == "token_type_ids"
               for port in self.model.info.inputs):
            types = [each.type_ids for each in encodings]
        try:
            job = self.scheduler.submit_encode(
                [each.ids for each in encodings], type_ids=types,
                outputs=outputs, **words)
        except Error as error:
            raise from_error(error) from None
        is_done = False
        try:
            made = await job.aarrays()
            is_done = True
            return made
        except Error as error:
            if error.code == Code.CANCELLED and "EXPIRED" in str(error):
                raise expired() from None
            raise from_error(error) from None
        finally:
            if not is_done:
                job.cancel()


async def in_thread(characters: int, function, *given, **words):
    """A call that takes as long as its texts are; of short ones at once."""
    if characters <= _INLINE:
        return function(*given, **words)
    return await asyncio.to_thread(function, *given, **words)


def expired() -> ApiError:
    return ApiError(504, "deadline", "expected an answer before its deadline, "
                    "got none")


def finish_word(finish: Optional[Finish]) -> Optional[str]:
    """As clients have it; None: it goes on. Raises ApiError where it ended
    before its end."""
    if finish is None:
        return None
    if finish == Finish.EXPIRED:
        raise expired()
    if finish == Finish.CANCELLED:
        raise ApiError(503, "draining", "expected an answer, got the end of "
                       "the server", retry_after=1)
    return "length" if finish == Finish.LENGTH else "stop"


def _read_json(model: Model, name: str) -> Dict[str, Any]:
    path = model.folder and model.folder / name
    if not path or not path.exists():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return {}
