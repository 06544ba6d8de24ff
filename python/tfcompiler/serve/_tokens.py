# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts as tokens and back, for clients that count."""
from __future__ import annotations

from typing import Any, Mapping

from starlette.responses import JSONResponse

from tfcompiler.serve._engine import in_thread
from tfcompiler.serve._fields import (Table, boolean, listed, need,
                                      one_or_more, read_fields, text, whole)
from tfcompiler.serve._server import Server

_MOST = 2048
TOKENIZE: Table = {
    "model": text,
    "prompt": text,
    "inputs": one_or_more(text, _MOST),
    "add_special_tokens": boolean,
}
DETOKENIZE: Table = {"model": text,
                     "tokens": listed(whole(0, 2**31 - 1), 1 << 20)}


async def tokenize(server: Server, body: Mapping[str, Any], tenant: str):
    """vLLM's with `prompt`, that of text-embeddings-inference with `inputs`.
    Raises ApiError, Error."""
    fields = read_fields(body, TOKENIZE)
    engine = server.engine(fields.get("model"))
    is_many = "inputs" in fields
    texts = fields["inputs"] if is_many else [need(fields, "prompt")]
    made = await in_thread(
        sum(map(len, texts)), engine.model.tokenizer.encode_batch, texts,
        add_special_tokens=fields.get("add_special_tokens", True))
    if not is_many:
        return JSONResponse({
            "count": len(made[0]), "tokens": made[0].ids,
            "max_model_len": engine.model.info.max_positions or None})
    name = engine.model.tokenizer.id_to_token
    return JSONResponse([[
        {"id": id, "text": name(id), "special": sequence is None,
         "start": begin, "stop": end}
        for id, sequence, (begin, end) in zip(each.ids, each.sequences,
                                              each.offsets)]
        for each in made])


async def detokenize(server: Server, body: Mapping[str, Any], tenant: str):
    """vLLM's. Raises ApiError, Error."""
    fields = read_fields(body, DETOKENIZE)
    engine = server.engine(fields.get("model"))
    return JSONResponse({"prompt": engine.model.tokenizer.decode(
        need(fields, "tokens"))})
