# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the addresses have in common: the models, who may ask, how much, and
what was counted."""
from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple

from starlette.requests import ClientDisconnect, Request

from tfcompiler.serve._engine import Engine
from tfcompiler.serve._errors import ApiError, shown
from tfcompiler.serve._generation import Limits
from tfcompiler.serve._metrics import Metrics
from tfcompiler.serve._stream import ClientGone
from tfcompiler.serve._traces import Exporter

# huggingface_hub's name for the model of an address that has one.
_ANY_MODEL = "dummy"
# A body that is too large is read so many times as far as it may be, so that
# the client is told: one whose connection ends while it sends hears nothing.
_READ = 4


@dataclass(frozen=True)
class Bounds:
    """Of a request. body_bytes; depth: of arrays and objects in it; inputs:
    texts to encode; body_seconds: until all of it is there; sound_bytes: of a
    form with a sound, and sounds: such requests at once."""

    body_bytes: int = 4 << 20
    depth: int = 32
    inputs: int = 2048
    body_seconds: float = 30
    sound_bytes: int = 25 << 20
    sounds: int = 16


@dataclass
class Server:
    """engines: the models, the first of which is everybody's who names none.
    keys: (name, SHA-256 of the key); none: anybody may ask."""

    engines: Sequence[Engine]
    keys: Sequence[Tuple[str, str]] = ()
    bounds: Bounds = Bounds()
    limits: Limits = Limits()
    takes_ids: bool = False
    any_dimensions: bool = False
    truncates: bool = False
    traces: Optional[Exporter] = None
    tool_format: Optional[str] = None  # instead of what a template says
    is_draining: bool = False
    n_sounds: int = 0  # requests with one
    metrics: Metrics = field(default_factory=Metrics)

    def engine(self, name: Optional[str]) -> Engine:
        """The model that a request names. Raises ApiError."""
        if name is None or name == _ANY_MODEL and len(self.engines) == 1:
            return self.engines[0]
        for engine in self.engines:
            if engine.name == name:
                return engine
        raise ApiError(404, "model_not_found", "/model: expected one of "
                       + ", ".join(each.name for each in self.engines)
                       + f", got {shown(name)}", "/model")

    def tenant(self, request: Request) -> str:
        """The name of the key that a request has. Raises ApiError."""
        if not self.keys:
            return ""
        scheme, _, key = request.headers.get("authorization", "").partition(
            " ")
        digest = hashlib.sha256(key.strip().encode()).hexdigest()
        found = ""
        for name, known in self.keys:  # all of them, as long as each other
            if hmac.compare_digest(digest, known):
                found = name
        if scheme.lower() != "bearer" or not found:
            raise ApiError(401, "invalid_api_key", "expected a key that this "
                           "server knows in the header authorization "
                           "(Bearer ...), got " + ("another" if key else
                                                   "none"), "authorization")
        return found


async def read_json(request: Request, server: Server) -> Dict[str, Any]:
    """A request's body. Raises ApiError, ClientGone."""
    bounds = server.bounds
    body = await read_body(request, bounds.body_bytes, bounds.body_seconds)
    kind = request.headers.get("content-type", "application/json")
    if kind.partition(";")[0].strip().lower() != "application/json":
        raise ApiError(415, "json_expected", "expected content-type "
                       f"application/json, got {shown(kind)}", "content-type")
    try:
        made = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, "invalid_json", "body: expected JSON, got: "
                       f"{shown(str(error))}") from None
    if _depth(made, bounds.depth) > bounds.depth:
        raise ApiError(400, "invalid_json", "body: expected at most "
                       f"{bounds.depth} levels, got more")
    if not isinstance(made, dict):
        raise ApiError(400, "invalid_json", "body: expected an object, got "
                       f"{shown(made)}")
    return made


async def read_body(request: Request, most: int, seconds: float) -> bytes:
    """All of it. Raises ApiError, ClientGone."""
    try:
        return await asyncio.wait_for(_read_body(request, most), seconds)
    except asyncio.TimeoutError:
        raise ApiError(400, "body_too_slow", "body: expected all of it within "
                       f"{seconds:g} seconds") from None
    except ClientDisconnect:
        raise ClientGone from None


async def _read_body(request: Request, most: int) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > _READ * most:
            break
        if size <= most:
            parts.append(part)
    if size > most:
        raise ApiError(413, "body_too_large", f"body: expected at most {most} "
                       "bytes, got more")
    return b"".join(parts)


def _refuse_constant(name: str):
    raise ValueError(f"{name}, which is no number of JSON")


def _depth(value: Any, most: int) -> int:
    """Levels of arrays and objects, counted to one more than `most`."""
    level, depth = [value], 0
    while level and depth <= most:
        inner: List[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        depth += any(isinstance(each, (dict, list)) for each in level)
        level = inner
    return depth
