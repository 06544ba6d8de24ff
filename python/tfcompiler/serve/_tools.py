# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tools of a chat: what a request may say of them, and how an answer has their
calls."""
from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from tfcompiler.serve._calls import (FORMATS, CallFormat, CallReader,
                                     find_format)
from tfcompiler.serve._engine import Engine
from tfcompiler.serve._errors import ApiError, invalid
from tfcompiler.serve._fields import (Table, boolean, mapping, need_at, one_of,
                                      read_fields, text)
from tfcompiler.serve._grammar import Form, json_rule
from tfcompiler.serve._schema import check_schema

MOST_TOOLS = 128
_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def _name(pointer: str, value: Any) -> str:
    if not _NAME.fullmatch(text(pointer, value)):
        raise invalid(pointer, "1 to 64 letters, digits, _, . and -", value)
    return value


_FUNCTION: Table = {"name": _name, "description": text, "parameters": mapping,
                    "strict": boolean}
_TOOL: Table = {"type": one_of("function"),
                "function": lambda pointer, value: read_fields(
                    value, _FUNCTION, pointer)}
_CHOICE: Table = {"type": one_of("function"),
                  "function": lambda pointer, value: read_fields(
                      value, {"name": text}, pointer)}


def tool(pointer: str, value: Any) -> Dict[str, Any]:
    """A tool that the model may call."""
    made = read_fields(value, _TOOL, pointer)
    need_at(made, "type", pointer)
    need_at(need_at(made, "function", pointer), "name", pointer + "/function")
    return made


def choice(pointer: str, value: Any) -> Any:
    """none, auto, required, or the name of a function as (name,)."""
    if isinstance(value, dict):
        made = read_fields(value, _CHOICE, pointer)
        return (need_at(need_at(made, "function", pointer), "name",
                        pointer + "/function"),)
    return one_of("none", "auto", "required")(pointer, value)


def _arguments(pointer: str, value: Any) -> Dict[str, Any]:
    """A call's arguments, which templates want as an object."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError):
            raise invalid(pointer, "a JSON object as a text", value) from None
    return mapping(pointer, value)


_CALLED: Table = {"name": text, "arguments": _arguments}
_CALL: Table = {"id": text, "type": one_of("function"),
                "function": lambda pointer, value: read_fields(
                    value, _CALLED, pointer)}


def call(pointer: str, value: Any) -> Dict[str, Any]:
    """A call in a message of the assistant's."""
    made = read_fields(value, _CALL, pointer)
    function = need_at(made, "function", pointer)
    need_at(function, "name", pointer + "/function")
    function.setdefault("arguments", {})
    return {"type": "function", **made}


@dataclass(frozen=True)
class ToolUse:
    """Of a request with tools: those that the template is shown, how calls are
    written, and of which functions, in how many calls at most."""

    tools: Sequence[Mapping[str, Any]]
    format: CallFormat
    choice: Any
    most: int

    @property
    def names(self) -> List[str]:
        return [each["function"]["name"] for each in self.tools]

    def reader(self) -> CallReader:
        """Of one answer."""
        return CallReader(self.format, frozenset(self.names), self.most)


def tool_use(engine: Engine, fields: Mapping[str, Any],
             named: Optional[str]) -> Optional[ToolUse]:
    """What a request asks for; None: no calls are to be read. named: the
    format, by which the template's own is not looked for. Raises ApiError."""
    tools = fields.get("tools") or []
    chosen = fields.get("tool_choice", "auto" if tools else "none")
    if chosen == "none":
        return None
    if not tools:
        raise invalid("/tool_choice", "tools beside it", chosen)
    _expect_names(tools, chosen)
    template = engine.template_text(True)
    format = FORMATS[named] if named else find_format(template)
    if format is None or "tools" not in template:
        raise ApiError(
            400, "unsupported_value", f"/tools: expected a model whose chat "
            f"template has tools and one of the formats {', '.join(FORMATS)}, "
            f"got {engine.name} (--tool-format names one)", "/tools")
    if chosen == "auto" and format.name != "hermes" and _strict(tools):
        raise ApiError(
            400, "unsupported_value", "/tools: expected strict functions with "
            "tool_choice required or a function's name, for a model that "
            f"writes calls as {format.name}", "/tools")
    return ToolUse(tools, format, chosen,
                   1 if isinstance(chosen, tuple) or
                   not fields.get("parallel_tool_calls", True) else 16)


