# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JSON schemas: which keywords are enforced, and whether a value fits. Others
are refused by name, since a grammar that passes over one promises too much."""
from __future__ import annotations

import datetime
import ipaddress
import json
import math
import re
import uuid
from typing import Any, Dict, Optional

from tfcompiler.serve._errors import ApiError, invalid, shown

_MOST_BYTES = 64 << 10
_MOST_NODES = 5000
_MOST_STEPS = 100_000  # of checking a value
_TYPES = {"object": dict, "array": list, "string": str, "null": type(None),
          "boolean": bool}
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
# Of keywords with one schema, a list of them, or several by name.
_ONE = ("items", "additionalProperties")
_LIST = ("anyOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "definitions")
_PLAIN = (*_COUNTS, *_BOUNDS, "type", "required", "enum", "const", "$ref",
          "format",
          # Which a grammar enforces, and nobody else runs on a text: some take
          # for ever.
          "pattern",
          # That say nothing of values.
          "title", "description", "default", "examples", "$schema", "$comment",
          "deprecated", "readOnly", "writeOnly")


def _is_time(text: str) -> bool:
    found = re.fullmatch(
        r"(\d\d):(\d\d):(\d\d)(\.\d+)?([zZ]|[+-]\d\d:\d\d)?", text, re.ASCII)
    return bool(found) and int(found[1]) < 24 and int(found[2]) < 60 and \
        int(found[3]) < 61


def _is_date(text: str) -> bool:
    datetime.date.fromisoformat(text)
    return len(text) == 10


def _is_moment(text: str) -> bool:
    return text[10:11] in ("T", "t", " ") and _is_date(text[:10]) and \
        _is_time(text[11:])


# Whether a text has a format; ValueError says that it has not.
FORMATS = {
    "date": _is_date, "time": _is_time, "date-time": _is_moment,
    "uuid": lambda text: bool(uuid.UUID(text)) and len(text) == 36,
    "ipv4": lambda text: bool(ipaddress.IPv4Address(text)),
    "ipv6": lambda text: bool(ipaddress.IPv6Address(text))}


def check_schema(pointer: str, schema: Any) -> Dict[str, Any]:
    """A schema whose keywords are all enforced. Raises ApiError with the
    pointer of the first that is not."""
    if not isinstance(schema, dict):
        raise invalid(pointer, "an object, a JSON schema", schema)
    if len(json.dumps(schema)) > _MOST_BYTES:
        raise invalid(pointer, f"a schema of at most {_MOST_BYTES} bytes",
                      "more")
    _Check(schema, pointer).check(schema, pointer)
    return schema


class _Check:
    def __init__(self, root: Dict[str, Any], pointer: str):
        self._root, self._at, self._count = root, pointer, 0

    def check(self, schema: Any, pointer: str) -> None:
        self._count += 1
        if self._count > _MOST_NODES:
            raise _bad(self._at, f"expected at most {_MOST_NODES} schemas in "
                       "one, got more")
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            raise invalid(pointer, "an object, a JSON schema", schema)
        for name, value in schema.items():
            at = f"{pointer}/{name}"[:200]
            if name in _ONE:
                self.check(value, at)
            elif name in _LIST:
                self._check_list(value, at)
            elif name in _NAMED:
                self._check_named(value, at)
            elif name in _PLAIN:
                self._check_plain(name, value, at)
            else:
                raise _bad(at, f"expected a keyword that is enforced, got "
                           f"{shown(name)}")

    def _check_list(self, value: Any, at: str) -> None:
        if not isinstance(value, list) or not value:
            raise invalid(at, "a list of schemas", value)
        for number, each in enumerate(value):
            self.check(each, f"{at}/{number}")

    def _check_named(self, value: Any, at: str) -> None:
        if not isinstance(value, dict):
            raise invalid(at, "an object of schemas", value)
        for key, each in value.items():
            self.check(each, f"{at}/{key}"[:200])

    def _check_plain(self, name: str, value: Any, at: str) -> None:
        if name == "format" and value not in FORMATS:
            raise _bad(at, "expected one of " + ", ".join(FORMATS)
                       + f", got {shown(value)}")
        if name == "$ref" and resolve(self._root, value) is None:
            raise _bad(at, "expected a schema of this one (#/$defs/...), got "
                       f"{shown(value)}")
        if name == "required" and not (isinstance(value, list) and all(
                isinstance(each, str) for each in value)):
            raise invalid(at, "a list of names", value)
        if name == "enum" and not (isinstance(value, list) and value):
            raise invalid(at, "a list of values", value)
        if name in _COUNTS and not (type(value) is int and value >= 0):
            raise invalid(at, "an integer, 0 or more", value)
        if name in _BOUNDS and (isinstance(value, bool) or
                                not isinstance(value, (int, float))):
            raise invalid(at, "a number", value)


def _bad(pointer: str, message: str) -> ApiError:
    return ApiError(400, "invalid_schema", f"{pointer}: {message}", pointer)


def resolve(root: Any, reference: Any) -> Optional[Any]:
    """What a $ref names inside of a schema; None: nothing."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found = root
    for part in reference[1:].split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, (dict, bool)) else None


