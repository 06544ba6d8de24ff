# Safetensors files that are none, as weights of `tfc import` and `tfc-run` and
# as inputs of `tfc-run`: one line that names the file, and nothing written.
#   malformed_safetensors.py LIBRARY FOLDER INPUTS, of a good model
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import shutil
import struct
import sys

from expect import problems

NAME = "embeddings.word_embeddings.weight"


def fileOf(header, data, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    length = len(text) if length is None else length
    return struct.pack("<Q", length) + text + data


def entries(edit):
    """A case that changes one tensor's entry."""
    def make(header, data):
        edit(header[NAME])
        return fileOf(header, data)
    return make


def setting(key, value):
    return entries(lambda entry: entry.update({key: value}))


def shifted(first, last):
    def edit(entry):
        begin, end = entry["data_offsets"]
        entry["data_offsets"] = [begin + first, end + last]
    return entries(edit)


def twice(header, data):
    text = json.dumps(header)
    entry = json.dumps(header[NAME])
    return fileOf(f'{{"{NAME}": {entry}, {text[1:]}'.encode(), data)


def withMetadata(value):
    def make(header, data):
        return fileOf({**header, "__metadata__": value}, data)
    return make


CASES = [
    ("empty", lambda h, d: b"", "expected a safetensors file*got 0 bytes"),
    ("seven bytes", lambda h, d: b"\0" * 7, "expected *got 7 bytes"),
    ("no header", lambda h, d: fileOf(b"", d), "*"),
    ("header beyond the end", lambda h, d: fileOf(h, d, 1 << 30),
     "expected a header of at most *"),
    ("header of 2^63 bytes", lambda h, d: fileOf(h, d, 1 << 63),
     "expected a header of at most *"),
    ("header of 2^64 - 1 bytes", lambda h, d: fileOf(h, d, (1 << 64) - 1),
     "expected a header of at most *"),
    ("header cut short",
     lambda h, d: fileOf(json.dumps(h).encode()[:-9], d),
     "header: expected JSON, got a syntax error *"),
    ("header that is no JSON", lambda h, d: fileOf(b"{tensor}", b""),
     "header: expected JSON, got a syntax error *"),
    ("header that is a list", lambda h, d: fileOf([h], d),
     "header: expected an object of tensors, got an array"),
    ("header that is not UTF-8", lambda h, d: fileOf(b'{"\xff": {}}', b""),
     "header: expected JSON, got a syntax error *"),
    ("header that is very deep",
     lambda h, d: fileOf(b'{"a": ' + b"[" * 100000, b""), "header: *"),
    ("tensor that is a number", lambda h, d: fileOf({**h, NAME: 1}, d),
     "header: \"*\": expected an object, got 1"),
    ("tensor twice", twice, "header: expected distinct tensors, got *"),
    ("metadata with numbers", withMetadata({"format": 1}),
     "header: __metadata__: \"format\": expected a string, got 1"),
    ("no dtype", entries(lambda entry: entry.pop("dtype")),
     "header: tensor \"*\": expected dtype, got none"),
    ("no shape", entries(lambda entry: entry.pop("shape")),
     "header: tensor \"*\": expected shape, got none"),
    ("unknown dtype", setting("dtype", "F33"), "*tensor \"*\": *\"F33\"*"),
    ("another key", setting("strides", [1, 1]),
     "header: tensor \"*\": expected *got \"strides\""),
    ("negative axis", setting("shape", [-97, 52]),
     "header: tensor \"*\": expected a shape of integers *"),
    ("fractional axis", setting("shape", [97.5, 52]),
     "header: tensor \"*\": expected a shape of integers *"),
    ("axes that overflow", setting("shape", [1 << 62, 1 << 62]),
     "tensor \"*\": expected a whole number of bytes below 2^61*"),
    ("axes beyond 64 bits", setting("shape", [1 << 70, 1]),
     "header: tensor \"*\": expected a shape of integers *"),
    ("shape for fewer bytes", setting("shape", [96, 52]),
     "tensor \"*\": expected * bytes *"),
    ("one offset", setting("data_offsets", [0]),
     "header: tensor \"*\": expected data_offsets of two integers *"),
    ("offsets the wrong way round", setting("data_offsets", [8, 0]),
     "tensor \"*\": expected data_offsets within *"),
    ("offsets beyond the data", setting("data_offsets", [0, 1 << 62]),
     "tensor \"*\": expected data_offsets within *"),
    ("tensors that overlap", shifted(-4, -4),
     "tensor \"*\": expected data to begin at * (regions must not overlap)*"),
    ("data of no tensor", lambda h, d: fileOf(h, d + b"\0"),
     "expected * bytes of data (the end of the last tensor), got *"),
    ("data cut short", lambda h, d: fileOf(h, d[:-1]),
     "tensor \"*\": expected data_offsets within *"),
]


def main():
    library, folder, inputs = sys.argv[1:]
    shutil.copytree(folder, "w")
    path = "w/model.safetensors"
    with open(path, "rb") as stream:
        size, = struct.unpack("<Q", stream.read(8))
        text = stream.read(size)
        data = stream.read()
    run = ["tfc-run", library, "--outputs", "out", "--weights"]
    failures = 0
    for name, make, message in CASES:
        with open(path, "wb") as stream:
            stream.write(make(json.loads(text), data))
        line = f" error: {path}: {message}"
        for command in (["tfc", "import", "w", "-o", "m.json"],
                        run + ["w", "--inputs", inputs],
                        run + [path, "--inputs", inputs],
                        run + [folder, "--inputs", path]):
            for problem in problems(command, 1, [command[0] + ":" + line]):
                failures += 1
                print(f"{name}: {' '.join(command)}: {problem}")
    print(f"{len(CASES)} malformed files, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
