# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices of small files: safetensors, and those of torch.save, whose pickles
are read by somebody who knows tensors and nothing else, and calls nothing."""
from __future__ import annotations

import json
import math
import pickle
import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any, Dict, Tuple

import numpy as np

from tfcompiler._error import Code, Error

_MOST_BYTES = 256 << 20  # of a file, which holds a matrix or two
_MOST_PICKLE = 1 << 20
_TYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_STORAGES = {"FloatStorage": "F32", "HalfStorage": "F16",
             "BFloat16Storage": "BF16"}


def read_matrices(path: Path) -> Dict[str, np.ndarray]:
    """float32, by name. Raises Error: what is wrong with the file."""
    import zipfile
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES} bytes")
        read = _safetensors if path.suffix == ".safetensors" else _saved
        return read(path)
    except Error:
        raise
    except (OSError, ValueError, KeyError, TypeError, IndexError, RuntimeError,
            AttributeError, struct.error, EOFError, RecursionError,
            MemoryError, NotImplementedError, pickle.UnpicklingError,
            zipfile.BadZipFile) as error:
        raise Error(Code.INVALID_ARGUMENT, f"{path}: expected tensors of 32 or"
                    " 16 bits, as torch.save writes them or as safetensors, "
                    f"got: {str(error)[:200] or type(error).__name__}"
                    ) from None


def _floats(data: bytes, kind: str, shape) -> np.ndarray:
    values = np.frombuffer(data, _TYPES[kind])
    if kind == "BF16":
        values = (values.astype("<u4") << 16).view("<f4")
    return values.astype(np.float32).reshape(shape)


def _safetensors(path: Path) -> Dict[str, np.ndarray]:
    data = path.read_bytes()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    made = {}
    for name, entry in json.loads(data[8:begin]).items():
        if name == "__metadata__":
            continue
        first, end = entry["data_offsets"]
        if not 0 <= first <= end <= len(data) - begin:
            raise ValueError(f"{name} beyond the file's end")
        made[name] = _floats(data[begin + first:begin + end], entry["dtype"],
                             entry["shape"])
    return made


class _Storage:
    """Of a name in place of torch's class: what a tensor's numbers are."""

    def __init__(self, kind: str):
        self.kind = kind


def _rebuild(storage: Tuple[bytes, str], offset: int, shape, strides, *_
             ) -> np.ndarray:
    """A tensor whose numbers lie one behind the other."""
    data, kind = storage
    size = np.dtype(_TYPES[kind]).itemsize
    count = math.prod(shape)
    expected = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    if min((offset, *shape), default=0) < 0 or list(strides) != expected \
            or (offset + count) * size > len(data):
        raise ValueError(f"a tensor of shape {tuple(shape)} and strides "
                         f"{tuple(strides)} in {len(data)} bytes")
    return _floats(data[offset * size:(offset + count) * size], kind, shape)


class _Tensors(pickle.Unpickler):
    """Knows what torch.save writes of a dictionary of tensors."""

    def __init__(self, stream, numbers):
        super().__init__(stream)
        self._numbers = numbers

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild
        if module == "torch" and name in _STORAGES:
            return _Storage(_STORAGES[name])
        raise ValueError(f"{module}.{name}, which is no tensor (a safetensors "
                         "file of the same name is read instead)")

    def persistent_load(self, given: Any) -> Tuple[bytes, str]:
        what, storage, key = given[:3]
        if what != "storage" or not isinstance(storage, _Storage):
            raise ValueError("something that is no storage")
        return self._numbers(str(key)), storage.kind


def _saved(path: Path) -> Dict[str, np.ndarray]:
    import zipfile
    with zipfile.ZipFile(path) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
        if sum(sizes.values()) > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES} bytes when unpacked")
        name = next(name for name in [*sizes, ""]
                    if name.endswith("/data.pkl") or not name)
        if not name or sizes[name] > _MOST_PICKLE:
            raise ValueError("no data.pkl of at most a megabyte")
        if name[:-8] + "byteorder" in sizes and \
                archive.read(name[:-8] + "byteorder") != b"little":
            raise ValueError("numbers in big-endian order")
        with archive.open(name) as stream:
            found = _Tensors(stream, lambda key: archive.read(
                name[:-8] + "data/" + key)).load()
    if not isinstance(found, dict) or not all(
            isinstance(value, np.ndarray) for value in found.values()):
        raise ValueError("something else than tensors by name")
    return dict(found)
