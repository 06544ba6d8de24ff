# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m tfcompiler compare-batches: whether an answer depends on who else
asks. Each text is answered alone, then in random mixtures with the others,
again and again, so that beginnings are remembered, too."""
from __future__ import annotations

import argparse
import base64
import concurrent.futures
import json
import os
import random
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, List, Optional, Sequence, Tuple

from tfcompiler._error import Code, Error
from tfcompiler._compile import compile
from tfcompiler._scheduler import Scheduler

_SHOWN = 5  # answers that differ
_PATHS = {"completions": "/v1/completions", "chat": "/v1/chat/completions",
          "embeddings": "/v1/embeddings"}

# Answers the texts of these numbers, all of them at once.
Answers = Callable[[Sequence[int]], List[bytes]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", help="a Hugging Face folder")
    parser.add_argument("--texts", type=Path, required=True, metavar="FILE",
                        help="a text a line")
    parser.add_argument("--url", help="of a server with OpenAI's addresses, "
                        "as http://localhost:8000, instead of a folder")
    parser.add_argument("--kind", choices=sorted(_PATHS),
                        help="of a server: what is asked (completions)")
    parser.add_argument("--model", default="", help="of a server, by its name")
    parser.add_argument("--api-key-variable", metavar="NAME",
                        default="OPENAI_API_KEY", help="of the environment, "
                        "with a server's key (OPENAI_API_KEY)")
    parser.add_argument("--mixtures", type=int, default=20, metavar="N")
    parser.add_argument("--at-once", type=int, default=32, metavar="N",
                        help="texts of a mixture, at most")
    parser.add_argument("--max-tokens", type=int, default=32, metavar="N",
                        help="of an answer")
    parser.add_argument("--seed", type=int, default=1,
                        help="of the mixtures and of what is drawn")
    parser.add_argument("--target", help="tfc compile's --target")
    parser.add_argument("--dtype", help="tfc compile's --dtype")


@dataclass
class Comparison:
    """How many answers there were in mixtures, and those that differ: the
    text's number, the answer alone and the other one."""

    answers: int
    differing: List[Tuple[int, bytes, bytes]]


def compare(alone: Answers, together: Answers, texts: int, *, mixtures: int,
            at_once: int, seed: int) -> Comparison:
    """Asks for each text alone, then for mixtures in which a text may come
    more than once."""
    drawn = random.Random(seed)
    expected = [alone([number])[0] for number in range(texts)]
    found = Comparison(0, [])
    for _ in range(mixtures):
        numbers = [drawn.randrange(texts)
                   for _ in range(drawn.randint(1, at_once))]
        for number, answer in zip(numbers, together(numbers)):
            found.answers += 1
            if answer != expected[number]:
                found.differing.append((number, expected[number], answer))
    return found


# ---- A folder ----


def _of_model(model, scheduler: Scheduler, texts: Sequence[str],
              options) -> Answers:
    """Every second text is drawn, by its number; a vector is its bytes."""
    encodings = model.tokenize(list(texts))
    generates = model.info.can_generate

    def submit(number: int):
        ids = encodings[number].ids
        if not generates:
            types = encodings[number].type_ids
            takes = any(port.name == "token_type_ids"
                        for port in model.info.inputs)
            return scheduler.submit_encode(
                [ids], type_ids=[types] if takes else None)
        how = {"do_sample": True, "seed": options.seed + number} \
            if number % 2 else {"do_sample": False}
        return scheduler.submit(ids, logprobs=1, eos_token_id=None,
                                max_new_tokens=options.max_tokens, **how)

    def read(job) -> bytes:
        if not generates:
            return b"".join(array.tobytes()
                            for array in job.arrays().values())
        answer, = job.result()
        if answer.error is not None:
            raise answer.error
        return b"".join(struct.pack("<qf", token, report[0])
                        for token, report in zip(answer.tokens,
                                                 answer.logprobs))

    def answers(numbers: Sequence[int]) -> List[bytes]:
        return [read(job) for job in [submit(number) for number in numbers]]

    return answers


