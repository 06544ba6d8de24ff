# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""POST /v1/chat/completions: chats, as OpenAI's clients have them."""
from __future__ import annotations

from typing import Any, AsyncIterator, Dict, List, Mapping, Optional, Sequence

from starlette.responses import JSONResponse

from tfcompiler._error import Code, Error
from tfcompiler.serve._answers import Reply, submit
from tfcompiler.serve._completions import writer
from tfcompiler.serve._engine import Engine
from tfcompiler.serve._errors import ApiError, invalid
from tfcompiler.serve._fields import (Ignored, Reader, Refused, Table,
                                      boolean, listed, mapping, need, one_of,
                                      read_fields, text, whole)
from tfcompiler.serve._generation import (FIELDS, MOST_LOGPROBS, draw_seed,
                                          includes_usage, question)
from tfcompiler.serve._grammar import Form, expect_alone, form_of
from tfcompiler.serve._server import Server
from tfcompiler.serve._stream import EventStream
from tfcompiler.serve._tools import (MOST_TOOLS, ToolAnswer, ToolUse, call,
                                     call_form, choice, tool, tool_use)

_MOST_MESSAGES = 1000


def _content(pointer: str, value: Any) -> str:
    """A text, or a list of parts, which are texts."""
    if isinstance(value, str):
        return text(pointer, value)
    if not isinstance(value, list):
        raise invalid(pointer, "a text, or a list of parts", value)
    made = []
    for number, part in enumerate(value):
        at = f"{pointer}/{number}"
        fields = read_fields(part, {"type": one_of("text"), "text": text}, at)
        made.append(fields.get("text", ""))
    return "".join(made)


_MESSAGE: Table = {
    "role": text, "content": _content, "name": text,
    "refusal": Ignored(), "annotations": Ignored(), "audio": Ignored(),
    "reasoning_content": text,
    "tool_calls": listed(call, MOST_TOOLS, 1), "tool_call_id": text,
    "function_call": Refused("expected tool_calls, which took its place"),
}


def _message(pointer: str, value: Any) -> Dict[str, Any]:
    made = read_fields(value, _MESSAGE, pointer)
    if "role" not in made:
        raise invalid(f"{pointer}/role", "a text", None)
    made.setdefault("content", "")
    return made


def _no(what: str) -> Reader:
    """A field that may only say that it is not used."""
    def read(pointer: str, value: Any):
        if value in ([], "none", {}):
            return None
        raise ApiError(400, "unsupported_value",
                       f"{pointer}: expected no {what}", pointer)
    return read


CHAT: Table = {
    **FIELDS,
    "messages": listed(_message, _MOST_MESSAGES, 1),
    "max_completion_tokens": whole(1, 1 << 30),
    "logprobs": boolean,
    "top_logprobs": whole(0, MOST_LOGPROBS),
    "add_generation_prompt": boolean,
    "continue_final_message": _no("continued message"),
    "chat_template_kwargs": mapping,
    "tools": listed(tool, MOST_TOOLS),
    "tool_choice": choice,
    "parallel_tool_calls": boolean,
    "verbosity": Ignored(),
    "functions": Refused("expected tools, which took its place"),
    "function_call": Refused("expected tools, which took its place"),
    "audio": Refused("expected texts only"),
    "modalities": listed(one_of("text"), 1),
    "reasoning_effort": Refused("expected chat_template_kwargs with what the "
                                "model's template asks for"),
    "web_search_options": Refused("expected no search of the web"),
}


async def chat(server: Server, body: Mapping[str, Any], tenant: str):
    """The response. Raises ApiError, Error."""
    fields = dict(read_fields(body, CHAT))
    engine = writer(server, fields)
    _join_max_tokens(fields)
    wanted = fields.get("logprobs", False)
    if fields.get("top_logprobs") and not wanted:
        raise ApiError(400, "invalid_value", "/top_logprobs: expected it with "
                       "logprobs true", "/top_logprobs")
    use = tool_use(engine, fields, server.tool_format)
    seed = draw_seed(fields)
    asking = question(
        engine, await _prompt(engine, fields, use), fields, server.limits,
        tenant, seed,
        logprobs=max(1, fields.get("top_logprobs", 0)) if wanted else 0)
    asking.masks = await engine.masks(_form(engine, fields, use), asking.n)
    # The marks of calls are special tokens in some vocabularies.
    asking.keeps_special = use is not None
    reply = _Chat(use, engine, submit(engine, [asking]), fields, server)
    headers = {"x-tfc-seed": str(seed)}
    if fields.get("stream"):
        return EventStream(reply.chunks(includes_usage(fields)), headers,
                           reply.cancel)
    return JSONResponse(await reply.whole(), headers=headers)


def _form(engine: Engine, fields: Mapping[str, Any],
          use: Optional[ToolUse]) -> Optional[Form]:
    """What a grammar is to enforce. Raises ApiError."""
    form = form_of(fields)
    if use is None:
        return form
    if form is not None:
        raise ApiError(400, "unsupported_value", f"{form.pointer}: expected "
                       "none beside tools, whose calls are no such text",
                       form.pointer)
    form = call_form(engine, use)
    if form is not None:
        expect_alone(form, fields)
    return form


