# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Spans of answers for OpenTelemetry's collectors: OTLP over HTTP as JSON, made
here, sent by a thread. What a collector does not take is dropped."""
from __future__ import annotations

import contextvars
import json
import queue
import re
import secrets
import threading
import time
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional

from tfcompiler._library import version

_PARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
_MOST_WAITING = 1000  # spans' answers, beyond which others are dropped
_MOST_TOGETHER = 100
_SECONDS = 5  # that a collector may take
_SERVER, _INTERNAL, _ERROR = 2, 1, 2  # kinds of spans; a status


@dataclass(frozen=True)
class Origin:
    """Whose request it is: the trace, and the span that sent it ("": none)."""

    trace: str
    parent: str
    path: str


# Of the request that is being answered; None where nobody collects.
origin: contextvars.ContextVar[Optional[Origin]] = contextvars.ContextVar(
    "origin", default=None)


def read_origin(header: Optional[str], path: str) -> Origin:
    """By the header traceparent; a trace of its own where there is none, or
    one that is not as it should be."""
    found = _PARENT.fullmatch(header or "")
    if found and found[1].strip("0") and found[2].strip("0"):
        return Origin(found[1], found[2], path)
    return Origin(secrets.token_hex(16), "", path)


@dataclass(frozen=True)
class Times:
    """Seconds since the epoch: of the request, of when all of its answers had
    begun, of the first token, of the end. None: it did not come to that."""

    began: float
    ran: Optional[float]
    first: Optional[float]
    ended: float


def spans(of: Origin, times: Times, attributes: Mapping[str, Any],
          fault: str = "") -> List[Dict[str, Any]]:
    """The span of a request, and inside of it queue, prefill and decode."""
    whole = _span(of.trace, of.parent, f"POST {of.path}", _SERVER,
                  times.began, times.ended, attributes)
    if fault:
        whole["status"] = {"code": _ERROR, "message": fault[:200]}
    made = [whole]
    places = [times.began, times.ran, times.first, times.ended]
    for name, begin, end in zip(("queue", "prefill", "decode"), places,
                                places[1:]):
        if begin is not None and end is not None:
            made.append(_span(of.trace, whole["spanId"], name, _INTERNAL,
                              begin, max(begin, end), {}))
    return made


def _span(trace, parent, name, kind, begin, end, attributes):
    made = {"traceId": trace, "spanId": secrets.token_hex(8), "name": name,
            "kind": kind, "startTimeUnixNano": str(int(begin * 1e9)),
            "endTimeUnixNano": str(int(end * 1e9)),
            "attributes": [_attribute(key, value)
                           for key, value in attributes.items()]}
    if parent:
        made["parentSpanId"] = parent
    return made


def _attribute(key: str, value: Any) -> Dict[str, Any]:
    if isinstance(value, list):
        typed: Dict[str, Any] = {"arrayValue": {"values": [
            {"stringValue": str(each)} for each in value]}}
    elif isinstance(value, int):
        typed = {"intValue": str(value)}
    else:
        typed = {"stringValue": str(value)}
    return {"key": key, "value": typed}


class Exporter:
    """Sends spans to an address as http://127.0.0.1:4318/v1/traces. Leaving
    its `with` sends what is left."""

    def __init__(self, address: str):
        self._address = address
        self._waiting: queue.Queue = queue.Queue(_MOST_WAITING)
        self.dropped = 0
        self._thread = threading.Thread(target=self._run, daemon=True,
                                        name="tfc-traces")

    def __enter__(self) -> "Exporter":
        self._thread.start()
        return self

    def __exit__(self, *raised) -> None:
        try:
            self._waiting.put(None, timeout=_SECONDS)
        except queue.Full:
            return  # nobody takes them
        self._thread.join(2 * _SECONDS)

    def add(self, made: List[Dict[str, Any]]) -> None:
        """Never waits."""
        try:
            self._waiting.put_nowait(made)
        except queue.Full:
            self.dropped += len(made)

    def _run(self) -> None:
        goes_on = True
        while goes_on:
            taken = [self._waiting.get()]
            while len(taken) < _MOST_TOGETHER and not self._waiting.empty():
                taken.append(self._waiting.get())
            goes_on = None not in taken
            made = [span for each in taken for span in each or ()]
            if made:
                self._send(made)

    def _send(self, made: List[Dict[str, Any]]) -> None:
        import urllib.error  # with mail and TLS, which few servers need
        import urllib.request
        body = json.dumps({"resourceSpans": [{
            "resource": {"attributes": [
                _attribute("service.name", "tfc serve"),
                _attribute("service.version", version())]},
            "scopeSpans": [{"scope": {"name": "tfcompiler.serve"},
                            "spans": made}]}]}).encode()
        try:
            urllib.request.urlopen(urllib.request.Request(
                self._address, body, {"content-type": "application/json"}),
                timeout=_SECONDS).close()
        except (OSError, ValueError, urllib.error.URLError):
            self.dropped += len(made)


def epoch() -> float:
    """What a time of time.monotonic lacks of seconds since the epoch. Asked once
    for all times of a request: between the two clocks a thread may wait."""
    return time.time() - time.monotonic()
