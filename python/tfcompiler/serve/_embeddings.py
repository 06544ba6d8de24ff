# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts as vectors: OpenAI's /v1/embeddings, Cohere's /v2/embed, and /embed of
text-embeddings-inference."""
from __future__ import annotations

import base64
import uuid
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from starlette.responses import JSONResponse

from tfcompiler._error import Error
from tfcompiler._sentence import SentenceEncoder
from tfcompiler._tokenizer import Encoding
from tfcompiler.serve._engine import Engine, in_thread
from tfcompiler.serve._errors import ApiError, from_error, invalid
from tfcompiler.serve._fields import (Ignored, Refused, Table, boolean, inputs,
                                      listed, mapping, need, need_at, one_of,
                                      one_or_more, read_fields, text, whole)
from tfcompiler.serve._server import Server

_MOST = 1 << 20  # of texts, before the server's own bound
SHARED: Table = {
    "model": text, "prompt_name": text, "priority": whole(-1000, 1000),
    "deadline_ms": whole(1, 1 << 40),
    "user": Ignored(),
}
OPENAI: Table = {
    **SHARED,
    "input": inputs(_MOST),
    "encoding_format": one_of("float", "base64"),
    "dimensions": whole(1, 1 << 20),
    "input_type": text,
    "truncate": boolean,
    "return_sparse": boolean,
    "return_colbert_vecs": boolean,
}
TEI: Table = {
    **SHARED,
    "inputs": inputs(_MOST),
    "normalize": boolean,
    "truncate": boolean,
    "truncation_direction": one_of("right", "Right"),
    "dimensions": whole(1, 1 << 20),
    "encoding_format": one_of("float"),
    "parameters": mapping,
}
SIMILARITY: Table = {
    **SHARED,
    "inputs": lambda pointer, value: read_fields(value, {
        "source_sentence": text, "sentences": listed(text, _MOST, 1)},
        pointer),
    "parameters": lambda pointer, value: read_fields(value, {
        "truncate": boolean, "prompt_name": Refused(
            "expected prompt_name beside inputs")}, pointer),
}
COHERE: Table = {
    **SHARED,
    "texts": one_or_more(text, _MOST),
    "input_type": text,
    "embedding_types": listed(one_of("float", "base64"), 2, 1),
    "output_dimension": whole(1, 1 << 20),
    "truncate": one_of("NONE", "END"),
}
# What others call the folder's prompts.
_PROMPTS = {"search_query": ("query",),
            "search_document": ("document", "passage"),
            "query": ("query",), "document": ("document", "passage"),
            "passage": ("passage", "document")}


async def embeddings(server: Server, body: Mapping[str, Any], tenant: str):
    """OpenAI's. Raises ApiError, Error."""
    fields = read_fields(body, OPENAI)
    engine = embedder(server, fields)
    is_packed = fields.get("encoding_format") == "base64"
    beside = _beside(engine, fields, is_packed)
    rows, count = await vectors(
        server, engine, fields, need(fields, "input")[1],
        fields.get("truncate", server.truncates), fields.get("dimensions"),
        beside=beside)
    data = [{"object": "embedding", "index": index,
             "embedding": packed(row) if is_packed else row.tolist(),
             **(beside.made[index] if beside else {})}
            for index, row in enumerate(rows)]
    return JSONResponse({
        "object": "list", "data": data, "model": engine.name,
        "usage": {"prompt_tokens": count, "total_tokens": count}})


async def embed(server: Server, body: Mapping[str, Any], tenant: str):
    """That of text-embeddings-inference. Raises ApiError, Error."""
    fields = read_fields(body, TEI)
    engine = embedder(server, fields, 424)
    rows, _ = await vectors(
        server, engine, fields, need(fields, "inputs")[1],
        fields.get("truncate", server.truncates), fields.get("dimensions"),
        fields.get("normalize"))
    return JSONResponse([row.tolist() for row in rows])