class TooMuch(Exception):
    """A value that takes too long to check: alternatives inside of
    alternatives."""


def fault(schema: Any, value: Any) -> Optional[str]:
    """What of a value does not fit, with its pointer; None: all of it does.
    Raises TooMuch."""
    return _Fit(schema).fault(schema, value, "")


class _Fit:
    def __init__(self, root: Any):
        self._root = root  # where a $ref looks
        self._left = _MOST_STEPS

    def fault(self, schema: Any, value: Any, at: str) -> Optional[str]:
        if isinstance(schema, bool):
            return None if schema else f"{at}: expected nothing"
        for name, wanted in schema.items():
            self._left -= 1
            if self._left < 0:
                raise TooMuch
            found = self._fault_of(schema, name, wanted, value, at)
            if found:
                return found
        return None

    def _fault_of(self, schema, name, wanted, value, at) -> Optional[str]:
        if name == "$ref":
            return self.fault(resolve(self._root, wanted), value, at)
        if name == "allOf":
            return self._first((each, value, "") for each in wanted)(at)
        if name == "anyOf":
            return None if any(self.fault(each, value, at) is None
                               for each in wanted) \
                else f"{at}: expected what one of anyOf takes"
        if name in ("properties", "additionalProperties") and \
                isinstance(value, dict):
            own = schema.get("properties", {})
            return self._first(
                (own[key] if name == "properties" else wanted, each, f"/{key}")
                for key, each in value.items()
                if (key in own) == (name == "properties"))(at)
        if name in ("items", "prefixItems") and isinstance(value, list):
            first = len(schema.get("prefixItems", ()))
            pairs = [(wanted, each) for each in value[first:]] \
                if name == "items" else list(zip(wanted, value))
            begin = first if name == "items" else 0
            return self._first((*pair, f"/{number}") for number, pair
                               in enumerate(pairs, begin))(at)
        return None if _fits(name, wanted, value) else \
            f"{at}: expected {name} {shown(wanted)}, got {shown(value)}"

    def _first(self, each):
        """The first fault of schemas with values and their places, below a
        place."""
        def find(at: str) -> Optional[str]:
            for schema, value, key in each:
                found = self.fault(schema, value, at + key)
                if found:
                    return found
            return None
        return find


def _fits(name: str, wanted: Any, value: Any) -> bool:
    """Whether a value fits a keyword that has no schemas in it."""
    if name == "type":
        return any(_has_type(value, each) for each in (
            wanted if isinstance(wanted, list) else [wanted]))
    if name in ("const", "enum"):
        return any(_same(value, each) for each in (
            wanted if name == "enum" else [wanted]))
    if isinstance(value, str):
        return _fits_text(name, wanted, value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"minimum": lambda: value >= wanted,
                "maximum": lambda: value <= wanted,
                "exclusiveMinimum": lambda: value > wanted,
                "exclusiveMaximum": lambda: value < wanted}.get(
                    name, lambda: True)()
    if isinstance(value, list):
        return {"minItems": lambda: len(value) >= wanted,
                "maxItems": lambda: len(value) <= wanted}.get(
                    name, lambda: True)()
    return name != "required" or not isinstance(value, dict) or \
        set(wanted) <= set(value)


def _fits_text(name: str, wanted: Any, value: str) -> bool:
    if name == "format":
        try:
            return FORMATS[wanted](value)
        except ValueError:
            return False
    return {"minLength": lambda: len(value) >= wanted,
            "maxLength": lambda: len(value) <= wanted}.get(
                name, lambda: True)()


def _has_type(value: Any, name: str) -> bool:
    if name in ("integer", "number"):
        is_number = isinstance(value, (int, float)) and \
            not isinstance(value, bool)
        return is_number and (name == "number" or
                              math.isfinite(value) and value == int(value))
    return isinstance(value, _TYPES.get(name, ()))


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON, where true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            _same(each, other[key]) for key, each in one.items())
    return one == other
