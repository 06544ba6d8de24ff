# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a folder of sentence-transformers says of its model beside vectors:
weights of words (SPLADE), and scores by the next token (LogitScore)."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from tfcompiler._error import Code, Error
from tfcompiler._model import Model
from tfcompiler._sentence import SentenceEncoder

Modules = Sequence[Tuple[str, Dict[str, Any]]]


def read_modules(folder: Optional[Path]) -> Modules:
    """The modules of a folder, each by the last word of its type, and its
    config; none without a modules.json. Raises Error."""
    found = read_json(folder / "modules.json") if folder else None
    if not isinstance(found, list):
        return []
    made: List[Tuple[str, Dict[str, Any]]] = []
    for module in found:
        if not isinstance(module, dict):
            raise Error(Code.INVALID_ARGUMENT, f"{folder}/modules.json: "
                        f"expected objects, got {module!r:.40}")
        kind = str(module.get("type", "")).rsplit(".", 1)[-1]
        path = Path(str(module.get("path", "")))
        if path.is_absolute() or ".." in path.parts:
            raise Error(Code.INVALID_ARGUMENT, f"{folder}/modules.json: "
                        f"expected a folder inside, got {path}")
        name = "sentence_bert_config.json" if "Transformer" in kind else \
            "config.json"
        config = read_json(folder / path / name)
        made.append((kind, config if isinstance(config, dict) else {}))
    return made


class SparseEncoder(SentenceEncoder):
    """Weights of the vocabulary's words by a masked language model, as
    sentence-transformers' SparseEncoder. Raises Error for poolings that are
    not known."""

    def _read(self, folder: Path) -> None:
        for kind, config in read_modules(folder):
            if "Transformer" in kind:
                self.max_tokens = config.get("max_seq_length")
            elif kind == "SpladePooling":
                self._read_splade(config, folder)
            else:
                raise Error(Code.UNSUPPORTED, f"{folder}/modules.json: "
                            "expected Transformer and SpladePooling, got "
                            f"{kind}")

    def _read_splade(self, config: Dict[str, Any], folder: Path) -> None:
        self._sums = _word(config, folder, "pooling_strategy", "max", "sum")
        self._is_twice = _word(config, folder, "activation_function", "relu",
                               "log1p_relu")

    def weights(self, logits: np.ndarray) -> np.ndarray:
        """float32 [vocabulary], of [tokens, vocabulary], all of which are the
        text's. The greatest is found before the logarithm is taken, which is
        the same and one logarithm a word."""
        kept = np.maximum(logits if self._sums else logits.max(0), 0)
        for _ in range(1 + self._is_twice):
            kept = np.log1p(kept)
        return kept.sum(0) if self._sums else kept


def _word(config, folder, name, first, second) -> bool:
    """Whether a module's config says the second of two words."""
    found = config.get(name, first)
    if found not in (first, second):
        raise Error(Code.UNSUPPORTED, f"{folder}: {name}: expected {first} or "
                    f"{second}, got {found!r:.40}")
    return found == second


class YesOrNo:
    """A model that is asked whether a text answers a query, and whose score is
    the logit of one next token less that of another: sentence-transformers'
    CrossEncoder with LogitScore."""

    def __init__(self, model: Model, modules: Modules):
        config: Dict[str, Any] = {}
        for kind, given in modules:
            if kind == "LogitScore":
                config = given
            elif "Transformer" in kind:
                words = (given.get("processing_kwargs") or {}).get(
                    "chat_template") or {}
        self._true = self._id(model, config, "true_token_id")
        self._false = self._id(model, config, "false_token_id")
        self.template_words = {"add_generation_prompt": bool(
            words.get("add_generation_prompt", False))}
        unknown = set(words) - {"add_generation_prompt", "restore_suffix"}
        if unknown:
            raise Error(Code.UNSUPPORTED, f"{model.folder}: chat_template: "
                        "expected add_generation_prompt, got "
                        + ", ".join(sorted(unknown)))
        told = read_json(model.folder / "config_sentence_transformers.json")
        told = told if isinstance(told, dict) else {}
        self.instruction = (told.get("prompts") or {}).get(
            told.get("default_prompt_name"))

    @staticmethod
    def _id(model: Model, config: Dict[str, Any], name: str) -> int:
        limit = model.info.inputs[0].limit
        found = config.get(name)
        if type(found) is not int or not 0 <= found < limit:
            raise Error(Code.UNSUPPORTED, f"{model.folder}: LogitScore: {name}"
                        f": expected a token below {limit}, got {found!r:.40}")
        return found

    def messages(self, query: str, text: str, instruction: Optional[str]
                 ) -> List[Dict[str, str]]:
        """What the chat template is shown of a pair."""
        said = self.instruction if instruction is None else instruction
        return ([{"role": "system", "content": said}] if said else []) + [
            {"role": "query", "content": query},
            {"role": "document", "content": text}]

    @property
    def tokens(self) -> Tuple[int, int]:
        """That it answers, and that it does not."""
        return self._true, self._false


def read_json(path: Path):
    """What is in a file, None where there is none. Raises Error."""
    if not path.exists():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise Error(Code.INVALID_ARGUMENT,
                    f"{path}: expected JSON, got: {error}") from None
