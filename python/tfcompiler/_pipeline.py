# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tasks over texts, with the names and the dictionaries of Hugging Face's
pipelines."""
from __future__ import annotations

import json
from typing import Callable, Dict, List, Optional, Sequence, Union

import numpy as np

from tfcompiler._error import Code, Error
from tfcompiler._model import Model
from tfcompiler._numbers import integer, optional

Texts = Union[str, Sequence[str]]
_MASKS = ("[MASK]", "<mask>")
_LONGEST_ANSWER = 15  # tokens


def pipeline(task: str, model: Model) -> Callable:
    """A function of texts for a task: text-classification,
    token-classification, question-answering, fill-mask, feature-extraction,
    text-generation or text2text-generation. Each takes a text or a list of
    texts (question-answering: question= and context=) and gives what Hugging
    Face's pipeline of that name gives; names of classes are those of the
    model's config.json. Raises Error for other tasks, and for a model without
    the outputs."""
    if task not in _TASKS:
        raise Error(Code.INVALID_ARGUMENT, "task: expected one of "
                    f"{', '.join(sorted(_TASKS))}, got {task!r}")
    made = _TASKS[task]
    found = {port.name for port in model.info.outputs}
    missing = [name for name in made.needs if name not in found]
    if missing or made.generates and not model.info.can_generate:
        raise Error(Code.UNSUPPORTED, f"{model.info.name}: expected a model "
                    f"for {task}, got one with the outputs "
                    f"{', '.join(sorted(found)) or 'none'}")
    return made(model)


class _Task:
    """What a task needs of a model's outputs."""

    needs: Sequence[str] = ("logits",)
    generates = False

    def __init__(self, model: Model):
        self.model = model
        self.config = _config(model)

    def __call__(self, texts: Texts, **words):
        if isinstance(texts, str):
            return self.answer([texts], **words)[0]
        texts = list(texts)
        return self.answer(texts, **words) if texts else []

    def label(self, index: int) -> str:
        names = self.config.get("id2label") or {}
        return names.get(str(index), f"LABEL_{index}")


class _TextClassification(_Task):
    def answer(self, texts: List[str], top_k: Optional[int] = 1):
        """For each text the classes by score: a dictionary for top_k=1, a list
        of top_k dictionaries, all of them for None."""
        top_k = optional("top_k", top_k, 1)
        logits = self.model.encode(texts, outputs=["logits"])["logits"]
        return [self._ranked(row, top_k) for row in logits]

    def _ranked(self, row, top_k):
        kind = self.config.get("problem_type")
        scores = row.astype(np.float64)
        if kind == "multi_label_classification" or (
                len(row) == 1 and kind != "regression"):
            scores = 1 / (1 + np.exp(-scores))
        elif kind != "regression":
            scores = _softmax(scores)
        order = np.argsort(-scores, kind="stable")[:top_k]
        made = [{"label": self.label(int(i)), "score": float(scores[i])}
                for i in order]
        return made[0] if top_k == 1 else made


class _TokenClassification(_Task):
    def answer(self, texts: List[str], ignore_labels: Sequence[str] = ("O",)):
        """For each text its tokens: entity, score, index, word, start, end."""
        encodings = self.model.tokenize(texts)
        logits = self.model(outputs=["logits"],
                            **self.model.batch(encodings))["logits"]
        return [self._tokens(encoding, text, row, ignore_labels)
                for encoding, text, row in zip(encodings, texts, logits)]

    def _tokens(self, encoding, text, row, ignored):
        made = []
        for index, sequence in enumerate(encoding.sequences):
            scores = _softmax(row[index])
            label = self.label(int(scores.argmax()))
            if sequence is None or label in ignored:
                continue
            start, end = encoding.offsets[index]
            made.append({
                "entity": label, "score": float(scores.max()), "index": index,
                "word": self.model.tokenizer.id_to_token(encoding.ids[index]),
                "start": start, "end": end})
        return made


