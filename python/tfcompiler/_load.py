# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads that tell how far they are and that Ctrl-C ends."""
from __future__ import annotations

import contextlib
import ctypes as c
import threading
from typing import Callable, Optional

from tfcompiler import _structs as s
from tfcompiler._library import runtime


class Load:
    """A call of tfc_model_load, in a thread of its own: a signal's handler runs
    in the main thread, which waits here and not in a callback of C, that could
    not raise what the handler raises."""

    def __init__(self, options: s.ModelOptions,
                 progress: Optional[Callable[[int, int], bool]]):
        self._progress = progress
        self._stops = False
        self._raised: list = []
        self._handle = c.c_void_p()
        self._options = options
        options.progress = s.PROGRESS(self._tell)

    def run(self) -> c.c_void_p:
        """The model. Raises the error of progress, or that of the load."""
        thread = threading.Thread(target=self._work)
        thread.start()
        try:
            thread.join()
        except BaseException:
            self._stops = True
            while thread.is_alive():  # it ends soon; Ctrl-C again or not
                with contextlib.suppress(BaseException):
                    thread.join()
            if self._handle:
                runtime().tfc_model_free(self._handle)
            raise
        if self._raised:
            raise self._raised[0]
        return self._handle

    def _work(self):
        try:
            runtime().tfc_model_load(c.byref(self._options),
                                     c.byref(self._handle))
        except BaseException as error:
            self._raised.append(error)

    def _tell(self, user, done, total):
        try:
            return int(self._stops or bool(
                self._progress and self._progress(done, total)))
        except BaseException as error:  # before the load's own, CANCELLED
            self._raised.append(error)
            return 1
