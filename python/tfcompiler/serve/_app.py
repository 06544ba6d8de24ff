# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The addresses of a server, as an ASGI application."""
from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from typing import Any, Awaitable, Callable, Mapping

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (HTMLResponse, JSONResponse, PlainTextResponse,
                                 Response)
from starlette.routing import Route

from tfcompiler._error import Error
from tfcompiler._library import version
from tfcompiler.serve._chat import chat
from tfcompiler.serve._completions import completions
from tfcompiler.serve._embeddings import (cohere_embed, embed, embeddings,
                                          similarity)
from tfcompiler.serve._errors import ApiError, from_error
from tfcompiler.serve._forms import read_form
from tfcompiler.serve._ids import new_id
from tfcompiler.serve._multi import embed_all
from tfcompiler.serve._rerank import predict, rerank
from tfcompiler.serve._server import Server, read_body, read_json
from tfcompiler.serve._sparse import embed_sparse
from tfcompiler.serve._stream import ClientGone, unless_gone
from tfcompiler.serve._tokens import detokenize, tokenize
from tfcompiler.serve._traces import origin, read_origin
from tfcompiler.serve._transcriptions import transcriptions, translations

Handler = Callable[[Server, Mapping[str, Any], str], Awaitable[Any]]
_LOG = logging.getLogger("tfcompiler.serve")


async def _by_kind(server: Server, body: Mapping[str, Any], tenant: str):
    """POST /: what huggingface_hub's client sends to an address, by what the
    model does."""
    engine = server.engine(body.get("model"))
    if engine.classifies and not engine.embeds:
        return await predict(server, body, tenant)
    if isinstance(body.get("inputs"), dict):
        return await similarity(server, body, tenant)
    return await embed(server, body, tenant)


# Answers to POST. Errors of those in the second table have the form of
# text-embeddings-inference.
_POSTS = {
    "/v1/chat/completions": chat,
    "/v1/completions": completions,
    "/v1/embeddings": embeddings,
    "/v2/embed": cohere_embed,
    "/v1/rerank": rerank,
    "/v2/rerank": rerank,
    "/tokenize": tokenize,
    "/detokenize": detokenize,
}
_EMBED_POSTS = {
    "/": _by_kind,
    "/embed": embed,
    "/embed_sparse": embed_sparse,
    "/embed_all": embed_all,
    "/similarity": similarity,
    "/rerank": rerank,
    "/predict": predict,
}
# Whose bodies are forms with a sound.
_SOUND_POSTS = {
    "/v1/audio/transcriptions": transcriptions,
    "/v1/audio/translations": translations,
}
# What clients look for and do not find.
_INSTEAD = {
    "/v1/responses": "/v1/chat/completions",
    "/generate": "/v1/completions",
    "/generate_stream": "/v1/completions with stream",
}


def make_app(server: Server) -> Starlette:
    """The application. Who runs it closes the engines."""
    routes = [Route(path, _post(server, path, handler, ApiError.openai_body),
                    methods=["POST"]) for path, handler in _POSTS.items()]
    routes += [Route(path, _post(server, path, handler, ApiError.embed_body),
                     methods=["POST"])
               for path, handler in _EMBED_POSTS.items()]
    routes += [Route(path, _post(server, path, handler, ApiError.openai_body,
                                 _one_sound), methods=["POST"])
               for path, handler in _SOUND_POSTS.items()]
    routes += [Route(path, _get(server, path, handler), methods=["GET"])
               for path, handler in _GETS.items()]
    app = Starlette(routes=routes, exception_handlers={
        404: _not_found, 405: _not_found})
    app.state.server = server
    return app


@contextlib.asynccontextmanager
async def _one_text(request: Request, server: Server):
    yield await read_json(request, server)


@contextlib.asynccontextmanager
async def _one_sound(request: Request, server: Server):
    """What a request with a sound says; there are not many of them at once, for
    each is some megabytes. Raises ApiError, ClientGone."""
    if server.n_sounds >= server.bounds.sounds:
        with contextlib.suppress(ApiError):  # read, so that the client hears
            await read_body(request, server.bounds.sound_bytes,
                            server.bounds.body_seconds)
        raise ApiError(429, "queue_full", f"expected at most "
                       f"{server.bounds.sounds} sounds at once, got another",
                       retry_after=1)
    server.n_sounds += 1
    try:
        yield await read_form(request, server)
    finally:
        server.n_sounds -= 1


