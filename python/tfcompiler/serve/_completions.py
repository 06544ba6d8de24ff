# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""POST /v1/completions: texts that go on, as OpenAI's clients ask for them."""
from __future__ import annotations

from typing import Any, AsyncIterator, Dict, List, Mapping, Optional, Sequence

from starlette.responses import JSONResponse

from tfcompiler.serve._answers import Reply, submit
from tfcompiler.serve._engine import Engine
from tfcompiler.serve._errors import ApiError
from tfcompiler.serve._fields import (Refused, Table, boolean,
                                      inputs, need, read_fields, whole)
from tfcompiler.serve._generation import (FIELDS, MOST_ANSWERS, MOST_LOGPROBS,
                                          draw_seed, includes_usage, question)
from tfcompiler.serve._grammar import form_of
from tfcompiler.serve._server import Server
from tfcompiler.serve._stream import EventStream

_MOST_PROMPTS = 128
COMPLETION: Table = {
    **FIELDS,
    "prompt": inputs(_MOST_PROMPTS),
    "logprobs": whole(0, MOST_LOGPROBS),
    "echo": boolean,
    "best_of": whole(1, MOST_ANSWERS),
    "suffix": Refused("expected no suffix: texts are not filled in"),
}


async def completions(server: Server, body: Mapping[str, Any], tenant: str):
    """The response. Raises ApiError, Error."""
    fields = read_fields(body, COMPLETION)
    engine = writer(server, fields)
    if fields.get("best_of", fields.get("n", 1)) != fields.get("n", 1) \
            and not fields.get("use_beam_search"):
        raise ApiError(400, "unsupported_value", "/best_of: expected n (or "
                       f"use_beam_search), got {fields['best_of']}", "/best_of")
    form = form_of(fields)
    prompts = await _prompts(server, engine, need(fields, "prompt")[1])
    seed = draw_seed(fields)
    wanted = fields.get("logprobs")
    echoes = fields.get("echo", False)
    asking = [question(
        engine, ids, fields, server.limits, tenant, seed,
        logprobs=0 if wanted is None else max(1, wanted),
        echo=echoes and wanted is not None) for ids in prompts]
    for each in asking:
        each.masks = await engine.masks(form, each.n)
    reply = _Completion(engine, submit(engine, asking), fields, server)
    headers = {"x-tfc-seed": str(seed)}
    if fields.get("stream"):
        return EventStream(reply.chunks(includes_usage(fields)), headers,
                           reply.cancel)
    return JSONResponse(await reply.whole(), headers=headers)


def writer(server: Server, fields: Mapping[str, Any]) -> Engine:
    """The model that is to write. Raises ApiError."""
    engine = server.engine(fields.get("model"))
    if not engine.generates:
        raise ApiError(400, "unsupported_value", "/model: expected a model "
                       f"that generates, got {engine.name}", "/model")
    return engine


async def _prompts(server: Server, engine: Engine, given: Sequence
                   ) -> List[Sequence[int]]:
    made: List[Sequence[int]] = []
    for number, prompt in enumerate(given):
        if not isinstance(prompt, str):
            made.append(prompt)
            continue
        encoding, = await engine.tokenize([prompt])
        made.append(encoding.ids)
    return made


class _Completion(Reply):
    """One response, whole or in chunks."""

    def __init__(self, *given):
        super().__init__(*given, "cmpl-")
        self.head["object"] = "text_completion"
        self._lengths = [0] * (len(self.asked) * self.n)  # of texts so far

    async def chunks(self, with_usage: bool) -> AsyncIterator[dict]:
        for index in range(len(self._lengths) if self._echoes else 0):
            yield self._chunk(index, self._prompt_text(index), None, None)
        prompts: Dict[int, list] = {}
        async for piece in self.pieces():
            if piece.prompt_logprobs:
                prompts.setdefault(piece.index, []).extend(
                    piece.prompt_logprobs)
            if piece.text or piece.finish or piece.logprobs:
                yield self._chunk(
                    piece.index, piece.text, piece.finish,
                    self._logprobs(piece.index, piece.tokens, piece.logprobs))
        more = await self.more()
        if with_usage:
            more["usage"] = self.usage()
        if more:
            yield {**self.head, "choices": [], **more}

    def _chunk(self, index, text, finish, logprobs) -> dict:
        return {**self.head, "choices": [
            {"index": index, "text": text, "finish_reason": finish,
             "logprobs": logprobs}]}

    async def whole(self) -> dict:
        count = len(self._lengths)
        texts, ends = [""] * count, [""] * count
        found: List[tuple] = [([], []) for _ in range(count)]
        prompts: Dict[int, list] = {}
        async for piece in self.pieces():
            texts[piece.index] += piece.text
            ends[piece.index] = piece.finish or ends[piece.index]
            found[piece.index][0].extend(piece.tokens)
            found[piece.index][1].extend(piece.logprobs)
            prompts.setdefault(piece.index // self.n, []).extend(
                piece.prompt_logprobs)
        choices = []
        for index in range(count):
            tokens, logprobs = found[index]
            if self._echoes:
                texts[index] = self._prompt_text(index) + texts[index]
                ids = list(self.asked[index // self.n][0].ids)
                known = prompts.get(index // self.n, [])
                first = [None] * (len(ids) - len(known))
                tokens, logprobs = ids + tokens, first + known + logprobs
            choices.append({
                "index": index, "text": texts[index],
                "finish_reason": ends[index],
                "logprobs": self._logprobs(index, tokens, logprobs)})
        return {**self.head, "choices": choices,
                "usage": self.usage(), **await self.more()}

    @property
    def _echoes(self) -> bool:
        return self.fields.get("echo", False)

    def _prompt_text(self, index: int) -> str:
        ids = self.asked[index // self.n][0].ids
        return self.engine.model.tokenizer.decode(list(ids))

    def _logprobs(self, index, tokens, logprobs) -> Optional[dict]:
        """As OpenAI's completions have them."""
        wanted = self.fields.get("logprobs")
        if wanted is None:
            return None
        made: Dict[str, list] = {"tokens": [], "token_logprobs": [],
                                 "top_logprobs": [], "text_offset": []}
        for token, each in zip(tokens, logprobs):
            text = self.texts.text(token)
            made["tokens"].append(text)
            made["token_logprobs"].append(None if each is None else each[0])
            made["top_logprobs"].append(None if each is None else {
                self.texts.text(other): value
                for other, value in each[1][:wanted]})
            made["text_offset"].append(self._lengths[index])
            self._lengths[index] += len(text)
        return made
