# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a request's body may say: tables of names and readers. A name that is
in no table is an error that names the nearest one."""
from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Mapping, Tuple, Union

from tfcompiler.serve._errors import ApiError, invalid, shown

Reader = Callable[[str, Any], Any]


class Ignored:
    """A field that clients send and that changes no answer."""


class Refused:
    """A field that would change the answer and cannot be served."""

    def __init__(self, why: str):
        self.why = why


Table = Mapping[str, Union[Reader, Ignored, Refused]]


def read_fields(body: Any, table: Table, at: str = "") -> Dict[str, Any]:
    """The fields that are given, read; null is not given. Raises ApiError with
    the pointer of the first that is at fault."""
    if not isinstance(body, dict):
        raise invalid(at or "body", "an object", body)
    made = {}
    for name, value in body.items():
        pointer = f"{at}/{name}"
        known = table.get(name)
        if known is None:
            raise _unknown(pointer, name, table)
        if value is None or isinstance(known, Ignored):
            continue
        if isinstance(known, Refused):
            raise ApiError(400, "unsupported_value",
                           f"{pointer}: {known.why}", pointer)
        made[name] = known(pointer, value)
    return made


def need(fields: Mapping[str, Any], name: str) -> Any:
    """A field without which there is no answer."""
    return need_at(fields, name, "")


def need_at(fields: Mapping[str, Any], name: str, at: str) -> Any:
    """The same inside of a body."""
    if name not in fields:
        raise ApiError(400, "missing_field", f"{at}/{name}: expected a value, "
                       "got none", f"{at}/{name}")
    return fields[name]


def _unknown(pointer: str, name: str, table: Table) -> ApiError:
    import difflib
    near = difflib.get_close_matches(name[:200], list(table), 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return ApiError(400, "unknown_field", f"{pointer[:200]}: expected a field "
                    f"that this address knows, got {shown(name)}{hint}",
                    pointer[:200])


# ---- Readers of values ----

def boolean(pointer: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise invalid(pointer, "true or false", value)
    return value


def text(pointer: str, value: Any) -> str:
    if not isinstance(value, str):
        raise invalid(pointer, "a text", value)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair
        raise invalid(pointer, "a text of whole characters", value) from None
    return value


def number(low: float, high: float) -> Reader:
    """A number in [low, high]."""
    def read(pointer: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) \
                or not math.isfinite(value) or not low <= value <= high:
            raise invalid(pointer, f"a number from {low:g} to {high:g}", value)
        return float(value)
    return read


def whole(low: int, high: int) -> Reader:
    """An integer in [low, high]."""
    def read(pointer: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) \
                or not low <= value <= high:
            raise invalid(pointer, f"an integer from {low} to {high}", value)
        return value
    return read


def one_of(*words: str) -> Reader:
    def read(pointer: str, value: Any) -> str:
        if value not in words:
            raise invalid(pointer, "one of " + ", ".join(map(repr, words)),
                          value)
        return value
    return read


def listed(read: Reader, most: int, least: int = 0) -> Reader:
    """A list of so many of them."""
    def read_all(pointer: str, value: Any) -> List[Any]:
        if not isinstance(value, list) or not least <= len(value) <= most:
            got = f"{len(value)} of them" if isinstance(value, list) else value
            raise invalid(pointer, f"a list of {least} to {most}", got)
        return [read(f"{pointer}/{i}", each) for i, each in enumerate(value)]
    return read_all


def one_or_more(read: Reader, most: int) -> Reader:
    """One of them, or a list; a list either way."""
    many = listed(read, most, 1)

    def read_any(pointer: str, value: Any) -> List[Any]:
        return many(pointer, value) if isinstance(value, list) else \
            [read(pointer, value)]
    return read_any


def anything(pointer: str, value: Any) -> Any:
    return value


def mapping(pointer: str, value: Any) -> Dict[str, Any]:
    if not isinstance(value, dict):
        raise invalid(pointer, "an object", value)
    return value


def inputs(most: int) -> Reader:
    """Texts or lists of token ids, one or several: (whether it was one, the
    list). [1, 2] is one list of ids."""
    def read(pointer: str, value: Any) -> Tuple[bool, List[Any]]:
        if isinstance(value, str) or isinstance(value, list) and value and \
                all(type(each) is int for each in value):
            return True, [_input(pointer, value)]
        return False, listed(_input, most, 1)(pointer, value)
    return read


def _input(pointer: str, value: Any):
    if isinstance(value, list):
        return listed(whole(0, 2**31 - 1), 1 << 22, 1)(pointer, value)
    return text(pointer, value)


def biases(pointer: str, value: Any) -> Dict[int, float]:
    """OpenAI's logit_bias: ids as keys. -100 forbids a token."""
    read = number(-100, 100)
    made = {}
    for key, bias in mapping(pointer, value).items():
        if not key.isdecimal() or len(key) > 9:
            raise invalid(f"{pointer}/{key}"[:200],
                          "the id of a token as the key", key)
        bias = read(f"{pointer}/{key}", bias)
        made[int(key)] = -math.inf if bias == -100 else bias
    return made
