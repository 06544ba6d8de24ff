# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command: python -m tfcompiler replay RECEIPT --model HF_DIR"""
from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional

from tfcompiler._compile import compile
from tfcompiler._error import Code, Error

_MOST_ANSWERS = 1 << 14


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own."""
    parser.add_argument("receipt", type=Path, metavar="RECEIPT",
                        help="a file of JSON: a receipt, or an answer with one;"
                        " - reads standard input")
    parser.add_argument("--model", required=True, metavar="HF_DIR",
                        help="the Hugging Face folder")
    parser.add_argument("--target", help="tfc compile's --target")
    parser.add_argument("--dtype", help="tfc compile's --dtype")
    parser.add_argument("--threads", type=int, default=0,
                        help="0: all there are")


def replay(options: argparse.Namespace) -> int:
    """Computes the answers of a receipt again, alone; 0 when they are equal, 1
    when one is not. Raises Error."""
    given = _read(options.receipt)
    from tfcompiler.serve._engine import Engine
    from tfcompiler.serve._errors import ApiError
    with compile(options.model, target=options.target, dtype=options.dtype,
                 threads=options.threads) as model, \
            Engine("replay", model, prefix_cache=False) as engine:
        for name, known in engine.environment.items():
            if given["environment"].get(name) != known:
                print(f"another {name} than the receipt's")
        try:
            made = asyncio.run(_answers(engine, given["questions"]))
        except ApiError as error:
            raise Error(Code.INVALID_ARGUMENT, f"{options.receipt}: "
                        f"{error}") from None
    faults = _compare(given["outputs"], made)
    for fault in faults:
        print(fault)
    if not faults:
        count = sum(len(each["tokens"]) for each in made)
        print(f"equal: {len(made)} answers, {count} tokens")
    return 1 if faults else 0


def _read(path: Path) -> Dict[str, Any]:
    try:
        text = sys.stdin.read() if str(path) == "-" else \
            path.read_text(encoding="utf-8")
        made = json.loads(text)
    except OSError as error:
        raise Error(Code.IO, f"{path}: expected a receipt, got: "
                    f"{error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Error(Code.INVALID_ARGUMENT, f"{path}: expected JSON, got: "
                    f"{error}") from None
    made = made.get("receipt", made) if isinstance(made, dict) else {}
    if not isinstance(made, dict) or made.get("v") != 1 or not (
            isinstance(made.get("environment"), dict)
            and isinstance(made.get("questions"), list)
            and isinstance(made.get("outputs"), list)):
        raise Error(Code.INVALID_ARGUMENT, f"{path}: expected a receipt of "
                    "version 1 (\"receipt\": true in a request gives one)")
    return made


async def _answers(engine, questions: List[Mapping[str, Any]]
                   ) -> List[Dict[str, Any]]:
    from tfcompiler.serve._question import Tally
    from tfcompiler.serve._receipt import Outputs, read_form, read_question
    made: List[Dict[str, Any]] = []
    for number, given in enumerate(questions):
        try:
            question = read_question(given)
            form = read_form(given)
        except (KeyError, TypeError, ValueError, AttributeError,
                OverflowError) as error:
            raise _no_question(number, error) from None
        if not 0 < question.n <= _MOST_ANSWERS:
            raise _no_question(number, f"n {question.n}")
        question.masks = await engine.masks(form, question.n)
        outputs = Outputs(question.n)
        async for piece in engine.answers(question, engine.submit(question),
                                          Tally()):
            outputs.add(piece)
        made += outputs.written()
    return made


def _no_question(number: int, got) -> Error:
    return Error(Code.INVALID_ARGUMENT, f"questions/{number}: expected what a "
                 f"receipt has, got: {got!r:.80}")


def _compare(expected: List[Any], made: List[Dict[str, Any]]) -> List[str]:
    """What differs, a line an answer."""
    if len(expected) != len(made):
        return [f"expected {len(expected)} answers, got {len(made)}"]
    lines = []
    for number, (told, got) in enumerate(zip(expected, made)):
        fault = _difference(told if isinstance(told, dict) else {}, got)
        if fault:
            lines.append(f"answer {number}: {fault}")
    return lines


def _difference(told: Mapping[str, Any], got: Mapping[str, Any]
                ) -> Optional[str]:
    tokens = told.get("tokens")
    tokens = tokens if isinstance(tokens, list) else []
    for at, pair in enumerate(zip(tokens, got["tokens"])):
        if pair[0] != pair[1]:
            return f"token {at}: expected {pair[0]!r:.40}, got {pair[1]}"
    if len(tokens) != len(got["tokens"]):
        return f"expected {len(tokens)} tokens, got {len(got['tokens'])}"
    for name in ("finish", "text"):
        if told.get(name) != got[name]:
            return f"{name}: expected {told.get(name)!r:.80}, got {got[name]}"
    return None
