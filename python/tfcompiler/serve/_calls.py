# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of tools in a model's text: how families of models write them, and a
reader that takes the text in pieces of any length."""
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import AbstractSet, Any, List, Optional, Tuple

from tfcompiler.serve._ids import new_id


@dataclass(frozen=True)
class CallFormat:
    """How a call is written. begin, end: what stands around it ("": nothing;
    then a text that begins with an object is calls). arguments: the key of its
    arguments. is_list: one list of all calls."""

    name: str
    begin: str
    end: str
    arguments: str = "arguments"
    is_list: bool = False


FORMATS = {each.name: each for each in (
    CallFormat("hermes", "<tool_call>", "</tool_call>"),
    CallFormat("mistral", "[TOOL_CALLS]", "", is_list=True),
    CallFormat("llama", "", "", "parameters"))}
# Marks of formats that are not read, of templates that have one of the above.
_OTHERS = ("<function=", "[ARGS]", "<|tool_calls_section_begin|>")
# What a model of Llama's may write before an object.
_TAG = "<|python_tag|>"


def find_format(template: str) -> Optional[CallFormat]:
    """The format of which a chat template tells the model."""
    if any(mark in template for mark in _OTHERS):
        return None
    for format in FORMATS.values():
        if format.begin and format.begin in template:
            return format
    is_llama = "ipython" in template and '"parameters"' in template
    return FORMATS["llama"] if is_llama else None


@dataclass(frozen=True)
class Call:
    """A call that a model wrote. arguments: a JSON object, as a text."""

    name: str
    arguments: str

    def as_openai(self) -> dict:
        """As OpenAI's clients read it. The id is as short as some templates
        demand."""
        return {"id": new_id()[:9], "type": "function", "function": {
            "name": self.name, "arguments": self.arguments}}


class CallReader:
    """Takes an answer's text in pieces; gives its text without calls, and the
    calls, each once it is whole. What is no call of one of `names` stays text,
    as it was written. most: calls; what is behind the last one is left out."""

    def __init__(self, format: CallFormat, names: AbstractSet[str],
                 most: int = 128):
        self._format, self._names, self._most = format, names, most
        self._held = ""
        self._space = ""  # of the text, before a call perhaps
        self._is_behind_call = False
        self._is_inside = False  # behind a call's beginning
        self._is_text = False  # of a format without beginnings
        self._count = 0

    def push(self, text: str, is_last: bool) -> Tuple[str, List[Call]]:
        """What there is more of text and of calls."""
        self._held += text
        made, calls = self._take_marked(is_last) if self._format.begin else \
            self._take_objects(is_last)
        if is_last:
            made += self._space
        return made, calls

    def _text(self, text: str) -> str:
        """Text that is none of a call's; space beside a call is none at all."""
        text = text.lstrip() if self._is_behind_call else text
        if not text:
            return ""
        self._is_behind_call = False
        text = self._space + text
        kept = text.rstrip()
        self._space = text[len(kept):]
        return kept

    def _called(self, inside: Tuple[str, str]) -> List[Call]:
        """The calls of what stands between marks."""
        found = self._read(inside[0])[:self._most - self._count]
        self._count += len(found)
        if found:
            self._space, self._is_behind_call = "", True
        return found

    @property
    def has_calls(self) -> bool:
        return self._count != 0

    def _take_marked(self, is_last: bool) -> Tuple[str, List[Call]]:
        made, calls = "", []
        while self._count < self._most:
            if not self._is_inside:
                made += self._text(self._until_begin(is_last))
                if not self._is_inside:
                    return made, calls
            inside = self._until_end(is_last)
            if inside is None:
                return made, calls
            self._is_inside = False
            found = self._called(inside)
            if not found:
                made += self._text(self._format.begin + "".join(inside))
            calls += found
        self._held = ""
        return made, calls

    def _until_begin(self, is_last: bool) -> str:
        """Text before a call, without what one may have begun with."""
        begin = self._format.begin
        at = self._held.find(begin)
        if at >= 0:
            self._is_inside = True
            made, self._held = self._held[:at], self._held[at + len(begin):]
            return made
        kept = 0 if is_last else next(
            (count for count in range(len(begin) - 1, 0, -1)
             if self._held.endswith(begin[:count])), 0)
        cut = len(self._held) - kept
        made, self._held = self._held[:cut], self._held[cut:]
        return made

    def _until_end(self, is_last: bool) -> Optional[Tuple[str, str]]:
        """What is in a call, and its end; None while it goes on."""
        end = self._format.end
        at = self._held.find(end) if end else -1
        if at >= 0:
            made, self._held = self._held[:at], self._held[at + len(end):]
            return made, end
        if not is_last:
            return None
        made, self._held = self._held, ""
        return made, ""

    def _take_objects(self, is_last: bool) -> Tuple[str, List[Call]]:
        """Of a format that has no marks: all of the text, or none."""
        begun = self._held.lstrip()
        if not self._is_text and (not begun or begun[0] == "{"
                                  or _TAG.startswith(begun[:len(_TAG)])):
            if not is_last:
                return "", []
            inside = begun[len(_TAG):] if begun.startswith(_TAG) else begun
            calls = self._called((inside, ""))
            if calls:
                self._held = ""
                return "", calls
        self._is_text = True
        made, self._held = self._held, ""
        return self._text(made), []

    def _read(self, text: str) -> List[Call]:
        """The calls of a text, all of which must be some; otherwise none."""
        values = _objects(text)
        if values is not None and self._format.is_list:
            values = values[0] if len(values) == 1 and isinstance(
                values[0], list) else None
        made = [self._call(value) for value in values or ()]
        return [] if None in made else made

    def _call(self, value: Any) -> Optional[Call]:
        if not isinstance(value, dict):
            return None
        name, given = value.get("name"), value.get(self._format.arguments)
        if not isinstance(name, str) or name not in self._names or \
                not isinstance(given, dict):
            return None
        return Call(name, json.dumps(given, ensure_ascii=False))


def _objects(text: str) -> Optional[List[Any]]:
    """Values of JSON, several with `;` between; None: it is something else."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    made: List[Any] = []
    text = text.strip()
    try:
        while text:
            value, end = decoder.raw_decode(text)
            made.append(value)
            text = text[end:].lstrip()
            if text and text[0] != ";":
                return None
            text = text[1:].lstrip()
    except (ValueError, RecursionError):
        return None
    return made


def _refuse(name: str):
    raise ValueError(name)
