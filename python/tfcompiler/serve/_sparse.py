# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""POST /embed_sparse: texts as weights of words, as text-embeddings-inference
has them."""
from __future__ import annotations

import asyncio
from typing import Any, Dict, List, Mapping, Sequence

import numpy as np
from starlette.responses import JSONResponse

from tfcompiler._tokenizer import Encoding
from tfcompiler.serve._embeddings import SHARED, encodings, expect_count, times
from tfcompiler.serve._engine import Engine
from tfcompiler.serve._errors import ApiError
from tfcompiler.serve._fields import (Table, boolean, inputs, need, one_of,
                                      read_fields)
from tfcompiler.serve._server import Server

_MOST = 1 << 20  # of texts, before the server's own bound
# Bytes of logits at a time: those of a request may be many gigabytes.
_BYTES = 64 << 20
SPARSE: Table = {
    **SHARED,
    "inputs": inputs(_MOST),
    "truncate": boolean,
    "truncation_direction": one_of("right", "Right"),
}


async def embed_sparse(server: Server, body: Mapping[str, Any], tenant: str):
    """The words of each text that weigh something, by their tokens' ids.
    Raises ApiError, Error."""
    fields = read_fields(body, SPARSE)
    engine = server.engine(fields.get("model"))
    if engine.sparse is None:
        raise ApiError(424, "unsupported_value", "/model: expected a model "
                       "that weighs words (a masked language model with "
                       f"SpladePooling in its modules.json), got {engine.name}",
                       "/model")
    texts = need(fields, "inputs")[1]
    expect_count(server, len(texts))
    found = await encodings(server, engine, engine.sparse, fields, texts,
                            fields.get("truncate", server.truncates))
    made: List[List[Dict[str, Any]]] = []
    for part in _parts(engine, found):
        values = await engine.encode(part, ["logits"], **times(fields))
        made += await asyncio.to_thread(_weights, engine, values["logits"],
                                        [len(each) for each in part])
        del values
    return JSONResponse(made)


def _parts(engine: Engine, found: Sequence[Encoding]):
    """Texts so many at a time that their padded logits have room."""
    width = next(port.width for port in engine.model.info.outputs
                 if port.name == "logits")
    part: List[Encoding] = []
    longest = 0
    for each in found:
        longest = max(longest, len(each))
        if part and (len(part) + 1) * longest * width * 4 > _BYTES:
            yield part
            part, longest = [], len(each)
        part.append(each)
    yield part


def _weights(engine: Engine, logits: np.ndarray, counts: Sequence[int]
             ) -> List[List[Dict[str, Any]]]:
    made = []
    for row, count in zip(logits, counts):
        weights = engine.sparse.weights(row[:count])
        made.append([{"index": index, "value": float(weights[index])}
                     for index in np.flatnonzero(weights).tolist()])
    return made
