#!/usr/bin/env python3
# Products of integers, and nothing else: all programs give the same bits of them,
# of any rows among any others; what no integer says is said.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import array
import json
import math
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
import tensors  # noqa: E402
from tool import Failure, Tool  # noqa: E402

# int8, or int8 or int4 and the columns of a group.
DTYPE, GROUP = sys.argv[3:5] or ("int8", "")
# "float", or nothing, and what scales are kept in.
ZERO = [word for word in sys.argv[5:] if "=" not in word]
SCALES = [word.split("=")[1] for word in sys.argv[5:] if "=" in word]
IS_FOUR = DTYPE == "int4"
OPTIONS = [f"--dtype={DTYPE}"] + ([f"--group={GROUP}"] if GROUP else [])
# No width is a multiple of four, nor of a panel; groups divide those of the
# first two products, and the last one's are bytes with a scale a row.
HIDDEN, INNER, MIDDLE = (128, 384, 51) if GROUP else (103, 201, 50)
OUT, VOCABULARY, POSITIONS = 50, 97, 64
ZEROS, INFINITE, NOT_A_NUMBER, TINY = 0, 1, 2, 3  # tokens
# Decibels.
LEAST_SNR = {"": 32.0, "32": 17.0, "64": 15.0, "128": 14.0}[
    GROUP if IS_FOUR else ""]
ANYWHERE = ["x86-64-v3", "x86-64-v3+avxvnni-emulated", "x86-64-v4-emulated",
            "x86-64-v4+vnni-emulated", "x86-64-v4+amx-int8-emulated",
            "armv8-a-emulated", "armv8-a+dotprod-emulated",
            "armv8-a+i8mm-emulated", "rv64gcv-emulated"]
NATIVE = ["x86-64-v3+avxvnni", "x86-64-v4", "x86-64-v4+vnni",
          "x86-64-v4+amx-int8"]


def write_spec(name, precision=None):
    """Embeddings without a norm, no layer, and a head of two products."""
    spec = {
        "tfc": 1, "extends": "preset:bert", "name": "products",
        "dims": {"hidden": HIDDEN, "vocab": VOCABULARY,
                 "max_positions": POSITIONS},
        "encoder": {"embeddings": {"norm": "none"},
                    "layers": {"repeat": 0,
                               "block": {"attn": {"num_heads": 1},
                                         "ffn": {"width": 8}}}},
        "heads": {"pooler": {"from": "encoder", "steps": [
            {"op": "dense", "name": "up", "out": INNER, "act": "relu"},
            {"op": "dense", "name": "down", "out": MIDDLE},
            {"op": "dense", "name": "last", "out": OUT}]}},
        "outputs": {"y": "pooler"}, "tokens": {"pad": 0},
        "weights": {"map": {"encoder.embeddings.norm": None,
                            "heads.pooler.up": "{p}up",
                            "heads.pooler.down": "{p}down",
                            "heads.pooler.last": "{p}last"}}}
    if IS_FOUR:
        # Heads are bytes otherwise.
        spec["precision"] = {"rules": [
            {"match": "heads.*", "weights": "int4"}]}
    if ZERO:
        spec["precision"]["zeros"] = ZERO[0]
    if SCALES:
        spec["precision"]["scales"] = SCALES[0]
    if precision:
        spec["precision"] = {**spec.get("precision", {}), **precision}
    with open(name, "w") as stream:
        json.dump(spec, stream)


def floats(shape, values):
    return tensors.Tensor("F32", shape, array.array("f", values))


def write_weights(folder, change=lambda weights: None):
    numbers = random.Random(5)

    def matrix(rows, columns):
        # Rows of very different sizes.
        return floats([rows, columns], [
            numbers.gauss(0, 1) * 2.0 ** (row % 9 - 4) for row in range(rows)
            for _ in range(columns)])

    prefix = "embeddings."
    table = matrix(VOCABULARY, HIDDEN)
    table.data[ZEROS * HIDDEN:(ZEROS + 1) * HIDDEN] = array.array(
        "f", [0.0] * HIDDEN)
    table.data[INFINITE * HIDDEN + 7] = -math.inf
    table.data[NOT_A_NUMBER * HIDDEN + 102] = math.nan
    table.data[TINY * HIDDEN:(TINY + 1) * HIDDEN] = array.array(
        "f", [1e-38] * HIDDEN)
    weights = {
        prefix + "word_embeddings.weight": table,
        prefix + "position_embeddings.weight":
            floats([POSITIONS, HIDDEN], [0.0] * POSITIONS * HIDDEN),
        prefix + "token_type_embeddings.weight":
            floats([2, HIDDEN], [0.0] * 2 * HIDDEN),
        "up.weight": matrix(INNER, HIDDEN),
        "up.bias": floats([INNER], [numbers.gauss(0, 1)
                                    for _ in range(INNER)]),
        "down.weight": matrix(MIDDLE, INNER),
        "down.bias": floats([MIDDLE], [numbers.gauss(0, 1)
                                       for _ in range(MIDDLE)]),
        "last.weight": matrix(OUT, MIDDLE),
        "last.bias": floats([OUT], [numbers.gauss(0, 1)
                                    for _ in range(OUT)])}
    change(weights)
    os.makedirs(folder, exist_ok=True)
    tensors.write(os.path.join(folder, "model.safetensors"), weights)


def tokens(rows):
    return {"input_ids": tensors.Tensor(
        "I64", [len(rows), len(rows[0])],
        array.array("q", [token for row in rows for token in row]))}


def expect(condition, message):
    if not condition:
        sys.exit(message)


def rows_of(result):
    y = result["y"].data
    return [y[at:at + OUT] for at in range(0, len(y), OUT)]


