# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Logits that a caller changes before a token is chosen."""
from __future__ import annotations

import ctypes as c
from typing import Callable

import numpy as np

from tfcompiler._error import Code, Error
from tfcompiler._library import Interrupt

OnLogits = Callable[[int, np.ndarray], None]


class LogitsHook:
    """on_logits as C calls it. Its array is Python's own: one that is kept
    looks into nothing that the runtime has freed."""

    def __init__(self, change: OnLogits, interrupt: Interrupt):
        self._change = change
        self._interrupt = interrupt
        self._array = np.zeros(0, np.float32)

    def call(self, user, sequence, logits, n) -> None:
        if self._interrupt.raised is not None:
            return
        try:
            if len(self._array) != n:
                self._array = np.zeros(n, np.float32)
            array = self._array
            c.memmove(array.ctypes.data, logits, array.nbytes)
            if self._change(sequence, array) is not None:
                raise Error(Code.INVALID_ARGUMENT, "on_logits: expected "
                            "logits that are changed in place, got a result")
            c.memmove(logits, array.ctypes.data, array.nbytes)
        except BaseException as error:  # a callback of C cannot raise
            self._interrupt.raised = error
