#!/usr/bin/env python3
# Products of bf16 in tiles of AMX, and nothing else: widths that turns divide and
# that they do not, and numbers of rows on both sides of every tile's.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import array
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
import tensors  # noqa: E402
from tool import Failure, Tool  # noqa: E402

# A turn is 32 columns: three and an odd rest, six, one and a rest, none, and three
# again for the output, which shows the order of sums.
HIDDEN = 103
LAYERS = (("up", 192), ("down", 50), ("in", 26), ("wide", 96), ("last", 50))
OUT = LAYERS[-1][1]
VOCABULARY, POSITIONS = 211, 160
NOT_A_NUMBER, INFINITE = 2, 3  # tokens
# An item has 128 rows, its tiles 32 and 16.
ROWS = (1, 2, 7, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 96, 127, 128, 129)
LEAST_SNR = 40.0  # decibels
PROGRAM, WORDS = "x86-64-v4+amx-bf16", "x86-64-v4+bf16"


def write_spec(name):
    """Embeddings without a norm, no layer, and a head of products."""
    steps = [{"op": "dense", "name": each, "out": width}
             for each, width in LAYERS]
    steps[0]["act"] = "relu"
    weights = {f"heads.pooler.{each}": "{p}" + each for each, _ in LAYERS}
    with open(name, "w") as stream:
        json.dump({
            "tfc": 1, "extends": "preset:bert", "name": "products",
            "dims": {"hidden": HIDDEN, "vocab": VOCABULARY,
                     "max_positions": POSITIONS},
            "encoder": {"embeddings": {"norm": "none"},
                        "layers": {"repeat": 0,
                                   "block": {"attn": {"num_heads": 1},
                                             "ffn": {"width": 8}}}},
            "heads": {"pooler": {"from": "encoder", "steps": steps}},
            "outputs": {"y": "pooler"}, "tokens": {"pad": 0},
            "weights": {"map": {"encoder.embeddings.norm": None, **weights}}},
            stream)


def write_weights(folder):
    numbers = random.Random(5)

    def floats(shape, values):
        return tensors.Tensor("F32", shape, array.array("f", values))

    def drawn(*shape):
        return floats(list(shape), [numbers.gauss(0, 1)
                                    for _ in range(math.prod(shape))])

    table = drawn(VOCABULARY, HIDDEN)
    table.data[INFINITE * HIDDEN + 7] = -math.inf
    # The last column, which is a word of its own.
    table.data[NOT_A_NUMBER * HIDDEN + HIDDEN - 1] = math.nan
    prefix = "embeddings."
    weights = {
        prefix + "word_embeddings.weight": table,
        prefix + "position_embeddings.weight":
            floats([POSITIONS, HIDDEN], [0.0] * POSITIONS * HIDDEN),
        prefix + "token_type_embeddings.weight":
            floats([2, HIDDEN], [0.0] * 2 * HIDDEN)}
    width = HIDDEN
    for name, rows in LAYERS:
        weights[name + ".weight"] = drawn(rows, width)
        weights[name + ".bias"] = drawn(rows)
        width = rows
    os.makedirs(folder, exist_ok=True)
    tensors.write(os.path.join(folder, "model.safetensors"), weights)


def expect(condition, message):
    if not condition:
        sys.exit(message)


class Model:
    """A library for one program, of `output`, a name and its width."""

    def __init__(self, tool, program, spec="products.json", weights="weights",
                 output=("y", OUT)):
        self.tool, self.library = tool, tool.path(program + ".so")
        self.weights, (self.output, self.width) = weights, output
        tool.compile(spec, self.library, "--dtype=bf16",
                     f"--target=cpu:{program}")

    def rows(self, tokens, *options):
        """The output of each token."""
        batch = {"input_ids": tensors.Tensor("I64", [1, len(tokens)],
                                             array.array("q", tokens))}
        run = self.tool.run(self.library, self.weights, batch, *options)
        y = run[self.output].data
        return [y[at:at + self.width].tobytes()
                for at in range(0, len(y), self.width)]

    def layout(self):
        text = subprocess.run(
            [shutil.which("tfc"), "inspect", self.library], check=True,
            capture_output=True, text=True).stdout
        return re.search(r"program .*, layout (\S+)", text)[1]


def decibels(wanted, got):
    def numbers(rows):
        values = array.array("f")
        values.frombytes(b"".join(rows))
        return values

    pairs = list(zip(numbers(wanted), numbers(got)))
    noise = sum((x - y) ** 2 for x, y in pairs)
    expect(noise, "expected products of bf16, got the bits of f32")
    return 10 * math.log10(sum(x * x for x, _ in pairs) / noise)


def check_rows(tiles, tokens, whole):
    for count in ROWS:
        # The last ones: each is in another place of another tile.
        got = tiles.rows(tokens[-count:])
        for at, row in enumerate(got):
            expect(row == whole[len(tokens) - count + at],
                   f"row {at} of {count}: expected the bits that it has among "
                   f"{len(tokens)}")
    print("rows have the same bits in all tiles")


def check_special(tiles, tokens, whole):
    """Rows beside those that are no numbers, in the same tile and behind it."""
    places = {5: NOT_A_NUMBER, 40: INFINITE, 52: NOT_A_NUMBER}
    got = tiles.rows([places.get(at, token)
                      for at, token in enumerate(tokens[:53])])
    for at, row in enumerate(got):
        if at in places:
            values = array.array("f", row)
            expect(all(not math.isfinite(x) for x in values),
                   f"row {at}: expected no numbers")
        else:
            expect(row == whole[at], f"row {at}: expected its own bits beside "
                   "what is no number")
    print("what is no number is nobody else's")


def main():
    tfc, tfc_run = sys.argv[1:3]
    tool = Tool(shutil.which(tfc), shutil.which(tfc_run), ".")
    write_spec("products.json")
    write_weights("weights")
    numbers = random.Random(3)
    tokens = [numbers.randrange(4, VOCABULARY) for _ in range(130)]
    tiles = Model(tool, PROGRAM + "-emulated")
    words = Model(tool, WORDS + "-emulated")
    whole = tiles.rows(tokens)
    expect(tiles.layout() == words.layout(),
           f"expected the layout of {WORDS}, got another")
    expect(whole != words.rows(tokens),
           f"expected sums in another order than those of {WORDS}")
    print(f"the packed weights of {WORDS}, and other sums")
    near = decibels(Model(tool, "x86-64-v3").rows(tokens), whole)
    expect(near >= LEAST_SNR, f"expected {LEAST_SNR} dB from f32, got {near}")
    print(f"{near:.1f} dB from f32")
    check_rows(tiles, tokens, whole)
    for threads in ("1", "3"):
        expect(tiles.rows(tokens, "--threads", threads) == whole,
               f"expected the same bits with {threads} threads")
    print("with any number of threads")
    check_special(tiles, tokens, whole)
    try:
        native = Model(tool, PROGRAM).rows(tokens)
    except Failure as failure:
        if "the machine lacks " not in str(failure):
            raise
        print(f"no {PROGRAM} here to compare with")
        return
    expect(native == whole, f"expected the bits of the native {PROGRAM}")
    print(f"the bits of {PROGRAM}")


if __name__ == "__main__":
    main()
