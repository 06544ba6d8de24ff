#!/usr/bin/env python3
# Attention whose products are tiles of AMX, in decoders of one layer: heads that
# tiles do not divide, more positions than a softmax takes at a time, what is no
# number, and rows that are alone, for which vectors do what tiles do.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import array
import json
import math
import os
import random
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
import tensors  # noqa: E402
from amx import LEAST_SNR, PROGRAM, Model, decibels, expect  # noqa: E402
from tool import Failure, Tool  # noqa: E402

VOCABULARY = 211
NOT_A_NUMBER = 2  # a token
# A stretch of attention is 512 positions, an item 32.
WIDTH, HEADS, LONGEST = 52, 2, 620
LENGTHS = (1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 511, 512, 513, 545)
# A head that is more than two steps, and its sliding window. Of each length the
# last row is alone.
WIDE, WINDOW = 90, 64
ALONE = (65, 97, 129, 161)


def draw_decoder(width):
    """Weights of a GPT-2 with one layer."""
    numbers = random.Random(9)

    def drawn(*shape):
        return tensors.Tensor("F32", list(shape), array.array(
            "f", [numbers.gauss(0, 0.3) for _ in range(math.prod(shape))]))

    weights = {"wte.weight": drawn(VOCABULARY, width),
               "wpe.weight": drawn(LONGEST, width)}
    for name, rows, columns in (("attn.c_attn", width, 3 * width),
                                ("attn.c_proj", width, width),
                                ("mlp.c_fc", width, 4 * width),
                                ("mlp.c_proj", 4 * width, width)):
        weights[f"h.0.{name}.weight"] = drawn(rows, columns)
        weights[f"h.0.{name}.bias"] = drawn(columns)
    for name in ("h.0.ln_1", "h.0.ln_2", "ln_f"):
        weights[name + ".weight"] = drawn(width)
        weights[name + ".bias"] = drawn(width)
    return weights


def write_decoder(folder, width, heads, weights):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as stream:
        json.dump({"model_type": "gpt2", "architectures": ["GPT2Model"],
                   "n_embd": width, "n_head": heads, "n_layer": 1,
                   "n_positions": LONGEST, "vocab_size": VOCABULARY}, stream)
    tensors.write(os.path.join(folder, "model.safetensors"), weights)


def import_decoder(folder):
    subprocess.run([shutil.which("tfc"), "import", folder, "-o",
                    folder + ".json"], check=True, stdout=subprocess.DEVNULL)


def check_decoder(tool):
    weights = draw_decoder(WIDTH)
    weights["wte.weight"].data[NOT_A_NUMBER * WIDTH] = math.nan
    write_decoder("decoder", WIDTH, HEADS, weights)
    import_decoder("decoder")

    def model(program):
        return Model(tool, program, "decoder.json", "decoder",
                     ("last_hidden_state", WIDTH))

    numbers = random.Random(4)
    tokens = [numbers.randrange(4, VOCABULARY) for _ in range(LONGEST)]
    tiles = model(PROGRAM + "-emulated")
    whole = tiles.rows(tokens)
    near = decibels(model("x86-64-v3").rows(tokens), whole)
    expect(near >= LEAST_SNR, f"expected {LEAST_SNR} dB from f32, got {near}")
    print(f"attention: {near:.1f} dB from f32")
    for length in LENGTHS:
        expect(tiles.rows(tokens[:length]) == whole[:length],
               f"expected the first {length} rows of {LONGEST}")
    print("rows have the same bits whoever follows")
    # In its group of positions, in a later one, and in the second stretch.
    for at in (3, 40, 530):
        spoilt = list(tokens)
        spoilt[at] = NOT_A_NUMBER
        got = tiles.rows(spoilt)
        expect(got[:at] == whole[:at],
               f"expected the rows in front of {at}, which is no number")
        for row in got[at:]:
            expect(not any(math.isfinite(x) for x in array.array("f", row)),
                   f"expected no numbers from {at} on")
    print("what is no number is nobody's who does not see it")
    return [("decoder", WIDTH, tokens, whole)]


