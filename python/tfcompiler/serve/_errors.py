# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a client is told when something is wrong, in the words that clients of
the OpenAI API and of text-embeddings-inference read."""
from __future__ import annotations

from typing import Any, Dict, Optional

from tfcompiler._error import Code, Error

_SHOWN = 80  # characters of a value that was not expected
_MOST = 500  # characters of a message

# A status's "type" for OpenAI's clients, and for those of
# text-embeddings-inference.
_TYPES = {
    400: ("invalid_request_error", "validation"),
    401: ("authentication_error", "unauthorized"),
    404: ("invalid_request_error", "not_found"),
    405: ("invalid_request_error", "validation"),
    408: ("invalid_request_error", "validation"),
    413: ("invalid_request_error", "validation"),
    415: ("invalid_request_error", "validation"),
    424: ("invalid_request_error", "backend"),
    429: ("rate_limit_error", "overloaded"),
    431: ("invalid_request_error", "validation"),
    500: ("server_error", "backend"),
    503: ("server_error", "unhealthy"),
    504: ("server_error", "backend"),
}


# Places on this machine, which are nobody else's business, and what stands for
# them in messages.
_hidden: Dict[str, str] = {}


def hide(path: Any, name: str) -> None:
    """Messages say `name` instead of this path."""
    _hidden[str(path)] = name


def _told(error: Exception) -> str:
    text = str(error)
    for path in sorted(_hidden, key=len, reverse=True):
        text = text.replace(path, _hidden[path])
    return text if len(text) <= _MOST else text[:_MOST] + "..."


class ApiError(Exception):
    """An answer that is none. status: of HTTP; code: a word for programs;
    param: the JSON pointer or header that is at fault; retry_after: seconds."""

    def __init__(self, status: int, code: str, message: str,
                 param: Optional[str] = None,
                 retry_after: Optional[int] = None):
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param
        self.retry_after = retry_after

    def headers(self) -> Dict[str, str]:
        """Of the answer, beside those that every answer has."""
        made = {}
        if self.retry_after is not None:
            made["retry-after"] = str(self.retry_after)
        if self.status in (500, 504):
            # The same request has the same answer; clients obey this word.
            made["x-should-retry"] = "false"
        if self.status == 401:
            made["www-authenticate"] = "Bearer"
        if self.status == 413:
            made["connection"] = "close"
        return made

    def openai_body(self) -> Dict[str, Any]:
        """As OpenAI's clients read it."""
        return {"error": {"message": _told(self),
                          "type": _TYPES[self.status][0],
                          "param": self.param, "code": self.code}}

    def embed_body(self) -> Dict[str, Any]:
        """As clients of text-embeddings-inference read it."""
        return {"error": _told(self), "error_type": _TYPES[self.status][1]}


def invalid(param: str, expected: str, got: Any) -> ApiError:
    """A value that is not what a field takes."""
    return ApiError(400, "invalid_value",
                    f"{param}: expected {expected}, got {shown(got)}", param)


def shown(value: Any) -> str:
    """A value of the client's, short enough for a message."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def from_error(error: Error) -> ApiError:
    """What the runtime said of a request."""
    if error.code == Code.EXHAUSTED:
        if "queue" in str(error):
            return ApiError(429, "queue_full", str(error), retry_after=1)
        return ApiError(400, "context_length_exceeded", str(error))
    if error.code == Code.CANCELLED:
        return ApiError(503, "draining", "expected a server that takes "
                        "requests, got one that is about to end",
                        retry_after=1)
    if error.code in (Code.INVALID_ARGUMENT, Code.NOT_FOUND):
        return ApiError(400, "invalid_value", str(error))
    if error.code == Code.UNSUPPORTED:
        return ApiError(400, "unsupported_value", str(error))
    return ApiError(500, "failed", str(error))
