# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sounds that a model hears: those that are there at once take turns, a window
each, in a thread of their own. Each is heard alone, so what is made of it is
what it is alone."""
from __future__ import annotations

import asyncio
import concurrent.futures
import io
import threading
from typing import TYPE_CHECKING, Callable, Set, TypeVar

from tfcompiler._error import Code, Error
from tfcompiler._model import Model
from tfcompiler._sound import parse_wave
from tfcompiler._transcribe import Transcriber, Transcript
from tfcompiler.serve._errors import ApiError, shown

if TYPE_CHECKING:
    from tfcompiler.serve._forms import Upload

_HINT = "ffmpeg -i IN -ar 16000 -ac 1 -c:a pcm_s16le OUT.wav makes one"
Result = TypeVar("Result")


class Listener:
    """model: one that writes what it hears. Raises Error."""

    def __init__(self, model: Model):
        try:
            import python_multipart  # noqa: F401
        except ImportError as error:
            raise Error(Code.NOT_FOUND, f"{model.info.name}: expected the "
                        "package python-multipart, for requests with sounds "
                        "(pip install 'tfcompiler-runtime[serve]'), got: "
                        f"{error}") from None
        self._model = model
        self._thread = concurrent.futures.ThreadPoolExecutor(1)
        self._running: Set[threading.Event] = set()

    @property
    def n_jobs(self) -> int:
        return len(self._running)

    def close(self) -> None:
        for stopped in list(self._running):
            stopped.set()
        self._thread.shutdown()

    async def hear(self, sound: "Upload", **words) -> Transcript:
        """words: of Transcriber. Whose task is cancelled is heard no further.
        Raises ApiError, Error."""
        stopped = threading.Event()
        self._running.add(stopped)
        try:
            heard = await self._run(lambda: self._begin(sound, words))
            while not heard.is_done:
                await self._run(lambda: heard.step(stopped.is_set))
            return (await self._run(heard.transcripts))[0][0]
        finally:
            stopped.set()
            self._running.discard(stopped)

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, work)

    def _begin(self, sound: "Upload", words) -> Transcriber:
        if sound.data[:4] != b"RIFF":
            raise ApiError(400, "unsupported_value", "/file: expected a WAV "
                           f"file ({_HINT}), got {shown(sound.name)}", "/file")
        try:
            samples = parse_wave(io.BytesIO(sound.data), "/file")
            features, seconds = self._model._features(samples)
        except Error as error:
            raise ApiError(400, "invalid_value", f"{error} ({_HINT})",
                           "/file") from None
        return Transcriber(self._model, [features], [seconds], **words)
