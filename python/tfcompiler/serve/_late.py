# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Late interaction: a text is a vector a token, and a text answers a query as
well as each of the query's vectors finds one that is like it. Folders of
ColBERT models as PyLate and sentence-transformers write them, and BGE-M3, whose
one pass gives a vector, weights of words and vectors of tokens."""
from __future__ import annotations

import string
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from tfcompiler._error import Code, Error
from tfcompiler._model import Model
from tfcompiler._numbers import refuse
from tfcompiler._tokenizer import Encoding
from tfcompiler.serve._modules import Modules, read_json
from tfcompiler.serve._pickles import read_matrices

_LINEAR = "Identity"  # the last word of an activation's name
QUERY, DOCUMENT = "query", "document"


@dataclass
class TokenText:
    """A text's tokens; how many of the last are seen by none; and which ones
    have vectors."""

    encoding: Encoding
    unseen: int
    kept: np.ndarray

    def __len__(self) -> int:
        return len(self.encoding)


class _Linear:
    """A matrix, and a bias or 0."""

    def __init__(self, path: Path, matrices: Dict[str, np.ndarray],
                 prefix: str, width: int):
        self.matrix = matrices.get(prefix + "weight")
        bias = matrices.get(prefix + "bias")
        if self.matrix is None or self.matrix.ndim != 2 or \
                self.matrix.shape[1] != width or (
                    bias is not None and bias.shape != self.matrix.shape[:1]):
            raise Error(Code.INCOMPATIBLE, f"{path}: expected {prefix}weight "
                        f"[rows, {width}] (the model's width), and a bias of "
                        "as many rows or none, got "
                        + (", ".join(f"{name} {list(value.shape)}"
                                     for name, value in matrices.items())
                           or "nothing"))
        self._transposed = np.ascontiguousarray(self.matrix.T)
        self.bias = np.float32(0) if bias is None else bias

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return rows @ self._transposed + self.bias


def maxsim(query: np.ndarray, text: np.ndarray) -> float:
    """The sum over the query's vectors of the greatest product with one of the
    text's."""
    if not len(text):
        return 0.0
    return float((query @ text.T).max(1).astype(np.float64).sum())


def _unit(rows: np.ndarray) -> np.ndarray:
    """As torch.nn.functional.normalize."""
    lengths = np.sqrt((rows * rows).sum(-1, keepdims=True))
    return rows / np.maximum(lengths, np.float32(1e-12))


def _width(model: Model) -> int:
    return next(port.width for port in model.info.outputs
                if port.name == "last_hidden_state")


