# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scores of texts by a model that writes: how much rather it would say yes than
no to a chat of a query and a text."""
from __future__ import annotations

import asyncio
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from tfcompiler._error import Error
from tfcompiler.serve._engine import Engine, finish_word
from tfcompiler.serve._errors import ApiError, from_error
from tfcompiler.serve._question import Question

# Whatever the folder's generation_config says of texts.
_PLAIN = {"do_sample": False, "eos_token_id": None, "min_length": 0,
          "min_new_tokens": 0, "no_repeat_ngram_size": 0,
          "forced_bos_token_id": None, "forced_eos_token_id": None}
_TOGETHER = 32  # texts that are with the scheduler at once


async def judged(engine: Engine, query: str, texts: Sequence[str],
                 instruction: Optional[str], words: Mapping[str, Any]
                 ) -> np.ndarray:
    """A logit a text, float32 [texts, 1]: whatever others ask, the same. words:
    of Scheduler.submit. Raises ApiError, Error."""
    template = engine.template_text(False)
    if "query" not in template or "document" not in template:
        raise ApiError(400, "unsupported_value", "/model: expected a chat "
                       "template with the roles query and document, got that "
                       f"of {engine.name}", "/model")
    free = asyncio.Semaphore(_TOGETHER)

    async def one(text: str) -> float:
        async with free:
            ids = await engine.prompt(
                engine.judge.messages(query, text, instruction),
                **engine.judge.template_words)
            return await _difference(engine, ids, words)
    tasks = [asyncio.ensure_future(one(text)) for text in texts]
    try:
        made = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return np.array(made, np.float32)[:, None]


async def _difference(engine: Engine, ids: Sequence[int],
                      words: Mapping[str, Any]) -> float:
    """Of the two tokens' logits behind a prompt, which is that of their
    log-probabilities; the head computes no others."""
    true, false = engine.judge.tokens
    job = engine.submit(Question(ids, words={
        **words, **_PLAIN, "max_new_tokens": 1, "logprobs": 2,
        "head_rows": engine.judge.tokens}))
    try:
        answer, = await job.aresult()
    except Error as error:
        raise from_error(error) from None
    finally:
        job.cancel()
    if answer.error is not None:
        raise from_error(answer.error)
    finish_word(answer.finish)
    values = dict(answer.logprobs[0][1])
    return values[true] - values[false]
