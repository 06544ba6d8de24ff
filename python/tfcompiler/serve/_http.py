# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Connections of a server: uvicorn's HTTP/1.1, whose headers come in time."""
from __future__ import annotations

import asyncio
import json
from typing import Optional, Type

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from tfcompiler.serve._errors import ApiError


class TimedHeaders(H11Protocol):
    """Ends a connection of which no whole header has come for header_seconds,
    since it was made or since the header's first byte. One that says nothing
    behind an answer is uvicorn's to end."""

    header_seconds: float = 30
    _clock: Optional[asyncio.TimerHandle] = None

    def connection_made(self, transport) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self.conn.our_state is not h11.IDLE or \
                self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._clock is None:
            self._clock = self.loop.call_later(self.header_seconds, self._end)

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _end(self) -> None:
        if self.transport.is_closing():
            return
        body = json.dumps(ApiError(
            408, "header_too_slow", "header: expected all of it within "
            f"{self.header_seconds:g} seconds").openai_body()).encode()
        headers = [(b"content-type", b"application/json"),
                   (b"content-length", b"%d" % len(body)),
                   (b"connection", b"close")]
        for event in (h11.Response(status_code=408, headers=headers,
                                   reason=b"Request Timeout"),
                      h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        self.transport.close()


def timed_headers(seconds: float) -> Type[H11Protocol]:
    """Uvicorn's `http`, with this much time for a header."""
    return type("TimedHeaders", (TimedHeaders,), {"header_seconds": seconds})
