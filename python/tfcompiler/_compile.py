# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the compiler, and keeps what it made."""
from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import List, Optional

from tfcompiler._error import Code, Error
from tfcompiler._model import Model, load
from tfcompiler._numbers import path_bytes
from tfcompiler._tool import find_compiler, run_tool


def compile(folder, output=None, *, target: Optional[str] = None,
            dtype: Optional[str] = None, cache_dtype: Optional[str] = None,
            options: Optional[List[str]] = None, cache: bool = True,
            **load_words) -> Model:
    """Compiles the model of a Hugging Face folder and loads it.

    output: where the library goes; None keeps it under the user's cache folder
    ($XDG_CACHE_HOME or ~/.cache, tfc/), where the next call finds it, unless
    the model's config, the compiler or an option is another one (cache=False
    compiles anew). target, dtype, cache_dtype: tfc compile's --target, --dtype
    and --cache; options: more of its command line. Other words are load()'s.
    Raises Error with the words of tfc."""
    tool = find_compiler()
    path_bytes(folder, "folder")
    more = [f"--{name}={value}" for name, value in (
        ("target", target), ("dtype", dtype), ("cache", cache_dtype)) if value]
    more += options or []
    with tempfile.TemporaryDirectory(prefix="tfc-") as scratch:
        spec = Path(scratch) / "model.json"
        run_tool([tool, "import", os.fspath(folder), "-o", str(spec)])
        path = Path(os.fsdecode(path_bytes(output, "output"))) if output \
            else _cached(tool, spec, more)
        if output or not cache or not path.exists():
            made = Path(scratch) / "model.so"
            run_tool([tool, "compile", str(spec), "-o", str(made)] + more)
            _install(made, path)
    return load(path, folder, **load_words)


def _cached(tool: str, spec: Path, options: List[str]) -> Path:
    """A name that is another one when anything is that the library depends
    on."""
    status = os.stat(tool)
    version = f"{status.st_size} {status.st_mtime_ns}"
    machine = ""
    try:
        # Without a target the code is made for this machine.
        machine = next((line for line in Path("/proc/cpuinfo").read_text()
                        .splitlines() if line.startswith("flags")), "")
    except OSError:
        pass
    text = "\n".join([version, machine, *options]).encode()
    digest = hashlib.sha256(spec.read_bytes() + b"\0" + text).hexdigest()
    home = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(home) if os.path.isabs(home) else Path.home() / ".cache"
    return root / "tfc" / f"{digest[:32]}.so"


def _install(made: Path, to: Path) -> None:
    """Whole or not at all, whoever else does the same."""
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=to.name, dir=to.parent)
        os.close(handle)
        try:
            shutil.copyfile(made, name)
            os.chmod(name, 0o755)
            os.replace(name, to)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise Error(Code.IO, f"{to}: expected a file that can be written, got:"
                    f" {error.strerror}") from None
