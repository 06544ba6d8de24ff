# Reads and writes safetensors files: one JSON header, then the numbers. For
# the example scripts, which need no package.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import array
import json
import struct

TYPES = {"F32": "f", "I32": "i", "I64": "q"}


def read(path, name):
    """A tensor of a safetensors file: its shape and its numbers."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8:8 + size])[name]
    begin, end = (8 + size + offset for offset in entry["data_offsets"])
    numbers = array.array(TYPES[entry["dtype"]])
    numbers.frombytes(data[begin:end])
    return entry["shape"], numbers


def write_integers(path, tensors):
    """Writes int64 matrices: name -> rows of one length."""
    header, parts, offset = {}, [], 0
    for name, rows in tensors.items():
        parts.append(array.array("q", sum(rows, [])).tobytes())
        header[name] = {"dtype": "I64", "shape": [len(rows), len(rows[0])],
                        "data_offsets": [offset, offset + len(parts[-1])]}
        offset += len(parts[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # The numbers begin at a multiple of 8.
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))
