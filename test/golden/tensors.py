# Reads and writes safetensors files with nothing but Python's library, so that
# the tests need no packages.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import array
import json
import struct
import sys

CODES = {"F64": "d", "F32": "f", "I32": "i", "I64": "q", "F16": "H", "BF16": "H", "I8": "b",
         "F8_E4M3": "B", "F8_E8M0": "B",
         "U8": "B", "BOOL": "B"}


class Tensor:
    """dtype is safetensors' name, shape a list, data a flat array.array."""

    def __init__(self, dtype, shape, data):
        self.dtype = dtype
        self.shape = list(shape)
        self.data = array.array(CODES[dtype], data)

    def rows(self):
        """The slices along the first axis, each a flat array."""
        step = len(self.data) // self.shape[0] if self.shape[0] else 0
        return [self.data[i * step:(i + 1) * step]
                for i in range(self.shape[0])]

    def cast(self, dtype):
        return Tensor(dtype, self.shape, self.data)


def read(path):
    with open(path, "rb") as stream:
        size, = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(size))
        body = stream.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        tensor = Tensor(entry["dtype"], entry["shape"], ())
        tensor.data.frombytes(body[begin:end])
        if sys.byteorder == "big":
            tensor.data.byteswap()
        tensors[name] = tensor
    return tensors


def write(path, tensors):
    header, parts, offset = {}, [], 0
    for name, tensor in tensors.items():
        data = array.array(tensor.data.typecode, tensor.data)
        if sys.byteorder == "big":
            data.byteswap()
        parts.append(data.tobytes())
        header[name] = {"dtype": tensor.dtype, "shape": tensor.shape,
                        "data_offsets": [offset, offset + len(parts[-1])]}
        offset += len(parts[-1])
    text = json.dumps(header).encode()
    # Data begins at a multiple of 8.
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text + b"".join(parts))
