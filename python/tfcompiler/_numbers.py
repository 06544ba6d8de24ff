# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a caller gives, as C takes it: numbers that fit, texts without null."""
from __future__ import annotations

import array
import ctypes as c
import operator
import os
from typing import Iterable, Optional

from tfcompiler._error import Code, Error

INT64 = (-2**63, 2**63 - 1)
UINT32 = (0, 2**32 - 1)
UINT64 = (0, 2**64 - 1)


def refuse(name: str, expected: str, value) -> Error:
    """The error of a value that is none."""
    try:
        shown = repr(value)
    except Exception:  # of integers that are too long to be written
        shown = type(value).__name__
    if len(shown) > 60:
        shown = shown[:57] + "..."
    return Error(Code.INVALID_ARGUMENT, f"{name}: expected {expected}, got "
                 f"{shown}")


def integer(name: str, value, low: int = 0, high: int = INT64[1]) -> int:
    """An integer of any kind (Python's, NumPy's) from low to high."""
    try:
        number = operator.index(value)
    except TypeError:
        raise refuse(name, "an integer", value) from None
    if not low <= number <= high:
        raise refuse(name, f"an integer from {low} to {high}", number)
    return number


def optional(name: str, value, low: int = 0, high: int = INT64[1]
             ) -> Optional[int]:
    """The same, or None."""
    return None if value is None else integer(name, value, low, high)


def ids_array(ids: Iterable[int], name: str = "ids"):
    """Ids as C takes them."""
    try:
        values = list(ids)
    except TypeError:
        raise refuse(name, "a list of token ids", ids) from None
    try:
        values = array.array("q", map(operator.index, values))
    except (TypeError, OverflowError):  # one of them says so by its place
        values = [integer(f"{name}[{index}]", value, *INT64)
                  for index, value in enumerate(values)]
    return (c.c_int64 * len(values))(*values)


def utf8(text: str, name: str = "text") -> bytes:
    """The bytes of a text, null ones included."""
    if not isinstance(text, str):
        raise Error(Code.INVALID_ARGUMENT, f"{name}: expected a text (str), "
                    f"got {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Error(Code.INVALID_ARGUMENT, f"{name}: expected a text without "
                    f"lone surrogates, got one at character {error.start}"
                    ) from None


def c_string(name: str, text: str) -> bytes:
    """A text that ends with its null byte."""
    return _without_null(name, utf8(text, name), text)


def path_bytes(path, name: str = "path") -> bytes:
    """A path as C takes it."""
    try:
        made = os.fsencode(os.fspath(path))
    except (TypeError, UnicodeEncodeError):
        raise refuse(name, "a path", path) from None
    return _without_null(name, made, path)


def _without_null(name: str, made: bytes, value) -> bytes:
    if b"\0" in made:
        raise refuse(name, "no null byte in it", value)
    return made
