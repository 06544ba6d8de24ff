# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sentences as vectors, as sentence-transformers makes them of a folder."""
from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Union

import numpy as np

from tfcompiler._compile import compile
from tfcompiler._error import Code, Error
from tfcompiler._model import Model
from tfcompiler._numbers import integer, optional, refuse
from tfcompiler._tokenizer import Encoding

_POOLINGS = {"pooling_mode_mean_tokens": "mean",
             "pooling_mode_cls_token": "first",
             "pooling_mode_max_tokens": "max",
             "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt",
             "pooling_mode_lasttoken": "last"}
# The same in newer folders.
_POOLING_WORDS = {"mean": "mean", "cls": "first", "max": "max",
                  "mean_sqrt_len_tokens": "mean_sqrt", "lasttoken": "last"}


class SentenceEncoder:
    """model: a Model, or a Hugging Face folder, which is compiled. Pooling,
    normalizing and the longest text are those of the folder's modules.json;
    without one, the mean of the tokens. A model with the output
    sentence_embedding pools and normalizes itself. Prompts, the one that is
    the default and how vectors are compared are those of the folder's
    config_sentence_transformers.json; `prompts` are used besides. Raises Error
    for steps of modules.json that are not known."""

    def __init__(self, model: Union[Model, str, Path], *,
                 prompts: Optional[Dict[str, str]] = None):
        if not isinstance(model, Model):
            model = compile(model)
        self.model = model
        self.pooling = "mean"
        self.normalizes = False
        self.max_tokens: Optional[int] = None
        self.prompts: Dict[str, str] = {}
        self.default_prompt_name: Optional[str] = None
        self.similarity_fn_name = "cosine"
        self._pools_prompts = True
        if model.folder:
            self._read(model.folder)
            self._read_prompts(model.folder)
        self.prompts.update(prompts or {})
        self._imported = self.pooling

    def _read(self, folder: Path) -> None:
        for module in _read_json(folder / "modules.json") or []:
            kind = str(module.get("type", "")).rsplit(".", 1)[-1]
            at = folder / str(module.get("path", ""))
            if kind == "Transformer":
                limits = _read_json(at / "sentence_bert_config.json") or {}
                self.max_tokens = limits.get("max_seq_length")
            elif kind == "Pooling":
                self.pooling = _read_pooling(at / "config.json")
                self._pools_prompts = (_read_json(at / "config.json") or {}
                                       ).get("include_prompt", True)
            elif kind == "Normalize":
                self.normalizes = True
            else:
                raise Error(Code.UNSUPPORTED, f"{folder}/modules.json: "
                            "expected Transformer, Pooling and Normalize, got "
                            f"{module.get('type')!r}")

    def _read_prompts(self, folder: Path) -> None:
        config = _read_json(folder / "config_sentence_transformers.json") or {}
        self.prompts.update(config.get("prompts") or {})
        self.default_prompt_name = config.get("default_prompt_name")
        self.similarity_fn_name = config.get("similarity_fn_name") or "cosine"

    def encode(self, texts: Union[str, Sequence[str]], *,
               prompt_name: Optional[str] = None,
               prompt: Optional[str] = None, batch_size: int = 32,
               normalize: Optional[bool] = None,
               truncate_dim: Optional[int] = None,
               show_progress_bar: bool = False) -> np.ndarray:
        """float32 [texts, width], or [width] for a str. Longer texts are cut.
        prompt: what stands before each text, or prompt_name, its name among
        the prompts. normalize: None as the folder says; truncate_dim keeps the
        first columns, and what is normalized is what is kept.
        show_progress_bar counts texts on standard error."""
        single = isinstance(texts, str)
        batch_size = integer("batch_size", batch_size, 1)
        truncate_dim = optional("truncate_dim", truncate_dim, 1)
        encodings = self.tokenize([texts] if single else texts,
                                  prompt_name=prompt_name, prompt=prompt)
        # Texts of one length together: less padding to carry around.
        order = sorted(range(len(encodings)),
                       key=lambda i: len(encodings[i]))
        rows = [None] * len(encodings)
        for begin in range(0, len(order), batch_size):
            part = order[begin:begin + batch_size]
            vectors = self._vectors([encodings[i] for i in part], normalize)
            for index, vector in zip(part, vectors):
                rows[index] = vector
            if show_progress_bar:
                print(f"\r{begin + len(part)} of {len(order)} texts",
                      end="\n" if begin + len(part) == len(order) else "",
                      file=sys.stderr, flush=True)
        made = np.stack(rows) if rows else np.zeros((0, self.width),
                                                    np.float32)
        made = self.finish(made, normalize, truncate_dim)
        return made[0] if single else made

    # ---- The steps of encode, for who runs the model otherwise ----

    def tokenize(self, texts: Sequence[str], *,
                 prompt_name: Optional[str] = None,
                 prompt: Optional[str] = None, truncate: bool = True
                 ) -> List[Encoding]:
        """The tokens of texts behind their prompt. Without truncate a text
        that is too long is an Error."""
        begins = self._prompt(prompt_name, prompt)
        return self.model.tokenize([begins + text for text in texts],
                                   truncate=truncate, max_tokens=self._most())

    def output(self, normalize: Optional[bool] = None) -> str:
        """The model's output that `pool` makes vectors of."""
        return "sentence_embedding" if self._is_pooled(normalize) else \
            self._output().name

    def pool(self, name: str, values: np.ndarray, counts: Sequence[int]
             ) -> np.ndarray:
        """A vector of each text, of that output; counts: of its tokens."""
        if name == "sentence_embedding":
            return values
        counts = np.asarray(counts)
        if self.pooling == "first":
            return values[:, 0]
        if self.pooling == "last":
            return values[np.arange(len(counts)), counts - 1]
        if self.pooling == "max":
            return np.stack([row[:count].max(0)
                             for row, count in zip(values, counts)])
        # Rows of padding are zeros.
        sums = values.sum(1)
        divisor = counts if self.pooling == "mean" else np.sqrt(counts)
        return sums / divisor[:, None].astype(np.float32)

    def finish(self, made: np.ndarray, normalize: Optional[bool] = None,
               truncate_dim: Optional[int] = None) -> np.ndarray:
        """Vectors cut and normalized, as far as `pool` gave them otherwise."""
        made = made[:, :truncate_dim]
        wanted = self.normalizes if normalize is None else normalize
        is_done = (self.normalizes and truncate_dim is None
                   and self._is_pooled(normalize))
        if wanted and not is_done:
            made = _unit(made.astype(np.float64)).astype(np.float32)
        return made

    def _prompt(self, name: Optional[str], prompt: Optional[str]) -> str:
        if prompt is None:
            name = self.default_prompt_name if name is None else name
            if name is None:
                return ""
            if name not in self.prompts:
                raise refuse("prompt_name", "one of "
                             f"{', '.join(self.prompts) or 'no prompts'}", name)
            prompt = self.prompts[name]
        if prompt and not self._pools_prompts:
            raise Error(Code.UNSUPPORTED, f"{self.model.info.name}: expected "
                        "a pooling over prompts and texts, got one that leaves"
                        " prompts out")
        return prompt

    @property
    def width(self) -> int:
        """Of a vector that is not cut."""
        made = self._find("sentence_embedding")
        return (made or self._output()).width

    def similarity(self, vectors, others) -> np.ndarray:
        """float32 [vectors, others], the greater the more alike: as the
        folder's similarity_fn_name says, or the attribute of that name
        (cosine, dot, euclidean, manhattan)."""
        a, b = (np.atleast_2d(np.asarray(each, np.float64))
                for each in (vectors, others))
        if self.similarity_fn_name not in _SIMILARITIES:
            raise refuse("similarity_fn_name",
                         f"one of {', '.join(_SIMILARITIES)}",
                         self.similarity_fn_name)
        return _SIMILARITIES[self.similarity_fn_name](a, b).astype(np.float32)

    def _most(self) -> Optional[int]:
        limits = [limit for limit in (self.max_tokens,
                                      self.model.info.max_positions) if limit]
        return min(limits) if limits else None

    def _is_pooled(self, normalize: Optional[bool]) -> bool:
        """Whether what is wanted is the library's own sentence_embedding."""
        return (self.pooling == self._imported
                and not (self.normalizes and normalize is False)
                and self._find("sentence_embedding") is not None)

    def _find(self, name: str):
        for port in self.model.info.outputs:
            if port.name == name:
                return port
        return None

    def _output(self):
        port = self._find("last_hidden_state")
        if port:
            return port
        raise Error(Code.UNSUPPORTED, f"{self.model.info.name}: expected a "
                    "model with the output last_hidden_state, got one with "
                    + ", ".join(port.name for port in self.model.info.outputs))

    def _vectors(self, encodings, normalize: Optional[bool]) -> np.ndarray:
        name = self.output(normalize)
        made = self.model(outputs=[name], **self.model.batch(encodings))
        return self.pool(name, made[name], list(map(len, encodings)))


