# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chat templates, as transformers renders them: Jinja2 in its sandbox."""
from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Dict, List, Optional

from tfcompiler._error import Code, Error


class ChatTemplate:
    """The chat template of a Hugging Face folder: chat_template.jinja, or
    chat_template of tokenizer_config.json. Needs the package jinja2. Raises
    Error where the folder has none."""

    def __init__(self, folder):
        try:
            import jinja2.sandbox
        except ImportError:
            raise Error(Code.NOT_FOUND, "expected the package jinja2 for chat "
                        "templates (pip install jinja2), got none") from None
        folder = Path(folder)
        self.config = _read(folder / "tokenizer_config.json")
        self.path, text = _find(folder, self.config)
        environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True,
            extensions=["jinja2.ext.loopcontrols"])
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = (
            lambda form: datetime.datetime.now().strftime(form))
        self._error = jinja2.TemplateError
        try:
            self._template = environment.from_string(text)
        except jinja2.TemplateError as error:
            raise Error(Code.INVALID_ARGUMENT, f"{self.path}: expected a Jinja"
                        f" template, got: {error}") from None

    def render(self, messages: List[Dict[str, str]],
               add_generation_prompt: bool = True, **more) -> str:
        """The prompt of messages, each {"role": ..., "content": ...}; more is
        what the template asks for besides (tools, documents)."""
        special = {key: _token(value) for key, value in self.config.items()
                   if key.endswith("_token") and value}
        try:
            return self._template.render(
                messages=messages, **{
                    **special, "add_generation_prompt": add_generation_prompt,
                    **more})
        except self._error as error:
            raise Error(Code.INVALID_ARGUMENT,
                        f"{self.path}: {error}") from None


def _read(path: Path) -> dict:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise Error(Code.INVALID_ARGUMENT,
                    f"{path}: expected JSON, got: {error}") from None


def _find(folder: Path, config: dict):
    file = folder / "chat_template.jinja"
    if file.exists():
        return file, file.read_text(encoding="utf-8")
    text = config.get("chat_template")
    if isinstance(text, list):  # several, by name
        named = {each.get("name"): each.get("template") for each in text}
        text = named.get("default")
    if not isinstance(text, str):
        raise Error(Code.NOT_FOUND, f"{folder}: expected a chat template "
                    "(chat_template.jinja, or chat_template in "
                    "tokenizer_config.json), got none")
    return folder / "tokenizer_config.json", text


def _token(value) -> Optional[str]:
    return value.get("content") if isinstance(value, dict) else value


def _to_json(value, ensure_ascii=False, indent=None, separators=None,
             sort_keys=False) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent,
                      separators=separators, sort_keys=sort_keys)


def _refuse(message: str):
    import jinja2
    raise jinja2.TemplateError(message)
