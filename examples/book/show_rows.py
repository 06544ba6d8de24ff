#!/usr/bin/env python3
# Prints the integers of a safetensors file, a row a line.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import struct
import sys

with open(sys.argv[1], "rb") as stream:
    size, = struct.unpack("<Q", stream.read(8))
    header = json.loads(stream.read(size))
    body = stream.read()
for name, entry in header.items():
    if name != "__metadata__" and entry["dtype"] == "I64":
        (rows, width), begin = entry["shape"], entry["data_offsets"][0]
        for row in range(rows):
            print(*struct.unpack_from(f"<{width}q", body,
                                      begin + row * width * 8))
