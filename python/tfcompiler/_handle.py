# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the runtime has made: freed once, when nobody uses it."""
from __future__ import annotations

import contextlib
import ctypes as c
import threading
from typing import Callable, Optional, TypeVar

from tfcompiler._error import Code, Error


class Handle:
    """A pointer of the runtime. `with handle as pointer` uses it, from any
    number of threads; it is freed when it is closed and the last use has ended,
    and with it ends its use of `owner`, which must outlive it. Raises Error
    when it is closed."""

    def __init__(self, what: str, free: Callable[[c.c_void_p], None],
                 owner: Optional["Handle"] = None):
        self.pointer = c.c_void_p()
        self._what = what
        self._free = free
        # A destructor may run, in the same thread, between any two lines.
        self._lock = threading.RLock()
        self._users = 0
        self._has_one = self._is_closed = self._is_freed = False
        self._owner = None
        if owner is not None:
            owner.__enter__()
            self._owner = owner

    def __enter__(self) -> c.c_void_p:
        with self._lock:
            if self._is_closed:
                raise Error(Code.INVALID_ARGUMENT, f"{self._what}: expected an "
                            "open one, got one that was closed")
            self._users += 1
        return self.pointer

    def __exit__(self, *raised) -> None:
        with self._lock:
            self._users -= 1
            self._free_unused()

    @contextlib.contextmanager
    def alone(self):
        """The same for what one thread at a time may do, and no callback of
        it."""
        with self as pointer:
            with self._lock:
                if self._has_one:
                    raise Error(Code.INVALID_ARGUMENT, f"{self._what}: "
                                "expected one call at a time, got a second one"
                                " (of another thread, or of a callback)")
                self._has_one = True
            try:
                yield pointer
            finally:
                self._has_one = False

    def close(self) -> None:
        """Closing what is closed changes nothing."""
        with self._lock:
            self._is_closed = True
            self._free_unused()

    def __del__(self):
        if hasattr(self, "_owner"):
            self.close()

    def _free_unused(self) -> None:
        if not self._is_closed or self._users or self._is_freed:
            return
        self._is_freed = True
        pointer, self.pointer = self.pointer, c.c_void_p()
        self._free(pointer)
        if self._owner is not None:
            self._owner.__exit__()


_T = TypeVar("_T", bound="Closes")


class Closes:
    """`with` and close() of what has a _handle."""

    _handle: Handle

    def close(self) -> None:
        """Gives its memory back, as soon as no call uses it. Whatever is asked
        of it from now on is an Error. `with` closes, too."""
        self._handle.close()

    def __enter__(self: _T) -> _T:
        with self._handle:
            return self

    def __exit__(self, *raised) -> None:
        self.close()


class Unique:
    """What is one thing, with a state of its own: no copies, no pickles."""

    def __reduce_ex__(self, protocol):
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled:"
                        " it has a state of its own")
