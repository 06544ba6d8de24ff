# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a GGUF file says of itself before its tensors: its chat template."""
from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any, Dict, Optional

from tfcompiler._error import Code, Error

_MOST_KEYS = 1 << 16
_MOST_TEXT = 1 << 24  # bytes
_MOST_ITEMS = 1 << 24  # of an array of texts
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_NUMBERS = {4: "<I", 5: "<i", 10: "<Q", 11: "<q"}
_TEXT, _ARRAY = 8, 9


def find_gguf(path: Path) -> Optional[Path]:
    """The file that has the metadata of a model: the first of its parts, one in
    a folder without a config.json; None where there is none."""
    if path.is_dir() and not (path / "config.json").exists():
        path = min(path.glob("*.gguf"), default=path)
    if path.suffix != ".gguf" or not path.is_file():
        return None
    first = path.with_name(re.sub(r"-[0-9]{5}(-of-[0-9]{5}\.gguf)$",
                                  r"-00001\1", path.name))
    return first if first.is_file() else path


def read_strings(path: Path) -> Dict[str, Any]:
    """The texts and the integers of 32 and 64 bits among its values, by key.
    Raises Error."""
    import mmap
    try:
        with open(path, "rb") as stream, mmap.mmap(
                stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Reader(data).read()
    except OSError as error:
        raise Error(Code.IO, f"{path}: expected a GGUF file, got: "
                    f"{error.strerror}") from None
    except (ValueError, struct.error) as error:
        raise Error(Code.INVALID_ARGUMENT, f"{path}: expected a GGUF file, "
                    f"got: {error}") from None


class _Reader:
    def __init__(self, data):
        self._data, self._at = data, 0

    def read(self) -> Dict[str, Any]:
        if self._take(4) != b"GGUF":
            raise ValueError("another beginning")
        version, _, count = self._numbers("<IQQ")
        if version not in (2, 3) or count > _MOST_KEYS:
            raise ValueError(f"version {version} with {count} keys")
        made = {}
        for _ in range(count):
            key = self._text()
            kind, = self._numbers("<I")
            if kind == _TEXT:
                made[key] = self._text()
            elif kind in _NUMBERS:
                made[key], = self._numbers(_NUMBERS[kind])
            else:
                self._skip(kind)
        return made

    def _skip(self, kind: int) -> None:
        if kind in _SIZES:
            self._take(_SIZES[kind])
            return
        if kind != _ARRAY:
            raise ValueError(f"a value of type {kind}")
        inner, count = self._numbers("<IQ")
        if inner in _SIZES:
            self._step(count * _SIZES[inner])
        elif inner == _TEXT and count <= _MOST_ITEMS:
            for _ in range(count):
                self._step(self._numbers("<Q")[0])
        else:
            raise ValueError(f"an array of {count} of type {inner}")

    def _numbers(self, form: str):
        return struct.unpack(form, self._take(struct.calcsize(form)))

    def _text(self) -> str:
        size, = self._numbers("<Q")
        if size > _MOST_TEXT:
            raise ValueError(f"a text of {size} bytes")
        return self._take(size).decode("utf-8")

    def _take(self, size: int) -> bytes:
        begin = self._at
        self._step(size)
        return self._data[begin:self._at]

    def _step(self, size: int) -> None:
        if size > len(self._data) - self._at:
            raise ValueError(f"an end after {len(self._data)} bytes, in a "
                             f"value of {size}")
        self._at += size
