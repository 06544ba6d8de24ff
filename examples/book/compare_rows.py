#!/usr/bin/env python3
# Compares the rows of a batch's outputs with those of each sequence alone, byte
# by byte: compare_rows.py BATCH ALONE...
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import struct
import sys


def read_rows(path):
    """The first tensor: [[bytes of a row] of each sequence]."""
    with open(path, "rb") as stream:
        size, = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(size))
        body = stream.read()
    entry = next(value for name, value in header.items()
                 if name != "__metadata__")
    batch, length, width = entry["shape"]
    begin = entry["data_offsets"][0]
    return [[body[begin + (b * length + t) * width * 4:][:width * 4]
             for t in range(length)] for b in range(batch)]


def main():
    batch = read_rows(sys.argv[1])
    different = 0
    for number, path in enumerate(sys.argv[2:]):
        alone = read_rows(path)[0]
        equal = batch[number][:len(alone)] == alone
        different += not equal
        print(f"sequence {number}: {len(alone)} rows, "
              f"{'the same bits' if equal else 'other bits'}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