class ColBert:
    """What a folder says of a model of late interaction. Raises Error for what
    is not known."""

    def __init__(self, model: Model, modules: Modules):
        self.model = model
        told = read_json(model.folder / "config_sentence_transformers.json")
        self._told = told if isinstance(told, dict) else {}
        self._layers: List[_Linear] = []
        transformer: Dict[str, Any] = {}
        skipped: Optional[Sequence[str]] = None
        self._skips_in: Sequence[str] = [DOCUMENT]
        for number, (kind, config) in enumerate(modules):
            if "Transformer" in kind:
                transformer = config
            elif kind == "Dense":
                self._layers.append(self._read_dense(number, config))
            elif kind == "MultiVectorMask":
                skipped = config.get("skiplist_words") or []
                self._skips_in = _names(config.get("skiplist_tasks"))
                if config.get("keep_only_token_ids"):
                    raise self._refuse("keep_only_token_ids")
            elif kind != "Normalize":
                raise self._refuse(f"the module {kind}")
        if skipped is None:
            skipped = self._told.get("skiplist_words")
        if skipped is None:
            skipped = string.punctuation
        token_of = model.tokenizer.token_to_id
        unknown = token_of("[UNK]")
        self._skipped = [id for id in map(token_of, skipped)
                         if id is not None and id != unknown]
        self._read_lengths(transformer)
        self._prefixes = {
            task: self._read_prefix(task) for task in (QUERY, DOCUMENT)}

    def _refuse(self, what: str) -> Error:
        return Error(Code.UNSUPPORTED, f"{self.model.folder}: expected "
                     "Transformer, Dense, MultiVectorMask and Normalize, as "
                     f"ColBERT models have them, got {what}")

    def _read_dense(self, number: int, config: Dict[str, Any]) -> _Linear:
        activation = str(config.get("activation_function", _LINEAR))
        if activation.rsplit(".", 1)[-1] != _LINEAR or \
                config.get("use_residual"):
            raise self._refuse("a Dense with " + (
                "use_residual" if config.get("use_residual") else activation))
        at = self.model.folder / _path_of(self.model.folder, number)
        path = next((at / name for name in (
            "model.safetensors", "pytorch_model.bin")
            if (at / name).exists()), at / "model.safetensors")
        width = len(self._layers[-1].matrix) if self._layers else \
            _width(self.model)
        return _Linear(path, read_matrices(path), "linear.", width)

    def _read_lengths(self, transformer: Dict[str, Any]) -> None:
        """How long texts are, and how queries grow."""
        both = {**self._told, **{name: value for name, value
                                 in transformer.items() if value is not None}}
        self._limits = {task: both.get(f"{task}_length") or
                        transformer.get("max_seq_length")
                        for task in (QUERY, DOCUMENT)}
        grows = both.get("query_expansion")
        is_old = "query_expansion" not in both and any(
            name in self._told for name in (
                "query_prefix", "document_prefix", "query_length",
                "document_length", "do_query_expansion", "skiplist_words",
                "attend_to_expansion_tokens"))
        if is_old and self._told.get("do_query_expansion") is not False:
            grows = {"strategy": "fixed", "length":
                     self._told.get("query_length") or 32, "attend": bool(
                         self._told.get("attend_to_expansion_tokens"))}
        self._grows = grows or {}
        if grows and (grows.get("strategy") not in ("fixed", "min")
                      or type(grows.get("length")) is not int
                      or grows["length"] < 1):
            raise self._refuse(f"the query_expansion {grows!r:.80}")
        name = self._grows.get("token") or "[MASK]"
        self._mask = self.model.tokenizer.token_to_id(name) if grows else None
        if grows and self._mask is None and not self._grows.get("token"):
            self._mask = self.model.tokenizer.token_to_id("<mask>")
        if grows and self._mask is None:
            raise self._refuse(f"a tokenizer without {name}")
        if self._grows.get("strategy") == "fixed":
            self._limits[QUERY] = self._grows["length"]
        elif grows and self._limits[QUERY]:
            self._limits[QUERY] = max(self._limits[QUERY], grows["length"])

    def _read_prefix(self, task: str) -> Tuple[Optional[int], str]:
        """A token that stands behind the text's first one, or None, and what
        stands before the text."""
        prompts = self._told.get("prompts") or {}
        prompt = prompts.get(task) or ""
        prefix = self._told.get(f"{task}_prefix")
        if prefix is None:
            return None, prompt
        for token in (prefix, *prefix.split()[:1]):
            id = self.model.tokenizer.token_to_id(token)
            if id is not None:
                return id, prompt[len(prefix):] if prompt.startswith(prefix) \
                    else prompt
        return None, prompt if prompt.startswith(prefix) else prefix + prompt

    # ---- Texts ----

    def tokenize(self, texts: Sequence[str], *, task: str = DOCUMENT,
                 truncate: bool = True) -> List[TokenText]:
        """The tokens of queries, or of the texts that answer them."""
        if task not in self._prefixes:
            raise refuse("prompt_name", f"one of {QUERY}, {DOCUMENT}", task)
        token, text = self._prefixes[task]
        known = [limit for limit in (
            self._limits[task], self.model.info.max_positions) if limit]
        most = min(known) - (token is not None) if known else None
        return [self._grown(_insert(encoding, token), task)
                for encoding in self.model.tokenize(
                    [text + each for each in texts], truncate=truncate,
                    max_tokens=most)]

    def _grown(self, encoding: Encoding, task: str) -> TokenText:
        more = self._grows.get("length", 0) - len(encoding) \
            if task == QUERY else 0
        kept = np.ones(len(encoding) + max(0, more), bool)
        if task in self._skips_in:
            kept[:len(encoding)] = ~np.isin(encoding.ids, self._skipped)
        if more > 0:
            encoding = Encoding(encoding.ids + [self._mask] * more,
                                encoding.type_ids + [0] * more,
                                encoding.offsets + [(0, 0)] * more,
                                encoding.sequences + [None] * more)
        unseen = 0 if self._grows.get("attend") else max(0, more)
        return TokenText(encoding, unseen, kept)

    def vectors(self, states: np.ndarray, text: TokenText) -> np.ndarray:
        """float32 [vectors, width], of the states of a text's tokens."""
        rows = states[:len(text)]
        for layer in self._layers:
            rows = layer(rows)
        return _unit(rows)[text.kept]

    def score(self, query: np.ndarray, text: np.ndarray) -> float:
        return maxsim(query, text)