def _post(server: Server, path: str, handler: Handler, form, reads=_one_text):
    async def respond(request: Request):
        response = await _answer(server, request, handler, form, reads)
        server.metrics.count("tfc_http_requests_total", path=path,
                             status=str(response.status_code))
        response_headers = getattr(response, "headers", None)
        if response_headers is not None:
            response_headers["x-request-id"] = new_id()
        return response
    return respond


async def _answer(server: Server, request: Request, handler: Handler, form,
                  reads):
    try:
        tenant = server.tenant(request)
        if server.is_draining:
            raise ApiError(503, "draining", "expected a server that takes "
                           "requests, got one that is about to end",
                           retry_after=1)
        async with reads(request, server) as body:
            if server.traces:
                origin.set(read_origin(request.headers.get("traceparent"),
                                       request.url.path))
            return await unless_gone(request.receive,
                                     handler(server, body, tenant))
    except ClientGone:
        return Response(status_code=499)  # that nobody reads
    except ApiError as error:
        return _refusal(error, form)
    except Error as error:
        return _refusal(from_error(error), form)
    except Exception:
        number = new_id()
        _LOG.exception("request %s to %s failed", number, request.url.path)
        return _refusal(ApiError(
            500, "internal", "expected an answer, got a fault of the server "
            f"({number} in its log)"), form)


def _refusal(error: ApiError, form) -> JSONResponse:
    return JSONResponse(form(error), error.status, error.headers())


async def _not_found(request: Request, error) -> Response:
    path = request.url.path
    where = _INSTEAD.get(path)
    if error.status_code == 405:
        message = f"expected another method for {path}, got {request.method}"
    elif where:
        message = f"{path}: expected {where}, which serves this"
    else:
        known = ", ".join([*_POSTS, *_SOUND_POSTS])
        message = f"expected one of {known}, got {path[:100]}"
    return _refusal(ApiError(error.status_code, "unknown_endpoint", message),
                    ApiError.openai_body)


# ---- Answers to GET ----

def _get(server: Server, path: str, handler):
    async def respond(request: Request) -> Response:
        if path not in _OPEN:
            try:
                server.tenant(request)
            except ApiError as error:
                return _refusal(error, ApiError.openai_body)
        return handler(server)
    return respond


def _models(server: Server) -> Response:
    return JSONResponse({"object": "list", "data": [
        {"id": engine.name, "object": "model", "created": engine.created,
         "owned_by": "tfc", "kind": engine.model.info.kind,
         "max_model_len": engine.model.info.max_positions or None}
        for engine in server.engines]})


def _info(server: Server) -> Response:
    engine = server.engines[0]
    info = engine.model.info
    return JSONResponse({
        "model_id": engine.name, "version": version(),
        "max_input_length": info.max_positions or None,
        "max_client_batch_size": server.bounds.inputs,
        "model_type": {"embedding": {}} if engine.embeds else
        {"embedding": {"pooling": "splade"}} if engine.sparse else
        {"reranker": {}} if engine.reranks else
        {"classifier": {}} if engine.classifies else {"generator": {}},
        "program": info.program, "threads": info.threads})


def _live(server: Server) -> Response:
    return JSONResponse({"status": "alive"})


def _ready(server: Server) -> Response:
    if server.is_draining:
        return JSONResponse({"status": "draining"}, 503)
    return JSONResponse({"status": "ready"})


def _metrics(server: Server) -> Response:
    return PlainTextResponse(server.metrics.text(server.engines),
                             media_type="text/plain; version=0.0.4")


def _version(server: Server) -> Response:
    return JSONResponse({"version": version()})


def _page(server: Server) -> Response:
    return HTMLResponse(Path(__file__).with_name("page.html").read_text(
        encoding="utf-8"))


_GETS = {"/": _page, "/v1/models": _models, "/info": _info,
         "/health": _ready, "/health/live": _live, "/health/ready": _ready,
         "/metrics": _metrics, "/version": _version}
# Of probes, and of a page that asks for a key itself.
_OPEN = {"/", "/health", "/health/live", "/health/ready"}
