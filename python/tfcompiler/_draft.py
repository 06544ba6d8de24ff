# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A second, smaller model that guesses what the first one writes next."""
from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, Optional

from tfcompiler._error import Code, Error
from tfcompiler._tokenizer import Tokenizer

if TYPE_CHECKING:
    from tfcompiler._model import Model


@contextlib.contextmanager
def draft_pointer(model: "Model", draft: Optional["Model"]
                  ) -> Iterator[Optional[int]]:
    """What option structs of the runtime take. Raises Error (INCOMPATIBLE)
    where a token of one is not the other's."""
    if draft is None:
        yield None
        return
    _expect_same_tokens(model, draft)
    with draft._handle as pointer:
        yield pointer.value


def _bytes(tokenizer: Tokenizer) -> object:
    """Of its file, so that most pairs are equal at a glance."""
    path = Path(tokenizer.path)
    try:
        return (path / "tokenizer.json" if path.is_dir() else path).read_bytes()
    except OSError:
        return tokenizer


def _expect_same_tokens(model: "Model", draft: "Model") -> None:
    """Where both have tokenizers that can say it."""
    try:
        own, others = model.tokenizer, draft.tokenizer
    except Error:
        return
    if own is others or not isinstance(own, Tokenizer) \
            or not isinstance(others, Tokenizer) or _bytes(own) == _bytes(others):
        return
    for id in range(max(len(own), len(others))):
        mine, theirs = own.id_to_token(id), others.id_to_token(id)
        if mine != theirs:
            raise Error(
                Code.INCOMPATIBLE, f"draft: {draft.folder}: expected the "
                f"vocabulary of {model.folder} (token {id}: {mine!r}), got "
                f"one where it is {theirs!r}")