async def similarity(server: Server, body: Mapping[str, Any], tenant: str):
    """How alike a text is to others, as the folder compares vectors. Raises
    ApiError, Error."""
    fields = read_fields(body, SIMILARITY)
    engine = embedder(server, fields, 424)
    given = need(fields, "inputs")
    texts = [need_at(given, "source_sentence", "/inputs"),
             *need_at(given, "sentences", "/inputs")]
    rows, _ = await vectors(
        server, engine, fields, texts,
        fields.get("parameters", {}).get("truncate", server.truncates), None)
    alike = engine.encoder.similarity(rows[:1], rows[1:])
    return JSONResponse(alike[0].tolist())


async def cohere_embed(server: Server, body: Mapping[str, Any], tenant: str):
    """Cohere's. Raises ApiError, Error."""
    fields = read_fields(body, COHERE)
    engine = embedder(server, fields)
    texts = need(fields, "texts")
    rows, count = await vectors(
        server, engine, fields, texts, fields.get("truncate") != "NONE",
        fields.get("output_dimension"))
    kinds = fields.get("embedding_types", ["float"])
    made: Dict[str, list] = {}
    for kind in kinds:
        made[kind] = [packed(row) if kind == "base64" else row.tolist()
                      for row in rows]
    return JSONResponse({
        "id": str(uuid.uuid4()), "embeddings": made, "texts": texts,
        "response_type": "embeddings_by_type",
        "meta": {"api_version": {"version": "2"},
                 "billed_units": {"input_tokens": count}}})


def embedder(server: Server, fields: Mapping[str, Any], status: int = 400
             ) -> Engine:
    """The model that is to make vectors. Raises ApiError."""
    engine = server.engine(fields.get("model"))
    if not engine.embeds:
        raise ApiError(status, "unsupported_value", "/model: expected a model "
                       f"that gives vectors, got {engine.name}", "/model")
    return engine


async def vectors(server: Server, engine: Engine, fields: Mapping[str, Any],
                  texts: Sequence, truncate: bool, dimensions: Optional[int],
                  normalize: Optional[bool] = None,
                  beside: Optional["_Beside"] = None
                  ) -> Tuple[np.ndarray, int]:
    """float32 [texts, width], and how many tokens they had; `beside` gets what
    the same pass gives besides. The same bytes whoever else asks. Raises
    ApiError."""
    expect_count(server, len(texts))
    _expect_dimensions(server, engine, dimensions)
    encoder = engine.encoder
    found = await encodings(server, engine, encoder, fields, texts, truncate)
    counts = list(map(len, found))
    name = encoder.output(normalize)
    made = await engine.encode(
        found, [name] + (["last_hidden_state"] if beside and
                         name != "last_hidden_state" else []),
        **times(fields))
    if beside:
        await in_thread(1 << 20, beside.take, made["last_hidden_state"], found)
    rows = encoder.finish(encoder.pool(name, made[name], counts), normalize,
                          dimensions)
    return rows, sum(counts)


class _Beside:
    """What BGE-M3 gives beside vectors, a dictionary a text."""

    def __init__(self, engine: Engine, has_words: bool, has_vectors: bool,
                 is_packed: bool):
        self._model, self._is_packed = engine.m3, is_packed
        self._has_words, self._has_vectors = has_words, has_vectors
        self.made: List[Dict[str, Any]] = []

    def take(self, states: np.ndarray, found: Sequence[Encoding]) -> None:
        for rows, encoding in zip(states, found):
            each: Dict[str, Any] = {}
            if self._has_words:
                weights = self._model.weights(rows, encoding.ids)
                each["lexical_weights"] = {
                    str(id): weight for id, weight in weights.items()}
            if self._has_vectors:
                vectors = self._model.vectors(rows,
                                              self._model.text(encoding))
                each["colbert_vecs"] = [packed(row) for row in vectors] \
                    if self._is_packed else vectors.tolist()
            self.made.append(each)