def _strict(tools: Sequence[Mapping]) -> bool:
    return any(each["function"].get("strict") for each in tools)


def call_form(engine: Engine, use: ToolUse) -> Optional[Form]:
    """The grammar of an answer that must be calls, or whose calls are strict;
    None: there is nothing to enforce. Raises ApiError."""
    if use.choice == "auto" and not _strict(use.tools):
        return None
    names = use.choice if isinstance(use.choice, tuple) else use.names
    rules, wanted = [], []
    for number, each in enumerate(use.tools):
        function = each["function"]
        if function["name"] in names:
            at = f"/tools/{number}/function/parameters"
            rules.append(f"call_{number}: " + json_rule(_call_schema(
                use.format, function, at)))
            wanted.append(f"call_{number}")
    rules.append("call: " + " | ".join(wanted))
    rules += _layout(use, _mark(engine, use.format.begin))
    return Form("/tools", "\n".join(rules), lambda made: None)


def _call_schema(format: CallFormat, function: Mapping, at: str) -> dict:
    given = check_schema(at, function.get("parameters") or {})
    arguments = {"type": "object", **given}
    shared = {key: arguments.pop(key) for key in ("$defs", "definitions")
              if key in arguments}  # which a $ref finds from the root
    return {"type": "object", "properties": {
        "name": {"const": function["name"]}, format.arguments: arguments},
        "required": ["name", format.arguments],
        "additionalProperties": False, **shared}


def _layout(use: ToolUse, begin: str) -> List[str]:
    """Rules of an answer of calls, and of text where it may have some."""
    end = json.dumps(use.format.end)

    def repeated(space: str, rule: str) -> str:
        more = f' ({space} {rule}){{0,{use.most - 1}}}'
        return rule + (more if use.most > 1 else "")
    if use.format.is_list:
        return ["start: " + begin + ' "[" ' + repeated('", "', "call") + ' "]"']
    if not use.format.begin:
        return ["start: " + repeated('"; "', "call")]
    if use.choice != "auto":
        return ["start: " + repeated('"\\n"', "marked"),
                f'marked: {begin} "\\n" call "\\n" {end}']
    text = "TEXT: /(.|\\n)*/"
    if begin.startswith("<["):  # a token of its own, which is in no text
        return ["start: marked* TEXT", text,
                f'marked: TEXT {begin} "\\n" call "\\n" {end}']
    return ["start: marked* TEXT", text, f"begun[lazy]: TEXT {begin}",
            f'marked: begun "\\n" call "\\n" {end}']


def _mark(engine: Engine, begin: str) -> str:
    """What a call begins with: a special token in some vocabularies."""
    tokenizer = engine.model.tokenizer
    token = tokenizer.token_to_id(begin) if begin else None
    is_special = token is not None and not tokenizer.decode([token], True)
    return f"<[{token}]>" if is_special else json.dumps(begin)


def _expect_names(tools: Sequence[Mapping], chosen: Any) -> None:
    names = [each["function"]["name"] for each in tools]
    if len(set(names)) != len(names):
        raise invalid("/tools", "functions whose names differ",
                      ", ".join(names))
    if isinstance(chosen, tuple) and chosen[0] not in names:
        raise invalid("/tool_choice/function/name",
                      "one of " + ", ".join(names), chosen[0])


class ToolAnswer:
    """Text and calls of one answer of a chat, as they come."""

    def __init__(self, use: Optional[ToolUse]):
        self._reader = use and use.reader()

    def push(self, new: str, finish: Optional[str]
             ) -> Tuple[str, List[dict], Optional[str]]:
        """Of a piece its text, its calls as OpenAI's clients read them, and how
        the answer ended."""
        if self._reader is None:
            return new, [], finish
        made, calls = self._reader.push(new, finish is not None)
        if finish == "stop" and self._reader.has_calls:
            finish = "tool_calls"
        return made, [each.as_openai() for each in calls], finish
