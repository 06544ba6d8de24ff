# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's arrays and the runtime's tensors: both ways without a copy."""
from __future__ import annotations

import ctypes as c
from typing import Dict, List, Sequence, Tuple

import numpy as np

from tfcompiler import _structs as s
from tfcompiler._error import Code, Error
from tfcompiler._library import runtime
from tfcompiler._numbers import INT64, c_string

_DTYPES = {np.dtype("float32"): 0, np.dtype("int32"): 1,
           np.dtype("int64"): 2}
_ELEMENTS = {0: c.c_float, 1: c.c_int32, 2: c.c_int64}


def as_ids(name: str, value) -> np.ndarray:
    """An array of ids: int32 and int64 that lie in one piece stay where they
    are, other integers are copied."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = None  # rows of several lengths
    if array is None or array.dtype == object and any(
            np.ndim(each) for each in array.flat):
        raise Error(Code.INVALID_ARGUMENT, f"{name}: expected rows of one "
                    "length (pad the shorter ones), got several lengths")
    if array.dtype == object or array.dtype == np.uint64 and array.size \
            and array.max() > INT64[1]:
        raise Error(Code.INVALID_ARGUMENT,
                    f"{name}: expected integers of 64 bits, got others")
    if array.dtype == bool or array.size == 0 and not isinstance(
            value, np.ndarray):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise Error(Code.INVALID_ARGUMENT,
                    f"{name}: expected integers, got {array.dtype}")
    if array.dtype not in _DTYPES:
        array = array.astype(np.int64)
    if array.ndim > 3 or array.ndim == 0:
        raise Error(Code.INVALID_ARGUMENT, f"{name}: expected [batch, length]"
                    f", got {array.ndim} dimensions")
    return np.ascontiguousarray(array)


def to_tensors(arrays: Dict[str, np.ndarray]):
    """The runtime's list of tensors over arrays, which must outlive it."""
    tensors = (s.Tensor * len(arrays))()
    for tensor, (name, array) in zip(tensors, arrays.items()):
        tensor.name = c_string("name of an input", name)
        tensor.dtype = _DTYPES[array.dtype]
        tensor.rank = array.ndim
        tensor.shape = tuple(array.shape) + (0,) * (3 - array.ndim)
        tensor.data = array.ctypes.data
    return tensors


class _Outputs:
    """Keeps a result of the runtime as long as an array looks into it."""

    def __init__(self, handle: c.c_void_p):
        self.handle = handle

    def __del__(self):
        runtime().tfc_outputs_free(self.handle)


def from_outputs(handle: c.c_void_p) -> Dict[str, np.ndarray]:
    """The arrays of a result, which they own together. Read-only."""
    owner = _Outputs(handle)
    library = runtime()
    arrays = {}
    for index in range(library.tfc_outputs_count(handle)):
        tensor = library.tfc_outputs_get(handle, index).contents
        arrays[tensor.name.decode()] = _view(tensor, owner)
    return arrays


def _view(tensor: s.Tensor, owner: _Outputs) -> np.ndarray:
    shape = tuple(tensor.shape[:tensor.rank])
    size = int(np.prod(shape))
    element = _ELEMENTS[tensor.dtype]
    if not size:
        return np.zeros(shape, np.dtype(element))
    buffer = (element * size).from_address(tensor.data)
    buffer.owner = owner
    array = np.frombuffer(buffer, np.dtype(element)).reshape(shape)
    array.flags.writeable = False
    return array


def pad_rows(rows: Sequence[Sequence[int]], pad: int, left: bool = False
             ) -> Tuple[np.ndarray, np.ndarray]:
    """Rows of several lengths as ids and mask [rows, longest]."""
    longest = max((len(row) for row in rows), default=0)
    ids = np.full((len(rows), longest), pad, np.int64)
    mask = np.zeros((len(rows), longest), np.int64)
    for index, row in enumerate(rows):
        place = slice(longest - len(row), None) if left else slice(len(row))
        ids[index, place] = row
        mask[index, place] = 1
    return ids, mask


def names_array(names: List[str]):
    """A list of names as C takes it."""
    return (c.c_char_p * len(names))(
        *[c_string("name of an output", name) for name in names])
