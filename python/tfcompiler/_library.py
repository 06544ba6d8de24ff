# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libtfc_runtime.so and its functions, as ctypes sees them."""
from __future__ import annotations

import ctypes as c
import functools
import os
import sys
from pathlib import Path

from tfcompiler import _structs as s
from tfcompiler._error import Code, Error

_NAME = "libtfc_runtime.so"
_POINTER = c.c_void_p
# Result and parameters of each function; those that return an error have "E".
_FUNCTIONS = {
    "tfc_error_code": (c.c_int, [_POINTER]),
    "tfc_error_message": (c.c_char_p, [_POINTER]),
    "tfc_error_free": (None, [_POINTER]),
    "tfc_version": (c.c_char_p, []),
    "tfc_abi_version": (c.c_uint32, []),
    "tfc_model_load": ("E", [c.POINTER(s.ModelOptions),
                             c.POINTER(_POINTER)]),
    "tfc_model_free": (None, [_POINTER]),
    "tfc_model_trim": (None, [_POINTER]),
    "tfc_model_get_info": ("E", [_POINTER, c.POINTER(s.ModelInfo)]),
    "tfc_decoding_init": ("E", [_POINTER, c.POINTER(s.DecodingOptions)]),
    "tfc_outputs_count": (c.c_uint32, [_POINTER]),
    "tfc_outputs_get": (c.POINTER(s.Tensor), [_POINTER, c.c_uint32]),
    "tfc_outputs_free": (None, [_POINTER]),
    "tfc_encode": ("E", [_POINTER, c.POINTER(s.EncodeOptions),
                         c.POINTER(_POINTER)]),
    "tfc_generate": ("E", [_POINTER, c.POINTER(s.GenerateOptions), s.TOKEN,
                           _POINTER, c.POINTER(_POINTER)]),
    "tfc_session_create": ("E", [_POINTER, c.POINTER(s.SessionOptions),
                                 c.POINTER(_POINTER)]),
    "tfc_session_free": (None, [_POINTER]),
    "tfc_session_add": ("E", [_POINTER, c.POINTER(s.Request),
                              c.POINTER(c.c_uint64)]),
    "tfc_session_step": ("E", [_POINTER, c.POINTER(s.StepResult)]),
    "tfc_session_fork": ("E", [_POINTER, c.c_uint64, c.POINTER(s.ForkOptions),
                               c.POINTER(c.c_uint64)]),
    "tfc_session_get_info": ("E", [_POINTER, c.POINTER(s.SessionInfo)]),
    "tfc_session_remove": ("E", [_POINTER, c.c_uint64]),
    "tfc_session_pause": ("E", [_POINTER, c.c_uint64]),
    "tfc_session_resume": ("E", [_POINTER, c.c_uint64]),
    "tfc_tokenizer_load": ("E", [c.c_char_p, c.POINTER(_POINTER)]),
    "tfc_tokenizer_free": (None, [_POINTER]),
    "tfc_tokenizer_limit": (c.c_int64, [_POINTER]),
    "tfc_tokenizer_token": (c.c_char_p, [_POINTER, c.c_int64]),
    "tfc_tokenizer_find": (c.c_int64, [_POINTER, c.c_char_p]),
    "tfc_tokenizer_encode": ("E", [_POINTER, c.POINTER(s.TokenizeOptions),
                                   c.POINTER(_POINTER)]),
    "tfc_tokens_get_info": ("E", [_POINTER, c.POINTER(s.TokensInfo)]),
    "tfc_tokens_free": (None, [_POINTER]),
    "tfc_tokenizer_decode": ("E", [_POINTER, c.POINTER(c.c_int64), c.c_uint64,
                                   c.c_int32, c.POINTER(_POINTER)]),
    "tfc_text_get": (_POINTER, [_POINTER, c.POINTER(c.c_uint64)]),
    "tfc_text_free": (None, [_POINTER]),
    "tfc_text_stream_create": ("E", [_POINTER, c.c_int32,
                                     c.POINTER(_POINTER)]),
    "tfc_text_stream_push": ("E", [_POINTER, c.c_int64, c.POINTER(_POINTER),
                                   c.POINTER(c.c_uint64)]),
    "tfc_text_stream_finish": ("E", [_POINTER, c.POINTER(_POINTER),
                                     c.POINTER(c.c_uint64)]),
    "tfc_text_stream_free": (None, [_POINTER]),
    "tfc_scheduler_create": ("E", [_POINTER, c.POINTER(s.SchedulerOptions),
                                   c.POINTER(_POINTER)]),
    "tfc_scheduler_free": (None, [_POINTER]),
    "tfc_scheduler_submit": ("E", [_POINTER, c.POINTER(s.JobOptions),
                                   c.POINTER(c.c_uint64)]),
    "tfc_scheduler_submit_encode": ("E", [_POINTER, c.POINTER(s.EncodeJob),
                                          c.POINTER(c.c_uint64)]),
    "tfc_scheduler_cancel": ("E", [_POINTER, c.c_uint64]),
    "tfc_scheduler_set_mask": ("E", [_POINTER, c.c_uint64, c.c_uint32,
                                     c.c_uint64, c.POINTER(c.c_uint32),
                                     c.c_uint64]),
    "tfc_scheduler_drain": ("E", [_POINTER, c.c_uint64]),
    "tfc_scheduler_wait": ("E", [_POINTER, c.c_uint64,
                                 c.POINTER(s.JobEvents)]),
    "tfc_scheduler_take_outputs": ("E", [_POINTER, c.c_uint64,
                                         c.POINTER(_POINTER)]),
    "tfc_scheduler_get_stats": ("E", [_POINTER, c.POINTER(s.SchedulerStats)]),
}


