# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong, in one class."""
from __future__ import annotations

import enum


class Code(enum.IntEnum):
    """The kinds of faults, as in tfc/runtime.h."""

    INVALID_ARGUMENT = 1  # a value that the caller or a file gave
    NOT_FOUND = 2  # a file, tensor, symbol or id
    INCOMPATIBLE = 3  # library, weights and machine do not fit together
    EXHAUSTED = 4  # memory or cache blocks ran out
    UNSUPPORTED = 5  # this model cannot do it
    INTERNAL = 6  # a fault of tfc; please report
    IO = 7  # a file that the system cannot read or write
    CANCELLED = 8


class Error(Exception):
    """A fault, with its `code` and the runtime's or the compiler's words, one
    line a fault."""

    def __init__(self, code: Code, message: str):
        super().__init__(message)
        self.code = code

    def __reduce__(self):
        # Exceptions are made anew of their args, of which this one needs two.
        return type(self), (self.code, str(self))