def _unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.sqrt((rows ** 2).sum(-1, keepdims=True))
    return rows / np.maximum(lengths, 1e-12)


def _distances(a: np.ndarray, b: np.ndarray, power: int) -> np.ndarray:
    rows = [(np.abs(b - row) ** power).sum(-1) for row in a]
    return np.reshape(rows, (len(a), len(b))) ** (1 / power)


_SIMILARITIES = {
    "cosine": lambda a, b: _unit(a) @ _unit(b).T,
    "dot": lambda a, b: a @ b.T,
    "euclidean": lambda a, b: -_distances(a, b, 2),
    "manhattan": lambda a, b: -_distances(a, b, 1),
}


def _read_json(path: Path):
    if not path.exists():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Error(Code.INVALID_ARGUMENT,
                    f"{path}: expected JSON, got: {error}") from None


def _read_pooling(path: Path) -> str:
    config = _read_json(path) or {}
    given = config.get("pooling_mode")
    if isinstance(given, str) and given in _POOLING_WORDS:
        return _POOLING_WORDS[given]
    modes = [key for key, value in config.items()
             if key.startswith("pooling_mode_") and value is True]
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        raise Error(Code.UNSUPPORTED, f"{path}: expected one of "
                    f"{', '.join(_POOLINGS)}, got {modes or 'none'}")
    return _POOLINGS[modes[0]]
