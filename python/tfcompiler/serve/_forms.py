# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bodies that are forms with a file (multipart/form-data, RFC 7578)."""
from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any, Dict, List

from starlette.requests import Request

from tfcompiler.serve._errors import ApiError, shown
from tfcompiler.serve._server import Server, read_body

# What it says of a form is said to its client.
logging.getLogger("python_multipart").setLevel(logging.ERROR)
_PARTS = 64
_VALUE = 64 << 10  # bytes of a field that is no file


@dataclass(frozen=True)
class Upload:
    """A file of a form, by the name that the client gave it."""

    name: str
    data: bytes = field(repr=False)


async def read_form(request: Request, server: Server) -> Dict[str, Any]:
    """A request's fields: texts, an Upload each file, and of a name that ends
    with [] the list of them. Raises ApiError, ClientGone."""
    bounds = server.bounds
    body = await read_body(request, bounds.sound_bytes, bounds.body_seconds)
    from python_multipart.multipart import parse_options_header
    kind, options = parse_options_header(
        request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise ApiError(415, "form_expected", "expected content-type "
                       "multipart/form-data with a boundary, got "
                       + shown(kind.decode("latin-1")), "content-type")
    return await asyncio.to_thread(_parse, body, options[b"boundary"])


class _Parts:
    """What the parser's callbacks have seen."""

    def __init__(self):
        self.made: Dict[str, Any] = {}
        self.is_whole = False
        self._header = self._value = b""

    def begin(self) -> None:
        self._headers: Dict[bytes, bytes] = {}
        self._data: List[bytes] = []

    def header_field(self, data, start, end) -> None:
        self._header += data[start:end]

    def header_value(self, data, start, end) -> None:
        self._value += data[start:end]

    def header_end(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header = self._value = b""

    def data(self, data, start, end) -> None:
        self._data.append(data[start:end])

    def end(self) -> None:
        from python_multipart.multipart import parse_options_header
        _, options = parse_options_header(
            self._headers.get(b"content-disposition", b""))
        name = _text("body", options.get(b"name", b""))
        data = b"".join(self._data)
        if b"filename" in options:
            value: Any = Upload(_text(f"/{name}", options[b"filename"]), data)
        elif len(data) > _VALUE:
            raise ApiError(400, "invalid_form", f"/{name[:80]}: expected at "
                           f"most {_VALUE} bytes, got {len(data)}")
        else:
            value = _text(f"/{name}", data)
        if name.endswith("[]"):
            self.made.setdefault(name, []).append(value)
        elif name in self.made or not name:
            raise ApiError(400, "invalid_form", f"/{name[:80]}: expected "
                           "fields with a name, each once, got "
                           + ("another one" if name else "one without"))
        else:
            self.made[name] = value
        if len(self.made) > _PARTS:
            raise ApiError(400, "invalid_form", "body: expected at most "
                           f"{_PARTS} fields, got more")

    def finish(self) -> None:
        self.is_whole = True


def _parse(body: bytes, boundary: bytes) -> Dict[str, Any]:
    from python_multipart.exceptions import FormParserError
    from python_multipart.multipart import MultipartParser
    parts = _Parts()
    try:
        parser = MultipartParser(boundary, {
            "on_part_begin": parts.begin, "on_part_data": parts.data,
            "on_part_end": parts.end, "on_end": parts.finish,
            "on_header_field": parts.header_field,
            "on_header_value": parts.header_value,
            "on_header_end": parts.header_end})
        parser.write(body)
    except FormParserError as error:
        raise ApiError(400, "invalid_form", "body: expected a form, got: "
                       + shown(str(error))) from None
    if not parts.is_whole:
        raise ApiError(400, "invalid_form", "body: expected a form with its "
                       "last boundary, got one that is cut off")
    return parts.made


def _text(where: str, value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise ApiError(400, "invalid_form", f"{where[:80]}: expected UTF-8, "
                       "got other bytes") from None
