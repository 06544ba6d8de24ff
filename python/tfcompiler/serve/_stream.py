# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Answers that are sent as they come, and clients that go before the end."""
from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any, AsyncIterator, Awaitable, Callable, Mapping, TypeVar

from tfcompiler._error import Error
from tfcompiler.serve._errors import ApiError, from_error

_PING_SECONDS = 15
_WRITE_SECONDS = 30  # a client that reads nothing for so long has gone
_PING = b": ping\n\n"
_DONE = b"data: [DONE]\n\n"

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Result = TypeVar("Result")


class ClientGone(Exception):
    """Nobody waits for the answer."""


class EventStream:
    """A response of server-sent events, each a JSON object; an error is the
    last one, otherwise [DONE] is. cancel: ends what makes them."""

    def __init__(self, events: AsyncIterator[dict],
                 headers: Mapping[str, str], cancel: Callable[[], None]):
        self.status_code = 200
        self._events = events
        self._cancel = cancel
        self.headers = {"content-type": "text/event-stream; charset=utf-8",
                         "cache-control": "no-cache",
                         "x-accel-buffering": "no", **headers}

    async def __call__(self, scope, receive: Receive, send) -> None:
        try:
            await send({"type": "http.response.start", "status": 200,
                        "headers": [(name.encode(), value.encode("latin-1"))
                                    for name, value in self.headers.items()]})
            await unless_gone(receive, self._pump(send))
        except (ClientGone, asyncio.TimeoutError):
            pass
        finally:
            self._cancel()  # events that never began did not

    async def _pump(self, send) -> None:
        async def write(data: bytes, more: bool = True) -> None:
            await asyncio.wait_for(send({
                "type": "http.response.body", "body": data,
                "more_body": more}), _WRITE_SECONDS)

        async with contextlib.aclosing(self._events) as events:
            coming = None
            try:
                while True:
                    coming = coming or asyncio.ensure_future(
                        events.__anext__())
                    done, _ = await asyncio.wait({coming},
                                                 timeout=_PING_SECONDS)
                    if not done:
                        await write(_PING)
                        continue
                    made, coming = coming, None
                    try:
                        await write(_framed(made.result()))
                    except StopAsyncIteration:
                        await write(_DONE)
                        break
                    except ApiError as error:
                        await write(_framed(error.openai_body()))
                        break
                    except Error as error:
                        await write(_framed(from_error(error).openai_body()))
                        break
            finally:
                await _end(coming)
        await write(b"", False)


async def unless_gone(receive: Receive, work: Awaitable[Result]) -> Result:
    """What work gives. A client that goes before ends it: ClientGone. Its
    request has been read whole, so nothing else is to be received."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnect(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        return task.result()
    finally:
        await _end(gone)
        await _end(task)


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _end(task) -> None:
    """Of a task that is no longer wanted, and of what it had to say."""
    if task is None:
        return
    task.cancel()  # nothing where it is done
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await task


def _framed(value: dict) -> bytes:
    return b"data: " + json.dumps(
        value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"
