# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled transformers: one native library for one model.

    import tfcompiler as tfc

    model = tfc.compile("MiniLM")          # a Hugging Face folder, once
    model = tfc.load("model.so", "MiniLM") # or what `tfc compile` made
    model.encode(["a text", "another"])    # arrays under Hugging Face's names
    model.generate("Once upon a time")     # text, of models that write
    with tfc.Session(model) as session:    # sequences that come and go
        session.add("Once upon a time")
    tfc.SentenceEncoder(model).encode(["a text", "another"])

Needs NumPy, and nothing else at run time. Arrays are NumPy's; ids are int64 or
int32, values float32. Whatever goes wrong is a tfcompiler.Error with the words
of the runtime or of the compiler.
"""
from tfcompiler._compile import compile
from tfcompiler._error import Code, Error
from tfcompiler._generate import Generated
from tfcompiler._info import ModelInfo, Port
from tfcompiler._library import abi_version, version
from tfcompiler._model import Model, load
from tfcompiler._pipeline import pipeline
from tfcompiler._scheduler import (Answer, Finish, Job, Piece, Scheduler,
                                   SchedulerStats, Usage)
from tfcompiler._sentence import SentenceEncoder
from tfcompiler._session import Fault, NewToken, Session, SessionInfo, State
from tfcompiler._sound import log_mel
from tfcompiler._tokenizer import Encoding, TextStream, Tokenizer
from tfcompiler._transcribe import Segment, Transcript

__version__ = version()
__all__ = [
    "Answer", "Code", "Encoding", "Error", "Fault", "Finish", "Generated",
    "Job", "Model", "ModelInfo", "NewToken", "Piece", "Port", "Scheduler",
    "SchedulerStats", "Segment", "SentenceEncoder", "Session", "SessionInfo",
    "State", "TextStream", "Tokenizer", "Transcript", "Usage", "abi_version",
    "compile", "load", "log_mel", "pipeline", "version",
]
