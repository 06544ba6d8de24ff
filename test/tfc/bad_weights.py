# Folders of weights that are not this model's, through `tfc-run` and, where it
# looks at them, `tfc import`: one line a fault, and nothing written.
#   bad_weights.py LIBRARY FOLDER, of a model in several files with an index
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import shutil
import struct
import sys

from expect import problems

INDEX = "w/model.safetensors.index.json"
QUERY = "encoder.layer.0.attention.self.query.weight"


def editIndex(change):
    with open(INDEX) as stream:
        index = json.load(stream)
    change(index)
    with open(INDEX, "w") as stream:
        json.dump(index, stream)


def moved(to):
    """A case whose index has one tensor elsewhere."""
    return lambda: editIndex(lambda i: i["weight_map"].update({QUERY: to}))


def text(content):
    def make():
        with open(INDEX, "w") as stream:
            stream.write(content)
    return make


def editTensor(change):
    """Changes the header's entry of the query's weight."""
    with open(INDEX) as stream:
        path = os.path.join("w", json.load(stream)["weight_map"][QUERY])
    with open(path, "rb") as stream:
        size, = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(size))
        data = stream.read()
    change(header)
    header = json.dumps(header).encode()
    with open(path, "wb") as stream:
        stream.write(struct.pack("<Q", len(header)) + header + data)


def entry(**values):
    return lambda: editTensor(lambda header: header[QUERY].update(values))


def renamed():
    def change(header):
        header[QUERY + "s"] = header.pop(QUERY)
    editTensor(change)
    editIndex(lambda i: i["weight_map"].update(
        {QUERY + "s": i["weight_map"].pop(QUERY)}))


def linked():
    shard = "w/model-00001-of-00004.safetensors"
    os.rename(shard, "elsewhere")
    os.symlink("../elsewhere", shard)


def unindexed():
    os.remove(INDEX)
    header = {QUERY: {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}}
    header = json.dumps(header).encode()
    with open("w/more.safetensors", "wb") as stream:
        stream.write(struct.pack("<Q", len(header)) + header)


# Name; what is done to the folder; the message, * standing for any text.
CASES = [
    ("a tensor of another name", renamed,
     f'*: expected tensor "{QUERY}" *'),
    ("a shape that is not the model's", entry(shape=[13, 52]),
     f'*: tensor "{QUERY}": expected shape [26, 26] *, got [13, 52]*'),
    ("another number of axes", entry(shape=[676]),
     f'*: tensor "{QUERY}": expected shape [26, 26] *, got [676]*'),
    ("integers", entry(dtype="I32"),
     f'*: tensor "{QUERY}": expected dtype F32, F16 or BF16 *, got I32'),
    ("an index that points to the parent", moved("../secret.safetensors"),
     f"{INDEX}: expected *got \"../secret.safetensors\"*"),
    ("an index with an absolute path", moved("/etc/passwd"),
     f"{INDEX}: expected *got \"/etc/passwd\"*"),
    ("a path that comes back", moved("../w/model-00001-of-00004.safetensors"),
     f"{INDEX}: expected *"),
    ("an empty name", moved(""), f"{INDEX}: expected *"),
    ("a shard that is not there", moved("model-00009-of-00004.safetensors"),
     f"{INDEX}: expected shard \"model-00009-of-00004.safetensors\" *"),
    ("a shard that is a link out", linked, f"{INDEX}: expected *a link out*"),
    ("a tensor that is in another shard",
     moved("model-00004-of-00004.safetensors"),
     f'w/model-00004-of-00004.safetensors: expected tensor "{QUERY}" *'),
    ("an index that is no JSON", text("{"), f"{INDEX}: *"),
    ("an index without a map", text("{}"),
     f"{INDEX}: expected an object with a weight_map, got none"),
    ("a map that is a list", text('{"weight_map": []}'),
     f"{INDEX}: weight_map: expected an object, got *"),
    ("a map to numbers", text('{"weight_map": {"a": 1}}'),
     f'{INDEX}: weight_map: "a": expected the name of a file, got *'),
    ("an index that is very deep", text('{"a":' + "[" * 100000),
     f"{INDEX}: *"),
    ("a tensor in two files", unindexed, f'w/*: expected distinct tensors, got "{QUERY}" as in w/*'),
]


def main():
    library, folder = sys.argv[1:]
    inputs = os.path.join(folder, "inputs-ragged.safetensors")
    failures = 0
    for name, change, message in CASES:
        shutil.rmtree("w", ignore_errors=True)
        shutil.copytree(folder, "w")
        for path in os.listdir("w"):
            if path.startswith(("inputs-", "expected-")):
                os.remove(os.path.join("w", path))
        change()
        for command in (["tfc-run", library, "--weights", "w", "--inputs",
                         inputs, "--outputs", "out"],
                        ["tfc", "import", "w", "-o", "m.json"]):
            line = f"{command[0]}: error: {message}"
            for problem in problems(command, 1, [line]):
                failures += 1
                print(f"{name}: {' '.join(command)}: {problem}")
    print(f"{len(CASES)} bad folders, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