def _compare_model(options, texts: Sequence[str]) -> Comparison:
    with compile(options.folder, target=options.target,
                 dtype=options.dtype) as model:
        with Scheduler(model, prefix_cache=False) as one, \
                Scheduler(model, max_step_tokens=48, max_drafts=4) as many:
            return compare(_of_model(model, one, texts, options),
                           _of_model(model, many, texts, options), len(texts),
                           mixtures=options.mixtures, at_once=options.at_once,
                           seed=options.seed)


# ---- A server ----


def _body(options, kind: str, text: str) -> dict:
    made = {"model": options.model} if options.model else {}
    if kind == "embeddings":
        return {**made, "input": text, "encoding_format": "base64"}
    made.update(max_tokens=options.max_tokens, temperature=0,
                seed=options.seed)
    if kind == "chat":
        return {**made, "messages": [{"role": "user", "content": text}]}
    return {**made, "prompt": text}


def _answer(kind: str, made) -> bytes:
    if kind == "embeddings":
        return base64.b64decode(made["data"][0]["embedding"])
    choice = made["choices"][0]
    text = choice["message"]["content"] if kind == "chat" else choice["text"]
    return text.encode()


def _post(url: str, key: str, body: dict):
    import urllib.error  # with mail and TLS, which a server has no use for
    import urllib.request
    headers = {"content-type": "application/json"}
    if key:
        headers["authorization"] = "Bearer " + key
    try:
        request = urllib.request.Request(url, json.dumps(body).encode(),
                                         headers)
        with urllib.request.urlopen(request, timeout=600) as found:
            return json.load(found)
    except urllib.error.HTTPError as error:
        with error:
            raise Error(Code.IO, f"{url}: expected an answer, got "
                        f"{error.code}: {error.read(500).decode(errors='replace')}"
                        ) from None
    except (OSError, ValueError) as error:
        raise Error(Code.IO, f"{url}: expected an answer, got: {error}"
                    ) from None


def _compare_server(options, texts: Sequence[str]) -> Comparison:
    kind = options.kind or "completions"
    url = options.url.rstrip("/") + _PATHS[kind]
    key = os.environ.get(options.api_key_variable, "")

    def ask(number: int) -> bytes:
        made = _post(url, key, _body(options, kind, texts[number]))
        try:
            return _answer(kind, made)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise Error(Code.IO, f"{url}: expected OpenAI's answer of {kind}, "
                        f"got {json.dumps(made)[:200]}") from None

    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        return compare(lambda numbers: [ask(number) for number in numbers],
                       lambda numbers: list(pool.map(ask, numbers)),
                       len(texts), mixtures=options.mixtures,
                       at_once=options.at_once, seed=options.seed)


# ---- What came of it ----


def _difference(alone: bytes, other: bytes) -> str:
    at = next((i for i, (a, b) in enumerate(zip(alone, other)) if a != b),
              min(len(alone), len(other)))
    return (f"byte {at} of {len(alone)} is the first that differs "
            f"({len(other)} bytes in the mixture)")


def _read_texts(path: Path) -> List[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise Error(Code.IO, f"{path}: expected texts, one a line, got: "
                    f"{error}") from None
    texts = [line for line in lines if line]
    if not texts:
        raise Error(Code.INVALID_ARGUMENT, f"{path}: expected texts, one a "
                    "line, got none")
    return texts


def _check(options) -> Optional[str]:
    if bool(options.folder) == bool(options.url):
        return "expected a folder or --url, got " + (
            "both" if options.url else "neither")
    if options.kind and not options.url:
        return "--kind: expected with --url only"
    for name in ("mixtures", "at_once", "max_tokens"):
        if getattr(options, name) < 1:
            return (f"--{name.replace('_', '-')}: expected 1 or more, got "
                    f"{getattr(options, name)}")
    return None


def run(options) -> int:
    """0 where each answer is the same in every mixture, else 1. Raises
    Error."""
    fault = _check(options)
    if fault:
        raise Error(Code.INVALID_ARGUMENT, fault)
    texts = _read_texts(options.texts)
    found = (_compare_server if options.url else _compare_model)(
        options, texts)
    for number, alone, other in found.differing[:_SHOWN]:
        print(f"text {number + 1} ({texts[number][:40]!r}): "
              + _difference(alone, other))
    print(f"{len(texts)} texts alone and in {options.mixtures} mixtures of at "
          f"most {options.at_once}: {found.answers} answers, "
          f"{len(found.differing)} differ")
    return 1 if found.differing else 0
