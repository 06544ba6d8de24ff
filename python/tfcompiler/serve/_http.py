# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Connections of a server: uvicorn's HTTP/1.1, whose headers are small and come
in time."""
from __future__ import annotations

import asyncio
import json
from typing import Optional, Type

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tfcompiler.serve._errors import ApiError

_HEADER_BYTES = 16 << 10


class BoundedHeaders(HttpToolsProtocol):
    """Ends a connection of which no whole header has come for header_seconds,
    since it was made or since the header's first byte, and one whose header has
    more than _HEADER_BYTES. One that says nothing behind an answer is uvicorn's
    to end."""

    header_seconds: float = 30
    _clock: Optional[asyncio.TimerHandle] = None
    _read = 0  # bytes, of a header that has not ended
    _parsed = 0  # bytes, of the header that is read

    def connection_made(self, transport) -> None:
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()  # a request is there
            self._read = 0
            return
        # A header, or what is left of a body that was refused.
        self._read += len(data)
        if self._read > _HEADER_BYTES and not self.transport.is_closing():
            self._refuse(431, "header_too_large", "header: expected at most "
                         f"{_HEADER_BYTES} bytes, got more",
                         b"Request Header Fields Too Large")
        self._start()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._stop()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._parsed = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        # What is raised here is an error of the parser: uvicorn's 400.
        self._parsed += len(name) + len(value)
        if self._parsed > _HEADER_BYTES:
            raise ValueError("header too large")
        super().on_header(name, value)

    def _start(self) -> None:
        if self._clock is None:
            self._clock = self.loop.call_later(self.header_seconds, self._end)

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _end(self) -> None:
        if not self.transport.is_closing():
            self._refuse(408, "header_too_slow", "header: expected all of it "
                         f"within {self.header_seconds:g} seconds",
                         b"Request Timeout")

    def _refuse(self, status: int, code: str, message: str, reason: bytes
                ) -> None:
        body = json.dumps(ApiError(status, code, message).openai_body()
                          ).encode()
        self.transport.write(
            b"HTTP/1.1 %d %s\r\ncontent-type: application/json\r\n"
            b"content-length: %d\r\nconnection: close\r\n\r\n"
            % (status, reason, len(body)) + body)
        self.transport.close()


def bounded_headers(seconds: float) -> Type[HttpToolsProtocol]:
    """Uvicorn's `http`, with this much time for a header."""
    return type("BoundedHeaders", (BoundedHeaders,),
                {"header_seconds": seconds})