def _find() -> str:
    """TFC_RUNTIME names the file; else it lies beside this one, or where the
    system has its libraries."""
    named = os.environ.get("TFC_RUNTIME")
    beside = Path(__file__).parent / "lib" / _NAME
    return named or (str(beside) if beside.exists() else _NAME)


@functools.lru_cache(maxsize=None)
def runtime() -> c.CDLL:
    """The runtime, loaded once. Raises Error where there is none."""
    path = _find()
    try:
        library = c.CDLL(path)
    except OSError as error:
        raise Error(Code.NOT_FOUND, f"expected tfc's runtime ({_NAME}; "
                    f"$TFC_RUNTIME names another file), got: {error}") from None
    for name, (result, parameters) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.argtypes = parameters
        function.restype = _POINTER if result == "E" else result
        if result == "E":
            function.errcheck = _raise
    return library


def _raise(error, function, arguments):
    if error is None:
        return None
    library = runtime()
    code = Code(library.tfc_error_code(error))
    message = library.tfc_error_message(error).decode("utf-8", "replace")
    library.tfc_error_free(error)
    raise Error(code, message)


def version() -> str:
    """The runtime's version, as "0.1.0"."""
    return runtime().tfc_version().decode()


def abi_version() -> int:
    """The version of the contract between libraries and this runtime."""
    return runtime().tfc_abi_version()


class Interrupt:
    """Lets Ctrl-C, and whatever else a signal's handler raises, end a call: the
    runtime asks `ask` during the call, and leaving the `with` raises it. Serves
    one call after the other."""

    def __init__(self, should_stop=None):
        self.raised = None
        answers = self._answers(should_stop)
        next(answers)
        # Of a function, a handler would run before its first line, where
        # nothing catches what it raises; a generator goes on inside its try.
        self.ask = s.STOP(answers.send)

    def _answers(self, should_stop):
        answer = 0
        while True:
            try:
                while True:
                    yield answer
                    answer = int(self.raised is not None
                                 or bool(should_stop and should_stop()))
            except GeneratorExit:
                raise
            except BaseException as error:  # a callback of C cannot raise
                # Who clears the frames of a traceback would end this one.
                self.raised = error.with_traceback(
                    error.__traceback__.tb_next)
                answer = 1

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        raised, self.raised = self.raised, None
        if raised is not None and (kind is None or issubclass(kind, Error)):
            raise raised from None


if sys.byteorder != "little":
    raise ImportError("tfcompiler runs on little-endian machines")