class BgeM3:
    """The two matrices that BGE-M3's folder has beside the model."""

    FILES = ("sparse_linear", "colbert_linear")

    def __init__(self, model: Model):
        self.model = model
        width = _width(model)
        self._sparse, self._multi = (
            _Linear(path, read_matrices(path), "", width)
            for path in (_beside(model.folder, name) for name in self.FILES))
        if len(self._sparse.matrix) != 1:
            raise Error(Code.INCOMPATIBLE, f"{model.folder}: sparse_linear: "
                        "expected one row, got "
                        f"{len(self._sparse.matrix)}")
        token_of = model.tokenizer.token_to_id
        self._unused = {token_of(name) for name in (
            "<s>", "</s>", "<pad>", "<unk>", "[CLS]", "[SEP]", "[PAD]",
            "[UNK]")}

    @classmethod
    def is_in(cls, folder: Optional[Path]) -> bool:
        """Whether the folder has them."""
        return folder is not None and all(
            _beside(folder, name) is not None for name in cls.FILES)

    def tokenize(self, texts: Sequence[str], *, task: str = DOCUMENT,
                 truncate: bool = True) -> List[TokenText]:
        """The same of queries and of texts: all have vectors but the first."""
        if task not in (QUERY, DOCUMENT):
            raise refuse("prompt_name", f"one of {QUERY}, {DOCUMENT}", task)
        return [self.text(encoding) for encoding in self.model.tokenize(
            list(texts), truncate=truncate)]

    @staticmethod
    def text(encoding: Encoding) -> TokenText:
        return TokenText(encoding, 0, np.arange(len(encoding)) > 0)

    def vectors(self, states: np.ndarray, text: TokenText) -> np.ndarray:
        return _unit(self._multi(states[:len(text)])[text.kept])

    def weights(self, states: np.ndarray, ids: Sequence[int]
                ) -> Dict[int, float]:
        """Of each token that weighs something, the greatest of its places."""
        made: Dict[int, float] = {}
        rows = np.maximum(self._sparse(states[:len(ids)])[:, 0], 0)
        for id, weight in zip(ids, rows.tolist()):
            if id not in self._unused and weight > made.get(id, 0):
                made[id] = weight
        return made

    def score(self, query: np.ndarray, text: np.ndarray) -> float:
        return maxsim(query, text) / max(1, len(query))


def _insert(encoding: Encoding, token: Optional[int]) -> Encoding:
    if token is None:
        return encoding
    at = min(1, len(encoding))

    def put(values: List, value) -> List:
        return values[:at] + [value] + values[at:]
    return Encoding(put(encoding.ids, token), put(encoding.type_ids, 0),
                    put(encoding.offsets, (0, 0)),
                    put(encoding.sequences, None))


def _names(given) -> Sequence[str]:
    return [DOCUMENT] if given is None else \
        [given] if isinstance(given, str) else given


def _beside(folder: Path, name: str) -> Optional[Path]:
    for suffix in (".safetensors", ".pt"):
        if (folder / (name + suffix)).exists():
            return folder / (name + suffix)
    return None


def _path_of(folder: Path, number: int) -> str:
    """Of a module, whose place is inside of the folder (read_modules)."""
    return str(read_json(folder / "modules.json")[number].get("path", ""))
