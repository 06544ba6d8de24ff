# Makes element 7 of a tensor of F32 a NaN.
#   spoil.py FOLDER TENSOR
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import struct
import sys

folder, name = sys.argv[1:]
with open(folder + "/model.safetensors", "r+b") as stream:
    size, = struct.unpack("<Q", stream.read(8))
    begin = json.loads(stream.read(size))[name]["data_offsets"][0]
    stream.seek(8 + size + begin + 4 * 7)
    stream.write(struct.pack("<f", float("nan")))
