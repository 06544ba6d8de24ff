# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sounds as texts: OpenAI's /v1/audio/transcriptions and translations."""
from __future__ import annotations

import math
import zlib
from typing import Any, Dict, List, Mapping

from starlette.responses import JSONResponse, PlainTextResponse, Response

from tfcompiler._error import Error
from tfcompiler._languages import NAMES
from tfcompiler._sound import knows_languages, settings_of
from tfcompiler._subtitles import subtitles
from tfcompiler._transcribe import Transcript
from tfcompiler.serve._engine import Engine
from tfcompiler.serve._errors import ApiError, from_error, invalid
from tfcompiler.serve._fields import (Refused, Table, need, number, one_of,
                                      read_fields, text, whole)
from tfcompiler.serve._forms import Upload
from tfcompiler.serve._generation import draw_seed
from tfcompiler.serve._server import Server

_MOST_PROMPT = 10000  # characters; the last of its tokens are heard
_WITH_TIMES = ("verbose_json", "srt", "vtt")


def _file(pointer: str, value: Any) -> Upload:
    if not isinstance(value, Upload):
        raise invalid(pointer, "a file", value)
    return value


def _read(kind, reader):
    """A number that a form has as a text."""
    def read(pointer: str, value: Any):
        try:
            return reader(pointer, kind(value))
        except (TypeError, ValueError):
            return reader(pointer, value)
    return read


def _prompt(pointer: str, value: Any) -> str:
    if len(text(pointer, value)) > _MOST_PROMPT:
        raise ApiError(400, "invalid_value", f"{pointer}: expected at most "
                       f"{_MOST_PROMPT} characters, got {len(value)}", pointer)
    return value


def _granularities(pointer: str, value: Any) -> List[str]:
    values = value if isinstance(value, list) else [value]
    if "word" in values:
        raise ApiError(400, "unsupported_value", f"{pointer}: expected "
                       "'segment' (times of words are not served), got 'word'",
                       pointer)
    return [one_of("segment")(pointer, each) for each in values]


TRANSLATIONS: Table = {
    "file": _file,
    "model": text,
    "prompt": _prompt,
    "response_format": one_of("json", "text", "srt", "verbose_json", "vtt"),
    "temperature": _read(float, number(0, 1)),
    "seed": _read(int, whole(-2**63, 2**63 - 1)),
}
TRANSCRIPTIONS: Table = {
    **TRANSLATIONS,
    "language": text,
    "timestamp_granularities[]": _granularities,
    "timestamp_granularities": _granularities,
    "stream": one_of("false", "False", "0"),
    "include[]": Refused("expected none: log-probabilities are not served"),
    "chunking_strategy": Refused("expected none: a sound is heard by its "
                                 "times"),
}


async def transcriptions(server: Server, body: Mapping[str, Any], tenant: str):
    """What is said. Raises ApiError, Error."""
    return await _answer(server, read_fields(body, TRANSCRIPTIONS),
                         "transcribe")


async def translations(server: Server, body: Mapping[str, Any], tenant: str):
    """The same in English. Raises ApiError, Error."""
    return await _answer(server, read_fields(body, TRANSLATIONS), "translate")


async def _answer(server: Server, fields: Mapping[str, Any], task: str
                  ) -> Response:
    engine = server.engine(fields.get("model"))
    if engine.listener is None:
        raise ApiError(400, "unsupported_value", "/model: expected a model "
                       f"that writes what it hears, got {engine.name}",
                       "/model")
    form = fields.get("response_format", "json")
    for name in TRANSCRIPTIONS:
        if name.startswith("timestamp_") and name in fields and \
                form != "verbose_json":
            raise ApiError(400, "unsupported_value", f"/{name}: expected with "
                           "response_format verbose_json only", f"/{name}")
    sound = need(fields, "file")
    words = _words(engine, fields, task)
    if form in _WITH_TIMES:
        words["return_timestamps"] = True
    try:
        made = await engine.listener.hear(sound, **words)
    except Error as error:
        told = from_error(error)
        for name in ("language", "prompt"):
            if str(error).startswith(f"{name}:"):
                told.param = f"/{name}"
        raise told from None
    response = _response(form, made, task, fields.get("temperature", 0.0))
    if "seed" in words:
        response.headers["x-tfc-seed"] = str(words["seed"])
    return response


def _words(engine: Engine, fields: Mapping[str, Any], task: str
           ) -> Dict[str, Any]:
    """What a Transcriber is told."""
    words: Dict[str, Any] = {"language": fields.get("language"), "task": task,
                             "prompt": fields.get("prompt")}
    if task == "transcribe" and not words["language"] and \
            not knows_languages(settings_of(engine.model.folder)):
        words["task"] = None  # there is no other
    temperature = fields.get("temperature", 0.0)
    words["do_sample"] = temperature > 0
    if words["do_sample"]:
        words.update(temperature=temperature, seed=draw_seed(fields))
    return words


def _response(form: str, made: Transcript, task: str, temperature: float
              ) -> Response:
    if form == "text":
        return PlainTextResponse(made.text.strip() + "\n")
    if form in ("srt", "vtt"):
        return PlainTextResponse(subtitles(form, made.segments))
    body: Dict[str, Any] = {"text": made.text.strip()}
    if form == "verbose_json":
        language = made.language or "en"
        body.update(
            task=task, language=NAMES.get(language, language),
            duration=made.duration, segments=[
                {"id": number, "seek": segment.seek, "start": segment.start,
                 "end": segment.end, "text": segment.text,
                 "tokens": segment.tokens, "temperature": temperature,
                 "avg_logprob": None, "no_speech_prob": None,
                 "compression_ratio": _compression(segment.text)}
                for number, segment in enumerate(made.segments)])
    body["usage"] = {"type": "duration", "seconds": math.ceil(made.duration)}
    return JSONResponse(body)


def _compression(said: str) -> float:
    data = said.encode()
    return len(data) / len(zlib.compress(data))