def _join_max_tokens(fields: Dict[str, Any]) -> None:
    """max_tokens has two names."""
    newer = fields.pop("max_completion_tokens", None)
    if newer is None:
        return
    if fields.setdefault("max_tokens", newer) != newer:
        raise ApiError(400, "invalid_value", "/max_completion_tokens: expected"
                       " no other number than max_tokens has",
                       "/max_completion_tokens")


async def _prompt(engine: Engine, fields: Mapping[str, Any],
                  use: Optional[ToolUse]) -> Sequence[int]:
    messages = need(fields, "messages")
    if engine.model.info.kind == "encoder-decoder":
        return await _source(engine, messages)
    try:
        return await engine.prompt(
            messages,
            add_generation_prompt=fields.get("add_generation_prompt", True),
            tools=use and list(use.tools),
            **fields.get("chat_template_kwargs", {}))
    except Error as error:
        if error.code == Code.NOT_FOUND:
            raise ApiError(
                400, "unsupported_value", f"/messages: {engine.name} has no "
                "chat template (chat_template.jinja in its folder, or "
                "--chat-template); /v1/completions needs none", "/messages"
            ) from None
        if error.code in (Code.EXHAUSTED, Code.INVALID_ARGUMENT):
            raise ApiError(400, "template_failed", "/messages: expected what "
                           f"the chat template takes, got: {error}",
                           "/messages") from None
        raise
    except TypeError as error:  # a word that is taken
        raise ApiError(400, "invalid_value", "/chat_template_kwargs: expected "
                       f"words of the template, got: {error}",
                       "/chat_template_kwargs") from None


async def _source(engine: Engine, messages: List[Dict]) -> Sequence[int]:
    """Of a model that has no chats: what the user said last."""
    said = [each["content"] for each in messages if each["role"] == "user"]
    if not said:
        raise invalid("/messages", "a message of the user's", "none")
    encoding, = await engine.tokenize([said[-1]])
    return encoding.ids


def _answer_message(content: str, calls: List[dict]) -> dict:
    made = {"role": "assistant", "content": content, "refusal": None}
    if calls:
        made.update(content=content or None, tool_calls=calls)
    return made


class _Chat(Reply):
    """One response, whole or in chunks."""

    def __init__(self, use: Optional[ToolUse], *given):
        super().__init__(*given, "chatcmpl-")
        self._answers = [ToolAnswer(use) for _ in range(self.n)]

    async def chunks(self, with_usage: bool) -> AsyncIterator[dict]:
        for index in range(self.n):
            yield self._chunk(index, {"role": "assistant", "content": ""})
        counts = [0] * self.n  # of calls
        async for piece in self.pieces():
            at = piece.index
            made, calls, finish = self._answers[at].push(piece.text,
                                                         piece.finish)
            if made or piece.logprobs:
                yield self._chunk(at, {"content": made},
                                  logprobs=self._logprobs(piece.tokens,
                                                          piece.logprobs))
            for each in calls:
                yield self._chunk(at, {"tool_calls": [
                    {"index": counts[at], **each}]})
                counts[at] += 1
            if finish:
                yield self._chunk(at, {}, finish)
        more = await self.more()
        if with_usage:
            more["usage"] = self.usage()
        if more:
            yield {**self.head, "object": "chat.completion.chunk",
                   "choices": [], **more}

    def _chunk(self, index: int, delta: dict, finish: Optional[str] = None,
               logprobs: Optional[dict] = None) -> dict:
        return {**self.head, "object": "chat.completion.chunk", "choices": [
            {"index": index, "delta": delta, "logprobs": logprobs,
             "finish_reason": finish}]}

    async def whole(self) -> dict:
        texts, ends = [""] * self.n, [""] * self.n
        calls: List[list] = [[] for _ in range(self.n)]
        tokens: List[list] = [[] for _ in range(self.n)]
        logprobs: List[list] = [[] for _ in range(self.n)]
        async for piece in self.pieces():
            made, called, finish = self._answers[piece.index].push(
                piece.text, piece.finish)
            texts[piece.index] += made
            calls[piece.index] += called
            ends[piece.index] = finish or ends[piece.index]
            tokens[piece.index] += piece.tokens
            logprobs[piece.index] += piece.logprobs
        choices = [{
            "index": index,
            "message": _answer_message(texts[index], calls[index]),
            "logprobs": self._logprobs(tokens[index], logprobs[index]),
            "finish_reason": ends[index]} for index in range(self.n)]
        return {**self.head, "object": "chat.completion", "choices": choices,
                "usage": self.usage(), **await self.more()}

    def _logprobs(self, tokens, logprobs) -> Optional[dict]:
        """As OpenAI's chats have them."""
        if not self.fields.get("logprobs"):
            return None
        top = self.fields.get("top_logprobs", 0)
        return {"content": [
            {**self._named(token, each[0]), "top_logprobs": [
                self._named(*other) for other in each[1][:top]]}
            for token, each in zip(tokens, logprobs)], "refusal": None}

    def _named(self, token: int, logprob: float) -> dict:
        made, data = self.texts.pair(token)
        return {"token": made, "logprob": logprob, "bytes": data}