class _QuestionAnswering(_Task):
    needs = ("start_logits", "end_logits")

    def __call__(self, question: str, context: str) -> Dict:
        """The likeliest span of at most fifteen tokens of the context: score,
        start, end, answer."""
        encoding, = self.model.tokenize([question], [context])
        made = self.model(outputs=list(self.needs),
                          **self.model.batch([encoding]))
        inside = np.array([part == 1 for part in encoding.sequences])
        starts, ends = (_softmax(np.where(inside, made[name][0], -10000))
                        for name in self.needs)
        products = np.triu(np.outer(starts, ends))
        products = np.tril(products, _LONGEST_ANSWER - 1)
        products *= np.outer(inside, inside)
        first, last = np.unravel_index(products.argmax(), products.shape)
        start, end = encoding.offsets[first][0], encoding.offsets[last][1]
        return {"score": float(products[first, last]), "start": start,
                "end": end, "answer": context[start:end]}


class _FillMask(_Task):
    def answer(self, texts: List[str], top_k: int = 5):
        """For each text the likeliest tokens of its mask: score, token,
        token_str, sequence; with several masks a list for each."""
        top_k = integer("top_k", top_k, 1)
        encodings = self.model.tokenize(texts)
        logits = self.model(outputs=["logits"],
                            **self.model.batch(encodings))["logits"]
        return [self._masks(encoding, text, row, top_k)
                for encoding, text, row in zip(encodings, texts, logits)]

    def _masks(self, encoding, text, row, top_k):
        tokenizer = self.model.tokenizer
        masks = {tokenizer.token_to_id(mask) for mask in _MASKS} - {None}
        found = [i for i, id in enumerate(encoding.ids) if id in masks]
        if not found:
            raise Error(Code.INVALID_ARGUMENT, f"{text[:40]!r}: expected a text"
                        f" with a mask ({' or '.join(_MASKS)})")
        lists = [self._likeliest(encoding, row, at, top_k) for at in found]
        return lists[0] if len(lists) == 1 else lists

    def _likeliest(self, encoding, row, at, top_k):
        scores = _softmax(row[at])
        made = []
        for id in np.argsort(-scores, kind="stable")[:top_k]:
            ids = list(encoding.ids)
            ids[at] = int(id)
            made.append({
                "score": float(scores[id]), "token": int(id),
                "token_str": self.model.tokenizer.decode([int(id)]),
                "sequence": self.model.tokenizer.decode(ids)})
        return made


class _FeatureExtraction(_Task):
    needs = ("last_hidden_state",)

    def answer(self, texts: List[str]):
        """For each text float32 [tokens, width]."""
        encodings = self.model.tokenize(texts)
        hidden = self.model(outputs=["last_hidden_state"],
                            **self.model.batch(encodings))["last_hidden_state"]
        return [row[:len(each)] for row, each in zip(hidden, encodings)]


class _TextGeneration(_Task):
    needs = ()
    generates = True

    def answer(self, texts: List[str], return_full_text: bool = True, **words):
        """For each text a list of generated_text; words are generate's."""
        made = self.model.generate(texts, **words)
        return [[{"generated_text": (text if return_full_text else "") + each}
                 for each in ([more] if isinstance(more, str) else more)]
                for text, more in zip(texts, made)]


class _Text2Text(_TextGeneration):
    def answer(self, texts: List[str], **words):
        """For each text a generated_text; with num_return_sequences several."""
        made = super().answer(texts, return_full_text=False, **words)
        return [each[0] if len(each) == 1 else each for each in made]


_TASKS = {
    "text-classification": _TextClassification,
    "token-classification": _TokenClassification,
    "question-answering": _QuestionAnswering,
    "fill-mask": _FillMask,
    "feature-extraction": _FeatureExtraction,
    "text-generation": _TextGeneration,
    "text2text-generation": _Text2Text,
}


def _softmax(values) -> np.ndarray:
    powers = np.exp(np.asarray(values, np.float64) - np.max(values))
    return powers / powers.sum()


def _config(model: Model) -> dict:
    path = model.folder and model.folder / "config.json"
    if not path or not path.exists():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return {}
