# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts in the order in which they answer a query (Cohere's and Jina's rerank,
that of text-embeddings-inference), and texts in classes (/predict)."""
from __future__ import annotations

import uuid
from typing import Any, List, Mapping, Sequence

import numpy as np
from starlette.responses import JSONResponse

from tfcompiler._error import Error
from tfcompiler.serve._embeddings import expect_count, times
from tfcompiler.serve._engine import Engine
from tfcompiler.serve._errors import ApiError, from_error, invalid
from tfcompiler.serve._fields import (Ignored, Table, boolean, listed, mapping,
                                      need, one_of, read_fields, text, whole)
from tfcompiler.serve._generation import salt
from tfcompiler.serve._judge import judged
from tfcompiler.serve._server import Server

_MOST = 1 << 20  # of texts, before the server's own bound
_SHARED: Table = {"model": text, "priority": whole(-1000, 1000),
                  "deadline_ms": whole(1, 1 << 40), "user": Ignored()}


def _document(pointer: str, value: Any) -> str:
    """A text, or {"text": ...}."""
    if isinstance(value, dict):
        return need(read_fields(value, {"text": text}, pointer), "text")
    return text(pointer, value)


COHERE: Table = {
    **_SHARED,
    "query": text,
    "instruction": text,
    "documents": listed(_document, _MOST, 1),
    "top_n": whole(1, 1 << 30),
    "return_documents": boolean,
    "truncate": boolean,
    "max_chunks_per_doc": Ignored(),
    "max_tokens_per_doc": Ignored(),
}
TEI: Table = {
    **_SHARED,
    "query": text,
    "instruction": text,
    "texts": listed(text, _MOST, 1),
    "raw_scores": boolean,
    "return_text": boolean,
    "truncate": boolean,
    "truncation_direction": one_of("right", "Right"),
}
PREDICT: Table = {
    **_SHARED,
    "inputs": lambda pointer, value: value,
    "raw_scores": boolean,
    "truncate": boolean,
    "truncation_direction": one_of("right", "Right"),
    "parameters": mapping,
}


async def rerank(server: Server, body: Mapping[str, Any], tenant: str):
    """By its fields one or the other. Raises ApiError, Error."""
    if "texts" in body:
        return await _tei(server, read_fields(body, TEI), tenant)
    return await _cohere(server, read_fields(body, COHERE), tenant)


async def _tei(server: Server, fields: Mapping[str, Any], tenant: str):
    engine = _reranker(server, fields, 424)
    texts = need(fields, "texts")
    logits = await _of_query(server, engine, fields, texts,
                             fields.get("truncate", server.truncates), tenant)
    scores = logits[:, 0].astype(np.float64) if fields.get("raw_scores") \
        else _scores(engine, logits)
    made = []
    for index in _order(scores):
        made.append({"index": index, "score": float(scores[index])})
        if fields.get("return_text"):
            made[-1]["text"] = texts[index]
    return JSONResponse(made)


async def _cohere(server: Server, fields: Mapping[str, Any], tenant: str):
    engine = _reranker(server, fields, 400)
    texts = need(fields, "documents")
    scores = _scores(engine, await _of_query(
        server, engine, fields, texts, fields.get("truncate", True), tenant))
    made = []
    for index in _order(scores)[:fields.get("top_n")]:
        made.append({"index": index, "relevance_score": float(scores[index])})
        if fields.get("return_documents"):
            made[-1]["document"] = {"text": texts[index]}
    return JSONResponse({"id": str(uuid.uuid4()), "model": engine.name,
                         "results": made,
                         "meta": {"api_version": {"version": "2"},
                                  "billed_units": {"search_units": 1}}})


async def _of_query(server: Server, engine: Engine, fields: Mapping[str, Any],
                    texts: Sequence[str], truncate: bool, tenant: str
                    ) -> np.ndarray:
    """Each text's logit for the query, float32 [texts, 1]."""
    query = need(fields, "query")
    if engine.late is not None:
        from tfcompiler.serve._multi import scores
        return await scores(server, engine, query, texts, truncate, fields)
    if engine.judge is None:
        return await _logits(server, engine, [query] * len(texts), texts,
                             truncate, fields)
    expect_count(server, len(texts))
    return await judged(engine, query, texts, fields.get("instruction"),
                        {**times(fields), "salt": salt(tenant, "")})


