# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Grammars: which tokens may come next, by the package llguidance, and what a
finished text must be. Without the package a grammar is refused by name."""
from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, Callable, List, Mapping, Optional, Sequence

import numpy as np

from tfcompiler.serve._errors import ApiError, invalid, shown
from tfcompiler.serve._fields import (Ignored, Table, anything, need_at,
                                      one_of, read_fields, text)
from tfcompiler.serve._schema import TooMuch, check_schema, fault

# Spaces are as JSON's own writer has them: a model that may write any number
# of them may never come to an end.
_SPACES = {"x-guidance": {"whitespace_flexible": False,
                          "item_separator": ", ", "key_separator": ": "}}
_MOST_PATTERN = 10000
_FORMAT: Table = {"type": one_of("text", "json_object", "json_schema"),
                  "json_schema": anything, "value": anything}
_NAMED_SCHEMA: Table = {"name": text, "description": text, "schema": anything,
                        "strict": Ignored()}


class Form:
    """What an answer must be. pointer: the field that says so; lark: a grammar
    of llguidance; check: what is wrong with a finished text, or None."""

    def __init__(self, pointer: str, lark: str,
                 check: Callable[[str], Optional[str]]):
        self.pointer, self.lark, self.check = pointer, lark, check


def json_rule(schema: Mapping[str, Any]) -> str:
    """A schema as a part of a grammar."""
    return "%json " + json.dumps({**_SPACES, **schema})


def form_of(fields: Mapping[str, Any]) -> Optional[Form]:
    """What response_format, guided_json or guided_regex ask for. Raises
    ApiError."""
    made: List[Form] = []
    given = fields.get("response_format")
    if given is not None:
        made += filter(None, [_response_form(given)])
    if "guided_json" in fields:
        value = fields["guided_json"]
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                raise invalid("/guided_json", "a JSON schema", value) from None
        made.append(_json_form("/guided_json", value))
    if "guided_regex" in fields:
        made.append(_regex_form(fields["guided_regex"]))
    if len(made) > 1:
        raise ApiError(400, "invalid_value", f"{made[1].pointer}: expected one "
                       f"grammar, got {made[0].pointer} too", made[1].pointer)
    if not made:
        return None
    expect_alone(made[0], fields)
    return made[0]


def _response_form(given: Any) -> Optional[Form]:
    at = "/response_format"
    fields = read_fields(given, _FORMAT, at)
    kind = need_at(fields, "type", at)
    if kind == "text":
        return None
    if kind == "json_object":
        # huggingface_hub's client writes a schema here.
        return _json_form(at + "/value", fields.get("value",
                                                    {"type": "object"}))
    at += "/json_schema"
    named = read_fields(need_at(fields, "json_schema", "/response_format"),
                        _NAMED_SCHEMA, at)
    return _json_form(at + "/schema", need_at(named, "schema", at))


def _json_form(pointer: str, schema: Any) -> Form:
    schema = check_schema(pointer, schema)

    def check(made: str) -> Optional[str]:
        try:
            return fault(schema, json.loads(made))
        except ValueError as error:
            return f"expected JSON, got: {error}"
        except (TooMuch, RecursionError):
            raise ApiError(400, "invalid_schema", f"{pointer}: expected fewer "
                           "alternatives, got more than can be checked",
                           pointer) from None
    return Form(pointer, "start: " + json_rule(schema), check)


def _regex_form(pattern: str) -> Form:
    if len(pattern) > _MOST_PATTERN:
        raise invalid("/guided_regex", f"at most {_MOST_PATTERN} characters",
                      pattern)
    # llguidance's own flavour, which has no look-around and takes linear time;
    # nobody else reads a stranger's pattern.
    return Form("/guided_regex", "start: /" + pattern.replace("/", r"\/") + "/",
                lambda made: None)


def expect_alone(form: Form, fields: Mapping[str, Any]) -> None:
    """Raises ApiError where another field would end an answer elsewhere."""
    for name in ("stop", "ignore_eos", "min_tokens"):
        if fields.get(name):
            raise ApiError(400, "unsupported_value", f"/{name}: expected none "
                           f"beside {form.pointer}, which says where the "
                           "answer ends", f"/{name}")


class Grammars:
    """Of a model: its tokens, as llguidance reads them."""

    def __init__(self, model):
        self._model = model

    @functools.cached_property
    def _tokens(self):
        llguidance = _package()
        path = getattr(self._model.tokenizer, "path", None)
        path = Path(path) if path else self._model.folder
        path = path / "tokenizer.json" if path and path.is_dir() else path
        info = self._model.info
        width = next(port.width for port in info.outputs
                     if port.name == "logits")
        try:
            return llguidance.LLTokenizer(
                path.read_text(encoding="utf-8"), n_vocab=width,
                eos_token=list(info.eos))
        except Exception as error:  # whatever a package has of its own
            raise ApiError(
                400, "unsupported_value", "expected a model whose tokenizer "
                "(tokenizer.json) llguidance reads, for grammars, got: "
                f"{shown(str(error))}") from None

    def masks(self, form: Form, count: int) -> "Masks":
        """Of `count` answers. Raises ApiError where nothing fits the form."""
        llguidance = _package()
        matcher = llguidance.LLMatcher(self._tokens, form.lark, log_level=0)
        if matcher.is_error():
            line = matcher.get_error().strip().splitlines()[:1]
            raise ApiError(400, "invalid_schema", f"{form.pointer}: expected a "
                           "grammar that llguidance takes, got: "
                           f"{''.join(line)[:300]}", form.pointer)
        return Masks(form, [matcher.deep_copy() for _ in range(count)])


class Masks:
    """Where each answer of a question is in its grammar."""

    def __init__(self, form: Form, matchers: Sequence):
        self.form = form
        self._matchers = matchers
        self._texts = [""] * len(matchers)

    def next(self, index: int, tokens: Sequence[int]) -> np.ndarray:
        """Behind these tokens of an answer: which may come, a bit each. Raises
        ApiError."""
        matcher = self._matchers[index]
        matcher.consume_tokens(list(tokens))
        bits = np.frombuffer(matcher.compute_bitmask(), np.uint32)
        # One that gives up allows the end of the text, and says so behind it.
        if matcher.is_error():
            raise ApiError(400, "invalid_schema", f"{self.form.pointer}: "
                           "expected a grammar that can be followed, got: "
                           + shown(matcher.get_error()), self.form.pointer)
        return bits

    def add(self, index: int, text: str, finish: Optional[str]) -> None:
        """More of an answer's text. Raises ApiError where a finished one is
        not what was asked for, which is a fault of ours."""
        self._texts[index] += text
        wrong = self.form.check(self._texts[index]) if finish == "stop" \
            else None
        if wrong:
            raise ApiError(500, "schema_violation", f"{self.form.pointer}: "
                           f"expected an answer that fits it, got {wrong}",
                           self.form.pointer)


def _package():
    try:
        import llguidance
        return llguidance
    except ImportError:
        raise ApiError(
            400, "unsupported_value", "expected the package llguidance for "
            "grammars (pip install 'tfcompiler-runtime[grammar]'), got none"
        ) from None
