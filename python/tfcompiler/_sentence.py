# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sentences as vectors, as sentence-transformers makes them of a folder."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Optional, Sequence, Union

import numpy as np

from tfcompiler._error import Code, Error
from tfcompiler._model import Model

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
    sentence_embedding pools and normalizes itself. Raises Error for steps of
    modules.json that are not known."""

    def __init__(self, model: Union[Model, str, Path]):
        if not isinstance(model, Model):
            from tfcompiler._compile import compile
            model = compile(model)
        self.model = model
        self.pooling = "mean"
        self.normalizes = False
        self.max_tokens: Optional[int] = None
        if model.folder:
            self._read(model.folder)
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
            elif kind == "Normalize":
                self.normalizes = True
            else:
                raise Error(Code.UNSUPPORTED, f"{folder}/modules.json: "
                            "expected Transformer, Pooling and Normalize, got "
                            f"{module.get('type')!r}")

    def encode(self, texts: Union[str, Sequence[str]], *,
               batch_size: int = 32, normalize: Optional[bool] = None,
               truncate_dim: Optional[int] = None) -> np.ndarray:
        """float32 [texts, width], or [width] for a str. Longer texts are cut.
        normalize: None as the folder says; truncate_dim keeps the first
        columns, and what is normalized is what is kept."""
        single = isinstance(texts, str)
        listed = [texts] if single else list(texts)
        # Texts of one length together: less padding to carry around.
        encodings = self.model.tokenize(listed, truncate=True,
                                        max_tokens=self._most())
        order = sorted(range(len(listed)),
                       key=lambda i: len(encodings[i]))
        rows = [None] * len(listed)
        for begin in range(0, len(order), batch_size):
            part = order[begin:begin + batch_size]
            vectors = self._vectors([encodings[i] for i in part], normalize)
            for index, vector in zip(part, vectors):
                rows[index] = vector
        made = np.stack(rows) if rows else np.zeros((0, self._width()),
                                                    np.float32)
        made = made[:, :truncate_dim]
        wanted = self.normalizes if normalize is None else normalize
        is_done = (self.normalizes and truncate_dim is None
                   and self._is_pooled(normalize))
        if wanted and not is_done:
            lengths = np.sqrt((made.astype(np.float64) ** 2).sum(-1,
                                                               keepdims=True))
            made = (made / np.maximum(lengths, 1e-12)).astype(np.float32)
        return made[0] if single else made

    def _most(self) -> Optional[int]:
        limits = [limit for limit in (self.max_tokens,
                                      self.model.info.max_positions) if limit]
        return min(limits) if limits else None

    def _width(self) -> int:
        made = self._find("sentence_embedding")
        return (made or self._output()).width

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
        inputs = self.model.batch(encodings)
        if self._is_pooled(normalize):
            name = "sentence_embedding"
            return self.model(outputs=[name], **inputs)[name]
        name = self._output().name
        hidden = self.model(outputs=[name], **inputs)[name]
        counts = np.array([len(each) for each in encodings])
        if self.pooling == "first":
            return hidden[:, 0]
        if self.pooling == "last":
            return hidden[np.arange(len(counts)), counts - 1]
        if self.pooling == "max":
            return np.stack([row[:count].max(0)
                             for row, count in zip(hidden, counts)])
        # Rows of padding are zeros.
        sums = hidden.sum(1)
        divisor = counts if self.pooling == "mean" else np.sqrt(counts)
        return sums / divisor[:, None].astype(np.float32)


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
