# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Receipts: what an answer was made of and by what, so that anybody who has the
model can compute it again."""
from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

from tfcompiler._decoding import decoding_options, written_words
from tfcompiler._error import Code, Error
from tfcompiler._library import version
from tfcompiler._model import Model
from tfcompiler.serve._engine import Engine
from tfcompiler.serve._grammar import Form
from tfcompiler.serve._question import Question, Tally, TextPiece

VERSION = 1
# Of Question.words, what is no decoding and belongs to the answer all the same.
_OTHERS = ("max_new_tokens", "logit_bias", "eos_token_id")
# Who asked when: an answer does not depend on it.
_OUTSIDE = ("logprobs", "echo", "priority", "salt", "deadline")


def environment(model: Model) -> Dict[str, Any]:
    """What answers depend on beside the request: the code, the weights and the
    tokenizer, by their SHA-256. Reads all of the weights. Raises Error."""
    files: List[Path] = []
    for place in map(Path, model.weights):
        files += sorted(place.glob("*.safetensors")) if place.is_dir() \
            else [place]
    tokenizer = model.folder and model.folder / "tokenizer.json"
    return {
        "library": _digest([Path(model._loaded_by[0])]),
        "weights": _digest(files),
        "tokenizer": _digest([tokenizer]) if tokenizer and tokenizer.exists()
        else None,
        "program": model.info.program, "runtime": version()}


def _digest(files: Sequence[Path]) -> str:
    made = hashlib.sha256()
    for path in files:
        try:
            with open(path, "rb") as stream:
                while part := stream.read(1 << 20):
                    made.update(part)
        except OSError as error:
            raise Error(Code.IO, f"{path}: expected a file that can be read, "
                        f"got: {error.strerror}") from None
    return made.hexdigest()


class Outputs:
    """What came of a question's answers."""

    def __init__(self, count: int):
        self._texts = [hashlib.sha256() for _ in range(count)]
        self._made: List[Dict[str, Any]] = [
            {"tokens": [], "finish": None} for _ in range(count)]

    def add(self, piece: TextPiece) -> None:
        made = self._made[piece.index]
        made["tokens"] += piece.tokens
        made["finish"] = piece.finish or made["finish"]
        self._texts[piece.index].update(piece.text.encode())

    def written(self) -> List[Dict[str, Any]]:
        return [{**made, "text": text.hexdigest()}
                for made, text in zip(self._made, self._texts)]


def receipt(engine: Engine, questions: Sequence[Question], outputs: Outputs,
            tally: Tally) -> Dict[str, Any]:
    """Of a response: a JSON object. Cache hits are told, and not needed to
    compute it again."""
    return {"v": VERSION, "model": engine.name,
            "environment": engine.environment,
            "questions": [_write_question(engine.model, each)
                          for each in questions],
            "outputs": outputs.written(),
            "cached_tokens": tally.cached_tokens,
            "preemptions": tally.preemptions}


def _write_question(model: Model, question: Question) -> Dict[str, Any]:
    words = dict(question.words)
    others = {name: words.pop(name) for name in _OTHERS if name in words}
    for name in _OUTSIDE:
        words.pop(name, None)
    with model._handle as pointer:
        decoding = written_words(decoding_options(
            pointer, {"num_beams": 1, **words}))
    # JSON has no infinity: a token that may not come has no number.
    bias = {str(token): None if value == -math.inf else value
            for token, value in (others.pop("logit_bias", None) or {}).items()}
    return {"prompt": list(question.ids), "n": question.n,
            "stop": list(question.stops), "keeps_stop": question.keeps_stop,
            "keeps_special": question.keeps_special,
            "grammar": question.masks and question.masks.form.lark,
            "decoding": decoding, "logit_bias": bias, **others}


def read_question(given: Mapping[str, Any]) -> Question:
    """A question of a receipt, without its masks. Raises KeyError, TypeError,
    ValueError, AttributeError where it is none."""
    words = dict(given["decoding"])
    words["logit_bias"] = {
        int(token): -math.inf if value is None else float(value)
        for token, value in given["logit_bias"].items()}
    words["max_new_tokens"] = int(given["max_new_tokens"])
    if "eos_token_id" in given:
        words["eos_token_id"] = given["eos_token_id"]
    stops = given["stop"]
    if not all(isinstance(stop, str) and stop for stop in stops):
        raise ValueError("stop")
    return Question([int(token) for token in given["prompt"]],
                    int(given["n"]), stops, bool(given["keeps_stop"]), words,
                    keeps_special=bool(given["keeps_special"]))


def read_form(given: Mapping[str, Any]) -> Optional[Form]:
    """Its grammar, which checks nothing: what came of it is compared."""
    grammar = given.get("grammar")
    return grammar and Form("grammar", str(grammar), lambda made: None)