def write_cancelling(folder, of_scores):
    """What is left of sums is what rounding left: in another order something
    else, which a bf16 shows. Either scores cancel, or the values of any WINDOW
    tokens in turn, whose weights are all one."""
    weights = draw_decoder(WIDE)
    weights["wpe.weight"].data = array.array("f", [0.0] * LONGEST * WIDE)
    product = weights["h.0.attn.c_attn.weight"].data
    bias = weights["h.0.attn.c_attn.bias"].data

    def set_columns(first, count, weight_of, bias_of):
        for column in range(first, first + count):
            bias[column] = bias_of(column)
            for row in range(WIDE):
                at = row * 3 * WIDE + column
                product[at] = weight_of(at)

    if of_scores:
        # All queries are alike, and keys have every number twice.
        half = WIDE // 2
        set_columns(0, WIDE, lambda at: 0.0, lambda at: 2.0 ** 24 * bias[at])
        for column in range(half):
            # Beside another one in another step.
            other = WIDE - 1 - column
            bias[other] = bias[column]
            set_columns(WIDE + other, 1, lambda at, by=other - column:
                        -product[at - by], lambda at, by=other - column:
                        -bias[at - by])
    else:
        set_columns(0, 2 * WIDE, lambda at: 0.0, lambda at: 0.0)
        set_columns(2 * WIDE, WIDE, lambda at: product[at], lambda at: 0.0)
        weights["h.0.ln_1.bias"].data = array.array("f", [0.0] * WIDE)
        table = weights["wte.weight"].data
        # Of so many magnitudes that f32 does not hold their sum. They are below
        # what a norm divides by at least.
        for token in range(0, VOCABULARY - 1, 2):
            for at in range(token * WIDE, (token + 1) * WIDE):
                table[at] *= 2.0 ** -(7 + token / 4 % 16)
                table[at + WIDE] = -table[at]
        product = weights["h.0.attn.c_proj.weight"]
        product.data = array.array("f", [2.0 ** 20 * x for x in product.data])
    write_decoder(folder, WIDE, 1, weights)


def check_cancelling(tool):
    """A row that is alone has the bits that it has among others, to the last
    one of its sums."""
    tokens = list(range(4, 4 + WINDOW))
    random.Random(6).shuffle(tokens)
    tokens *= 3
    for folder in ("scores", "values"):
        write_cancelling(folder, folder == "scores")
        import_decoder(folder)
        with open(folder + ".json") as stream:
            spec = json.load(stream)
        window = {"left": WINDOW - 1, "right": 0}
        spec["decoder"]["layers"]["block"]["attn"]["window"] = window
        with open(folder + ".json", "w") as stream:
            json.dump(spec, stream)
    model = Model(tool, PROGRAM + "-emulated", "values.json", "values",
                  ("last_hidden_state", WIDE))
    results = []
    for folder in ("scores", "values"):
        model.weights = folder
        whole = model.rows(tokens)
        results.append((folder, WIDE, tokens, whole))
        expect(len(set(whole)) > len(tokens) / 2,
               f"{folder}: expected rows that differ")
        for length in ALONE:
            expect(model.rows(tokens[:length]) == whole[:length],
                   f"{folder}: expected the first {length} rows of "
                   f"{len(tokens)}")
    print("rows that are alone have the last bits of their sums")
    return results


def check_native(tool, results):
    """The machine's instructions, if it has them, are the models'."""
    for name, width, tokens, whole in results:
        try:
            native = Model(tool, PROGRAM, name + ".json", name,
                           ("last_hidden_state", width)).rows(tokens)
        except Failure as failure:
            if "the machine lacks " not in str(failure):
                raise
            print(f"no {PROGRAM} here to compare with")
            return
        expect(native == whole,
               f"{name}: expected the bits of the native {PROGRAM}")
    print(f"the bits of {PROGRAM}")


def main():
    tfc, tfc_run = sys.argv[1:3]
    tool = Tool(shutil.which(tfc), shutil.which(tfc_run), ".")
    check_native(tool, check_cancelling(tool) + check_decoder(tool))


if __name__ == "__main__":
    main()
