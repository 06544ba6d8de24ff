# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts as vectors of their tokens: POST /embed_all, scores by late
interaction, and what BGE-M3 gives beside its vector."""
from __future__ import annotations

import asyncio
from typing import Any, Dict, List, Mapping, Sequence

import numpy as np
from starlette.responses import JSONResponse

from tfcompiler._error import Error
from tfcompiler.serve._embeddings import (SHARED, expect_count, expect_texts,
                                          packed, times, too_long)
from tfcompiler.serve._engine import Engine, in_thread
from tfcompiler.serve._errors import ApiError
from tfcompiler.serve._fields import (Table, boolean, inputs, need, one_of,
                                      read_fields)
from tfcompiler.serve._late import DOCUMENT, QUERY, TokenText
from tfcompiler.serve._server import Server
from tfcompiler.serve._sparse import parts

_MOST = 1 << 20  # of texts, before the server's own bound
_TASKS = {"search_query": QUERY, "search_document": DOCUMENT,
          "passage": DOCUMENT}
ALL: Table = {
    **SHARED,
    "inputs": inputs(_MOST),
    "input_type": one_of(QUERY, DOCUMENT, *_TASKS),
    "truncate": boolean,
    "truncation_direction": one_of("right", "Right"),
    "encoding_format": one_of("float", "base64"),
}


async def embed_all(server: Server, body: Mapping[str, Any], tenant: str):
    """The vectors of each text's tokens. Raises ApiError, Error."""
    fields = read_fields(body, ALL)
    engine = server.engine(fields.get("model"))
    if engine.late is None:
        raise ApiError(424, "unsupported_value", "/model: expected a model "
                       "with a vector a token (ColBERT, BGE-M3; /embed gives "
                       f"one a text), got {engine.name}", "/model")
    texts = need(fields, "inputs")[1]
    expect_texts("/inputs", texts)
    task = fields.get("prompt_name", fields.get("input_type", DOCUMENT))
    rows = await token_vectors(server, engine, fields, texts,
                               _TASKS.get(task, task),
                               fields.get("truncate", server.truncates))
    if fields.get("encoding_format") == "base64":
        return JSONResponse([[packed(row) for row in each] for each in rows])
    return JSONResponse([each.tolist() for each in rows])


async def token_vectors(server: Server, engine: Engine,
                        fields: Mapping[str, Any], texts: Sequence[str],
                        task: str, truncate: bool) -> List[np.ndarray]:
    """float32 [vectors, width] of each text: the same bytes whoever else asks.
    Raises ApiError."""
    expect_count(server, len(texts))
    found = await _tokens(engine, texts, task, truncate)
    made: List[np.ndarray] = []
    async for states, part in _states(engine, found, fields):
        made += await asyncio.to_thread(
            lambda: [engine.late.vectors(*each) for each in zip(states, part)])
    return made


async def scores(server: Server, engine: Engine, query: str,
                 texts: Sequence[str], truncate: bool,
                 fields: Mapping[str, Any]) -> np.ndarray:
    """How well each text answers, float32 [texts, 1]. Raises ApiError."""
    asked, = await token_vectors(server, engine, fields, [query], QUERY,
                                 truncate)
    rows = await token_vectors(server, engine, fields, texts, DOCUMENT,
                               truncate)
    return np.float32([[engine.late.score(asked, row)] for row in rows])


async def word_weights(engine: Engine, fields: Mapping[str, Any],
                       texts: Sequence[str], truncate: bool
                       ) -> List[Dict[int, float]]:
    """BGE-M3's weights of the tokens of each text. Raises ApiError."""
    found = await _tokens(engine, texts, DOCUMENT, truncate)
    made: List[Dict[int, float]] = []
    async for states, part in _states(engine, found, fields):
        made += [engine.late.weights(row, text.encoding.ids)
                 for row, text in zip(states, part)]
    return made


async def _tokens(engine: Engine, texts: Sequence[str], task: str,
                  truncate: bool) -> List[TokenText]:
    try:
        return await in_thread(sum(map(len, texts)), engine.late.tokenize,
                               texts, task=task, truncate=truncate)
    except Error as error:
        raise too_long(error) from None


async def _states(engine: Engine, found: Sequence[TokenText],
                  fields: Mapping[str, Any]):
    """The states of the tokens of some texts, and those texts."""
    width = next(port.width for port in engine.model.info.outputs
                 if port.name == "last_hidden_state")
    for part in parts(found, width):
        hidden = [each.unseen for each in part]
        made = await engine.encode(
            [each.encoding for each in part], ["last_hidden_state"],
            unseen=hidden if any(hidden) else None, **times(fields))
        yield made["last_hidden_state"], part