def check_programs(tool, *batches):
    """The bits of the first, of all others."""
    def run(name, *options):
        library = tool.path(name + ".so")
        tool.compile("products.json", library, *OPTIONS, *options)
        return [tool.run(library, "weights", batch)["y"].data.tobytes()
                for batch in batches]

    first = run(ANYWHERE[0], f"--target=cpu:{ANYWHERE[0]}")
    for name in ANYWHERE[1:]:
        expect(run(name, f"--target=cpu:{name}") == first,
               f"{name}: expected the bits of {ANYWHERE[0]}")
    expect(run("loops", "--opt=none") == first,
           f"plain loops: expected the bits of {ANYWHERE[0]}")
    for name in NATIVE:
        try:
            same = run(name, f"--target=cpu:{name}") == first
        except Failure as failure:
            if "the machine lacks " not in str(failure):
                raise
            continue
        expect(same, f"{name}: expected the bits of {ANYWHERE[0]}")
    print("all programs give the same bits")


def check_rows(tool, rows, library):
    """A row alone, and with any number of threads."""
    whole = tool.run(library, "weights", tokens(rows))
    for threads in ("1", "3"):
        again = tool.run(library, "weights", tokens(rows), "--threads", threads)
        expect(again["y"].data.tobytes() == whole["y"].data.tobytes(),
               f"expected the same bits with {threads} threads")
    parts = rows_of(whole)
    for at in (0, len(rows) - 1):
        alone = rows_of(tool.run(library, "weights", tokens([rows[at]])))
        width = len(rows[at])
        for place, row in enumerate(alone):
            expect(row.tobytes() == parts[at * width + place].tobytes(),
                   f"row {at}: expected the bits that it has in a batch")
    print("rows have the same bits alone")


def check_special(tool, library, exact):
    """Rows of zeros and of what is nearly zero, of infinities and NaNs."""
    batch = tokens([[ZEROS, TINY, INFINITE, 7, NOT_A_NUMBER]])
    got = rows_of(tool.run(library, "weights", batch))
    wanted = rows_of(tool.run(exact, "weights", batch))
    for place in (0, 1):
        scale = max(map(abs, wanted[place]))
        expect(max(abs(a - b) for a, b in zip(got[place], wanted[place])) <
               (0.3 if IS_FOUR else 0.02) * scale, f"row {place}: expected what f32 gives")
    for place in (2, 4):
        expect(all(map(math.isnan, got[place])),
               f"row {place}: expected no numbers")
    expect(not any(map(math.isnan, got[3])), "expected numbers beside NaNs")
    alone = rows_of(tool.run(library, "weights", tokens([[7]])))
    expect(alone[0].tobytes() == got[3].tobytes(),
           "expected the bits that it has without NaNs beside it")
    print("what is not finite is not a number, and nobody else's")


def check_distance(tool, batch, library, exact):
    got, wanted = (tool.run(each, "weights", batch)["y"].data
                   for each in (library, exact))
    signal = sum(x * x for x in wanted)
    noise = sum((x - y) ** 2 for x, y in zip(wanted, got))
    decibels = 10 * math.log10(signal / noise)
    expect(decibels >= LEAST_SNR, f"expected it {LEAST_SNR} dB above its "
           f"noise, got {decibels:.1f}")


def refusal(tool, library, folder):
    try:
        tool.run(library, folder, tokens([[7]]))
    except Failure as failure:
        return str(failure).split("error: ")[-1].strip()
    sys.exit("expected an error, got outputs")


def check_refusals(tool, library):
    def spoil(weights):
        weights["down.weight"].data[MIDDLE * INNER - 1] = math.nan

    write_weights("spoiled", spoil)
    print(refusal(tool, library, "spoiled"))
    # What the spec says, and nobody asked for.
    write_spec("kept.json", {"weights": DTYPE, "compute": "int8"})
    tool.compile("kept.json", tool.path("kept.so"), "--target=cpu:x86-64-v3")
    print(refusal(tool, tool.path("kept.so"), "weights"))


def check_range(tool, library):
    """Scales that f16 has as denormals, or not at all."""
    def shrink(weights):
        table = weights["embeddings.word_embeddings.weight"]
        table.data = array.array("f", (
            x if math.isfinite(x) else 1.0 for x in table.data))
        up = weights["up.weight"].data
        for row in range(40):
            for at in range(row * HIDDEN, (row + 1) * HIDDEN):
                up[at] *= 2.0 ** -(row + 1)
        up[:HIDDEN] = array.array("f", [0.0] * HIDDEN)

    def grow(weights):
        shrink(weights)
        weights["up.weight"].data[5 * HIDDEN + 3] = 1e6

    write_weights("small", shrink)
    write_weights("large", grow)
    print(refusal(tool, library, "large"))


def main():
    tfc, tfc_run = sys.argv[1:3]
    tool = Tool(shutil.which(tfc), shutil.which(tfc_run), ".")
    write_spec("products.json")
    write_weights("weights")
    numbers = random.Random(3)
    rows = [[numbers.randrange(4, VOCABULARY) for _ in range(19)]
            for _ in range(7)]
    library, exact = tool.path("x86-64-v3.so"), tool.path("exact.so")
    # Few rows may be computed by other instructions, and two at a time.
    check_programs(tool, tokens(rows), *(tokens([rows[0][:count]])
                                         for count in (5, 3, 2, 1)))
    check_rows(tool, rows, library)
    tool.compile("products.json", exact, "--target=cpu:x86-64-v3")
    check_distance(tool, tokens(rows), library, exact)
    check_special(tool, library, exact)
    check_refusals(tool, library)
    if SCALES == ["f16"]:
        check_range(tool, library)


main()