async def predict(server: Server, body: Mapping[str, Any], tenant: str):
    """Classes of texts or of pairs, by score. Raises ApiError, Error."""
    fields = read_fields(body, PREDICT)
    engine = server.engine(fields.get("model"))
    if not engine.classifies:
        raise _wrong_kind(engine, "that classifies texts", 424)
    given = need(fields, "inputs")
    is_one = isinstance(given, str)
    rows = [_pair(f"/inputs/{i}", each) for i, each in enumerate(
        [given] if is_one else listed(lambda p, v: v, _MOST, 1)(
            "/inputs", given))]
    if len({len(row) for row in rows}) != 1:
        raise invalid("/inputs", "texts, or pairs of texts", "both")
    pairs = [row[1] for row in rows] if len(rows[0]) == 2 else None
    logits = await _logits(server, engine, [row[0] for row in rows], pairs,
                           fields.get("truncate", server.truncates), fields)
    top = fields.get("parameters", {}).get("top_k")
    made = [_classes(engine, row, fields.get("raw_scores", False))[:top]
            for row in logits]
    # Whoever sends parameters, huggingface_hub's client, wants a list of lists.
    return JSONResponse(made[0] if is_one and "parameters" not in fields
                        else made)


def _pair(pointer: str, value: Any) -> List[str]:
    return [text(pointer, value)] if isinstance(value, str) else \
        listed(text, 2, 1)(pointer, value)


def _reranker(server: Server, fields: Mapping[str, Any], status: int
              ) -> Engine:
    engine = server.engine(fields.get("model"))
    if not engine.reranks:
        raise _wrong_kind(engine, "that scores pairs of texts by one number "
                          "(a cross-encoder, one with LogitScore in its "
                          "modules.json, ColBERT, BGE-M3)", status)
    if "instruction" in fields and engine.judge is None:
        raise ApiError(400, "unsupported_value", "/instruction: expected none "
                       f"for {engine.name}, whose scores are of two texts",
                       "/instruction")
    return engine


def _wrong_kind(engine: Engine, expected: str, status: int) -> ApiError:
    return ApiError(status, "unsupported_value", "/model: expected a model "
                    f"{expected}, got {engine.name}", "/model")


async def _logits(server: Server, engine: Engine, texts: Sequence[str],
                  pairs, truncate: bool, fields: Mapping[str, Any]
                  ) -> np.ndarray:
    """float32 [texts, labels]."""
    expect_count(server, len(texts))
    try:
        encodings = await engine.tokenize(texts, pairs, truncate=truncate)
    except Error as error:
        if "expected at most" in str(error):
            raise ApiError(413, "context_length_exceeded", str(error)
                           + " (truncate cuts it)") from None
        raise from_error(error) from None
    made = await engine.encode(encodings, ["logits"], **times(fields))
    return made["logits"]


def _scores(engine: Engine, logits: np.ndarray) -> np.ndarray:
    """As sentence-transformers' CrossEncoder: the activation that the folder
    names, else a sigmoid."""
    values = logits[:, 0].astype(np.float64)
    if engine.late is not None:
        return values
    if engine.activation.endswith("Identity"):
        return values
    return 1 / (1 + np.exp(-values))


def _order(scores: np.ndarray) -> List[int]:
    """The greatest first; of equals the first."""
    return [int(index) for index in np.argsort(-scores, kind="stable")]


def _classes(engine: Engine, row: np.ndarray, is_raw: bool) -> List[dict]:
    """Labels by score: a softmax of several, a sigmoid of one or where each
    label is for itself."""
    values = row.astype(np.float64)
    kind = engine.config.get("problem_type")
    if not is_raw and kind != "regression":
        if len(values) == 1 or kind == "multi_label_classification":
            values = 1 / (1 + np.exp(-values))
        else:
            powers = np.exp(values - values.max())
            values = powers / powers.sum()
    names = engine.config.get("id2label") or {}
    return [{"label": names.get(str(index), f"LABEL_{index}"),
             "score": float(values[index])} for index in _order(values)]