def _beside(engine: Engine, fields: Mapping[str, Any], is_packed: bool
            ) -> Optional[_Beside]:
    """Raises ApiError."""
    wanted = [fields.get(name, False) for name in (
        "return_sparse", "return_colbert_vecs")]
    if any(wanted) and engine.m3 is None:
        name = "return_sparse" if wanted[0] else "return_colbert_vecs"
        raise ApiError(400, "unsupported_value", f"/{name}: expected it of a "
                       "model that gives it beside a vector (BGE-M3, with "
                       "sparse_linear and colbert_linear in its folder), got "
                       f"{engine.name}", f"/{name}")
    return _Beside(engine, *wanted, is_packed) if any(wanted) else None


def times(fields: Mapping[str, Any]) -> Dict[str, Any]:
    """How soon it is to be done, for Scheduler.submit_encode."""
    made: Dict[str, Any] = {"priority": -fields.get("priority", 0)}
    if "deadline_ms" in fields:
        made["deadline"] = fields["deadline_ms"] / 1000
    return made


def expect_count(server: Server, count: int) -> None:
    """Raises ApiError where a request has too many texts."""
    if count > server.bounds.inputs:
        raise ApiError(413, "too_many_inputs", "expected at most "
                       f"{server.bounds.inputs} texts, got {count}")


async def encodings(server: Server, engine: Engine, encoder: SentenceEncoder,
                    fields: Mapping[str, Any], texts: Sequence,
                    truncate: bool) -> List[Encoding]:
    """The tokens of texts, behind the prompt that they ask for. Raises
    ApiError."""
    if isinstance(texts[0], list):
        return _of_ids(server, engine, texts)
    expect_texts("/input", texts)
    try:
        return await in_thread(
            sum(map(len, texts)), encoder.tokenize, texts,
            prompt_name=_prompt_name(encoder, fields), truncate=truncate)
    except Error as error:
        raise too_long(error) from None


def expect_texts(pointer: str, texts: Sequence) -> None:
    """Raises ApiError where there are token ids among them."""
    for number, each in enumerate(texts):
        if not isinstance(each, str):
            raise invalid(f"{pointer}/{number}", "a text as the others", each)


def too_long(error: Error) -> ApiError:
    """What is said of texts that cannot be tokenized."""
    if "expected at most" in str(error):
        return ApiError(413, "context_length_exceeded", str(error)
                        + " (truncate cuts it)")
    return from_error(error)


def _of_ids(server: Server, engine: Engine, rows: Sequence) -> List[Encoding]:
    if not server.takes_ids:
        raise ApiError(400, "unsupported_value", "/input: expected texts, got "
                       "token ids (which mean others to each tokenizer; "
                       "--token-inputs takes this model's)", "/input")
    made = []
    most = engine.model.info.max_positions
    for number, ids in enumerate(rows):
        if not isinstance(ids, list) or most and len(ids) > most:
            raise invalid(f"/input/{number}", f"a list of at most {most} ids",
                          ids)
        count = len(ids)
        made.append(Encoding(ids, [0] * count, [(0, 0)] * count, [0] * count))
    return made


def _prompt_name(encoder: SentenceEncoder, fields: Mapping[str, Any]
                 ) -> Optional[str]:
    """What stands before the texts, by its name in the folder."""
    if "prompt_name" in fields:
        return fields["prompt_name"]
    kind = fields.get("input_type")
    if kind is None:
        return None
    for name in _PROMPTS.get(kind, ()):
        if name in encoder.prompts:
            return name
    if kind in _PROMPTS or kind in ("classification", "clustering"):
        return None  # a folder without prompts makes no difference
    raise invalid("/input_type", "one of " + ", ".join(_PROMPTS), kind)


def _expect_dimensions(server: Server, engine: Engine,
                       dimensions: Optional[int]) -> None:
    """A vector may be cut where the model was trained for it."""
    if dimensions is None or dimensions == engine.encoder.width:
        return
    known = engine.config.get("matryoshka_dimensions") or []
    if dimensions > engine.encoder.width or not (
            server.any_dimensions or dimensions in known):
        widths = sorted({*known, engine.encoder.width})
        raise invalid("/dimensions", "one of "
                      + ", ".join(map(str, widths)), dimensions)


def packed(row: np.ndarray) -> str:
    """float32 in little-endian order, as text."""
    return base64.b64encode(row.astype("<f4").tobytes()).decode()
