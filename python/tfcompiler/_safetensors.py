# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Safetensors between this package and the compiler's tools."""
from __future__ import annotations

import json
import struct
from typing import Dict

import numpy as np

_TYPES = {"F32": np.float32, "I64": np.int64}


def write_ids(path, tensors: Dict[str, np.ndarray]) -> None:
    """Tensors of int64 by name."""
    header, parts, end = {}, [], 0
    for name, tensor in tensors.items():
        parts.append(np.ascontiguousarray(tensor, np.int64).tobytes())
        header[name] = {"dtype": "I64", "shape": list(np.shape(tensor)),
                        "data_offsets": [end, end + len(parts[-1])]}
        end += len(parts[-1])
    text = json.dumps(header).encode()
    with open(path, "wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


def read(path) -> Dict[str, np.ndarray]:
    """All tensors of a file that a tool wrote, in its order."""
    with open(path, "rb") as stream:
        data = stream.read()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name == "__metadata__":
            continue
        begin, end = (start + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(
            data[begin:end], _TYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors
