# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chat templates are programs of strangers: a process of its own renders them,
with limits of time, memory and size."""
from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Optional

from tfcompiler._error import Code, Error

# Of one template. Real ones need a thousandth.
SECONDS = 10  # of computing
BYTES = 1 << 30
CHARACTERS = 1 << 24


class _Renderer:
    """The process, which is started when it is needed, and anew after it died
    or was left in the middle of an answer."""

    def __init__(self):
        self._lock = threading.Lock()
        self._process: Optional[subprocess.Popen] = None

    def ask(self, request: dict) -> dict:
        line = json.dumps(request) + "\n"
        with self._lock:
            try:
                process = self._started()
                process.stdin.write(line)
                process.stdin.flush()
                reply = process.stdout.readline()
            except BrokenPipeError:
                reply = ""
            except BaseException:
                self._end()
                raise
            if reply:
                return json.loads(reply)
            return _death(self._end())

    def _started(self) -> subprocess.Popen:
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-B",
                     str(Path(__file__).with_name("_sandbox.py"))],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL, text=True,
                    start_new_session=True)  # Ctrl-C is ours
            except (OSError, TypeError) as error:
                raise Error(Code.NOT_FOUND, "expected Python's interpreter in "
                            f"sys.executable, got: {error}") from None
            paths = [path for path in sys.path if isinstance(path, str)]
            self._process.stdin.write(json.dumps(paths) + "\n")
        return self._process

    def _end(self) -> Optional[int]:
        """The exit status of the process, which is no more."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()  # one that has died keeps its own status
        process.stdout.close()
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        return process.wait()

    def close(self) -> None:
        with self._lock:
            self._end()

    def forget(self) -> None:
        """In a child of fork, which shares no answers with its parent: the
        parent's process is neither asked nor ended."""
        parents = self._process
        self.__init__()
        self._parents = parents


def _death(status: Optional[int]) -> dict:
    if status == -signal.SIGPROF:
        return {"code": Code.EXHAUSTED, "error": f"expected a text after "
                f"{SECONDS} seconds of computing, got none"}
    return {"code": Code.EXHAUSTED, "error": "expected a text, got the end of "
            f"the process that renders it (status {status})"}


_renderer = _Renderer()
atexit.register(_renderer.close)
os.register_at_fork(after_in_child=_renderer.forget)


def render(where: str, template: str, variables: Optional[dict]) -> str:
    """The text of a template; without variables it is only read. Raises Error:
    INVALID_ARGUMENT, EXHAUSTED (more time, memory or text than a template
    needs), NOT_FOUND (no jinja2); `where` names the template."""
    try:
        json.dumps(variables)
    except (TypeError, ValueError, RecursionError) as error:
        raise Error(Code.INVALID_ARGUMENT, "messages: expected plain data "
                    "(dictionaries, lists, texts, numbers), got: "
                    f"{error}") from None
    made = _renderer.ask({
        "template": template, "variables": variables, "seconds": SECONDS,
        "bytes": BYTES, "characters": CHARACTERS})
    if "error" in made:
        raise Error(Code(made["code"]), f"{where}: {made['error']}")
    return made["text"]
