# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How an answer is to be written: the fields that all addresses that generate
have, in OpenAI's words and vLLM's, and what they ask of the scheduler."""
from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Sequence

from tfcompiler.serve._engine import Engine
from tfcompiler.serve._errors import ApiError
from tfcompiler.serve._fields import (Ignored, Refused, Table, anything,
                                      biases, boolean, mapping, number,
                                      one_or_more, read_fields, text, whole)
from tfcompiler.serve._question import Question

MOST_ANSWERS = 128
MOST_LOGPROBS = 20
_MOST_STOPS = 16
_MOST_BEAMS = 64
_LEAST, _MOST = -2**63, 2**63 - 1


def _early_stopping(pointer: str, value: Any):
    if value == "never":
        return value
    return boolean(pointer, value)


# What everybody's clients send, and what it means.
FIELDS: Table = {
    "model": text,
    "max_tokens": whole(1, 1 << 30),
    "temperature": number(0, 100),
    "top_p": number(0, 1),
    "top_k": whole(-1, 1 << 30),
    "min_p": number(0, 1),
    "repetition_penalty": number(0.01, 100),
    "presence_penalty": number(-2, 2),
    "frequency_penalty": number(-2, 2),
    "no_repeat_ngram_size": whole(0, 1 << 20),
    "min_tokens": whole(0, 1 << 30),
    "ignore_eos": boolean,
    "seed": whole(_LEAST, _MOST),
    "logit_bias": biases,
    "stop": one_or_more(text, _MOST_STOPS),
    "include_stop_str_in_output": boolean,
    "n": whole(1, MOST_ANSWERS),
    "stream": boolean,
    "stream_options": mapping,
    "priority": whole(-1000, 1000),
    "cache_salt": text,
    "deadline_ms": whole(1, 1 << 40),
    "receipt": boolean,
    "timings": boolean,
    "user": Ignored(),
    "store": Ignored(),
    "metadata": Ignored(),
    "service_tier": Ignored(),
    "safety_identifier": Ignored(),
    "prompt_cache_key": Ignored(),
    "prediction": Refused("expected no prediction: drafts are not served"),
    "use_beam_search": boolean,
    "num_beams": whole(1, _MOST_BEAMS),
    "length_penalty": number(-100, 100),
    "early_stopping": _early_stopping,
    "response_format": anything,
    "guided_json": anything,
    "guided_regex": text,
    "guided_choice": Refused("expected guided_regex"),
    "guided_grammar": Refused("expected guided_json or guided_regex"),
}
_STREAM_OPTIONS: Table = {"include_usage": boolean,
                          "include_obfuscation": Ignored()}

# Fields that mean the same under another name.
_WORDS = {
    "top_p": "top_p", "min_p": "min_p",
    "repetition_penalty": "repetition_penalty",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "no_repeat_ngram_size": "no_repeat_ngram_size",
    "min_tokens": "min_new_tokens", "logit_bias": "logit_bias",
}
# What a search has not, or nothing but a search has.
_NOT_WITH_BEAMS = ("stop", "logprobs", "logit_bias", "response_format",
                   "guided_json", "guided_regex", "tools")
_OF_BEAMS = ("length_penalty", "early_stopping")


@dataclass(frozen=True)
class Limits:
    """max_tokens: of an answer of which nobody said how long it may be."""

    max_tokens: int = 4096


def question(engine: Engine, ids: Sequence[int], fields: Mapping[str, Any],
             limits: Limits, tenant: str, seed: int, logprobs: int = 0,
             echo: bool = False) -> Question:
    """What fields ask for behind a prompt. Raises ApiError."""
    words: Dict[str, Any] = {
        _WORDS[name]: value for name, value in fields.items()
        if name in _WORDS}
    if "temperature" in fields:
        words["do_sample"] = fields["temperature"] > 0
        if words["do_sample"]:
            words["temperature"] = fields["temperature"]
    if "top_k" in fields:
        words["top_k"] = max(0, fields["top_k"])
    if fields.get("ignore_eos"):
        words["eos_token_id"] = None
    if "deadline_ms" in fields:
        words["deadline"] = fields["deadline_ms"] / 1000
    words.update(_beams(fields))
    words.update(
        seed=seed, logprobs=logprobs, echo=echo,
        # Of vLLM's the least is the first, of the scheduler's the greatest.
        priority=-fields.get("priority", 0),
        salt=salt(tenant, fields.get("cache_salt", "")),
        max_new_tokens=_most_new(engine, len(ids), fields, limits))
    return Question(ids, fields.get("n", 1), _stops(fields),
                    fields.get("include_stop_str_in_output", False), words)


def _beams(fields: Mapping[str, Any]) -> Dict[str, Any]:
    """The words of a search, where one is asked for: of Hugging Face's name, or
    of vLLM's, which has as many beams as best_of or n says."""
    answers = fields.get("n", 1)
    beams = fields.get("num_beams", 1)
    if fields.get("use_beam_search"):
        beams = max(beams, fields.get("best_of", answers))
    wrong = _NOT_WITH_BEAMS if beams > 1 else _OF_BEAMS
    for name in wrong:
        given = fields.get(name)
        if given is not None and given is not False and given != []:
            raise ApiError(
                400, "unsupported_value", f"/{name}: expected none "
                + ("beside beams" if beams > 1 else "without num_beams or "
                   "use_beam_search, and more than one beam"), f"/{name}")
    if beams <= 1:
        return {}
    if answers > beams:
        raise ApiError(400, "invalid_value", f"/n: expected at most {beams}, "
                       f"the beams, got {answers}", "/n")
    words = {name: fields[name] for name in _OF_BEAMS if name in fields}
    # Beams are drawn only where the request says so.
    return {"do_sample": fields.get("temperature", 0) > 0, **words,
            "num_beams": beams}


def draw_seed(fields: Mapping[str, Any]) -> int:
    """The request's, or one that the answer can be asked for again with."""
    if "seed" in fields:
        return fields["seed"] & (1 << 64) - 1
    return secrets.randbits(63)


def includes_usage(fields: Mapping[str, Any]) -> bool:
    """Whether a stream ends with what it cost."""
    options = read_fields(fields.get("stream_options", {}), _STREAM_OPTIONS,
                          "/stream_options")
    return options.get("include_usage", False)


def _most_new(engine: Engine, prompt: int, fields: Mapping[str, Any],
              limits: Limits) -> int:
    if "max_tokens" in fields:
        return fields["max_tokens"]
    most = engine.model.info.max_positions
    if not most:
        return limits.max_tokens
    if engine.model.info.kind == "encoder-decoder":
        prompt = 1  # what its decoder begins with
    return max(1, min(limits.max_tokens, most - prompt))


def _stops(fields: Mapping[str, Any]) -> Sequence[str]:
    stops = fields.get("stop", ())
    if "" in stops:
        raise ApiError(400, "invalid_value", "/stop: expected texts that are "
                       "not empty, got ''", "/stop")
    return stops


def salt(tenant: str, own: str) -> int:
    """Beginnings of texts are shared by those of one tenant with one salt of
    their own."""
    if not tenant and not own:
        return 0
    digest = hashlib.sha256(f"{len(tenant)} {tenant}{own}".encode()).digest()
    return int.from_bytes(digest[:8], "little") or 1
