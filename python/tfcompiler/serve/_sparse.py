# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""POST /embed_sparse: texts as weights of words, as text-embeddings-inference
has them."""
from __future__ import annotations

import asyncio
from typing import Any, Dict, List, Mapping, Sequence

import numpy as np
from starlette.responses import JSONResponse

from tfcompiler.serve._embeddings import (SHARED, encodings, expect_count,
                                          expect_texts, times)
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
    if engine.m3 is not None:
        return await _of_m3(server, engine, fields)
    if engine.sparse is None:
        raise ApiError(424, "unsupported_value", "/model: expected a model "
                       "that weighs words (a masked language model with "
                       "SpladePooling in its modules.json, BGE-M3), got "
                       f"{engine.name}",
                       "/model")
    texts = need(fields, "inputs")[1]
    expect_count(server, len(texts))
    found = await encodings(server, engine, engine.sparse, fields, texts,
                            fields.get("truncate", server.truncates))
    made: List[List[Dict[str, Any]]] = []
    width = next(port.width for port in engine.model.info.outputs
                 if port.name == "logits")
    for part in parts(found, width):
        values = await engine.encode(part, ["logits"], **times(fields))
        made += await asyncio.to_thread(_weights, engine, values["logits"],
                                        [len(each) for each in part])
        del values
    return JSONResponse(made)


async def _of_m3(server: Server, engine: Engine, fields: Mapping[str, Any]):
    from tfcompiler.serve._multi import word_weights
    texts = need(fields, "inputs")[1]
    expect_count(server, len(texts))
    expect_texts("/inputs", texts)
    made = await word_weights(engine, fields, texts,
                              fields.get("truncate", server.truncates))
    return JSONResponse([[{"index": index, "value": weight}
                          for index, weight in sorted(each.items())]
                         for each in made])


def parts(found: Sequence, width: int):
    """Texts so many at a time that their padded rows of so many numbers have
    room."""
    part: List[Any] = []
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
