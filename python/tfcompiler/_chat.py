# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chat templates, as transformers renders them, and the tokens of chats."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence, Union

from tfcompiler._chat_tokens import Marks, encode_marked
from tfcompiler._error import Code, Error
from tfcompiler._render import render


# What Hugging Face calls GGUF's special tokens.
_SPECIAL = {"unknown": "unk", "separator": "sep", "padding": "pad"}


class ChatTemplate:
    """The chat template of a Hugging Face folder (chat_template.jinja, or
    chat_template of tokenizer_config.json, where several may have names), or
    `text`. Needs the package jinja2. Raises Error where there is none."""

    def __init__(self, folder, text: Optional[str] = None, *, gguf=None,
                 tokenizer=None):
        """gguf: a file whose template counts where the folder has none, and
        tokenizer, which knows its special tokens."""
        folder = Path(folder)
        path = folder / "tokenizer_config.json"
        self._special = {key: _token(value)
                         for key, value in _read_json(path).items()
                         if key.endswith("_token") and value}
        self.path = path
        self._named = {"default": text} if text is not None else \
            self._find(folder)
        if gguf is not None and self._named.get("default") is None:
            self._read_gguf(gguf, tokenizer)
        if not isinstance(self._named.get("default"), str):
            raise Error(Code.NOT_FOUND, f"{folder}: expected a chat template "
                        "(chat_template.jinja, or chat_template in "
                        "tokenizer_config.json), got none")
        self.text = self._named["default"]
        render(str(self.path), self.text, None)

    def _find(self, folder: Path) -> Dict[str, str]:
        file = folder / "chat_template.jinja"
        if file.exists():
            self.path = file
            return {"default": _read(file)}
        text = _read_json(folder / "tokenizer_config.json").get(
            "chat_template")
        if isinstance(text, list):  # several, by name
            return {each.get("name"): each.get("template") for each in text
                    if isinstance(each, dict)}
        return {"default": text}

    def _read_gguf(self, path: Path, tokenizer) -> None:
        from tfcompiler._gguf import read_strings
        found = read_strings(path)
        self.path = path
        key = "tokenizer.chat_template"
        self._named = {"default": found.get(key),
                       "tool_use": found.get(key + ".tool_use")}
        for name in ("bos", "eos", "unknown", "separator", "padding"):
            id = found.get(f"tokenizer.ggml.{name}_token_id")
            token = tokenizer.id_to_token(id) if type(id) is int and \
                id < 1 << 31 else None
            if token is not None:
                self._special.setdefault(_SPECIAL.get(name, name) + "_token",
                                         token)

    def text_for(self, has_tools: bool) -> str:
        """The template of chats with tools, or without."""
        found = self._named.get("tool_use") if has_tools else None
        return found if isinstance(found, str) else self.text

    def render(self, messages: Sequence[Dict],
               add_generation_prompt: bool = True,
               tools: Optional[Sequence] = None,
               documents: Optional[Sequence] = None, **more) -> str:
        """The prompt of messages, each {"role": ..., "content": ...}; more is
        what the template asks for besides."""
        text = self.text_for(bool(tools))
        variables = {**self._special, **more}
        variables.update(
            messages=messages, tools=tools, documents=documents,
            add_generation_prompt=bool(add_generation_prompt))
        return render(str(self.path), text, variables)


def apply_chat_template(
        tokenizer, template: Callable[[], ChatTemplate],
        messages: Sequence[Dict], *, add_generation_prompt: bool = False,
        tokenize: bool = True, special_as_text: bool = True,
        chat_template: Optional[str] = None, tools: Optional[Sequence] = None,
        documents: Optional[Sequence] = None, **more
        ) -> Union[str, List[int]]:
    """The prompt of messages: see Model.apply_chat_template. `template` gives
    the folder's."""
    made = template() if chat_template is None else \
        ChatTemplate(".", chat_template)
    # A message without content has no key of that name, or None.
    given = {"messages": [_without_none(each) for each in _listed(messages)],
             "tools": tools, "documents": documents, "more": more}

    def write(values: dict) -> str:
        return made.render(values["messages"], add_generation_prompt,
                           values["tools"], values["documents"],
                           **values["more"])

    if not tokenize:
        return write(given)
    marks = Marks(tokenizer)
    hidden = marks.hide(given, made.text) if special_as_text else given
    return encode_marked(tokenizer, write(hidden), marks)


def _listed(messages) -> list:
    if isinstance(messages, (str, bytes, dict)) or not messages:
        raise Error(Code.INVALID_ARGUMENT, "messages: expected a list of one "
                    "or more, each {\"role\": ..., \"content\": ...}, got "
                    f"{type(messages).__name__}")
    return list(messages)


def _without_none(message):
    if not isinstance(message, dict):
        raise Error(Code.INVALID_ARGUMENT, "messages: expected dictionaries, "
                    f"each of a role and a content, got {message!r:.40}")
    return {key: value for key, value in message.items() if value is not None}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Error(Code.INVALID_ARGUMENT,
                    f"{path}: expected UTF-8, got: {error}") from None
    except OSError as error:
        raise Error(Code.IO, f"{path}: expected a file that can be read, got: "
                    f"{error.strerror}") from None


def _read_json(path: Path) -> dict:
    if not path.exists():
        return {}
    text = _read(path)
    try:
        made = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Error(Code.INVALID_ARGUMENT,
                    f"{path}: expected JSON, got: {error}") from None
    if not isinstance(made, dict):
        raise Error(Code.INVALID_ARGUMENT, f"{path}: expected a JSON object, "
                    f"got {type(made).__name__}")
    return made


def _token(value) -> Optional[str]:
    return value.get("content") if isinstance(value, dict) else value
