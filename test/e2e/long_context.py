# Laws that need no reference, for contexts of more than one stretch of attention
# (512 positions): a tiny GPT-2 with 640 positions and weights of no meaning.
#   long_context.py SPEC SCRATCH [OPTIONS OF tfc compile]
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, "golden"))
import tensors
from compare import check_equal, check_same
from tool import Tool

POSITIONS, HIDDEN, WIDTH, VOCAB, HEADS = 640, 32, 64, 97, 2


def write_spec(source, path, width=WIDTH):
    with open(source) as stream:
        spec = json.load(stream)
    spec["dims"].update(hidden=HIDDEN, max_positions=POSITIONS)
    decoder = spec["decoder"]
    decoder["embeddings"]["position"]["rows"] = POSITIONS
    decoder["layers"]["block"]["attn"]["num_heads"] = HEADS
    decoder["layers"]["block"]["ffn"]["width"] = width
    spec["generation"]["max_length"] = POSITIONS
    with open(path, "w") as stream:
        json.dump(spec, stream)


def make_weights(width=WIDTH):
    """As wide as to make attention choose, so that positions matter."""
    shapes = {"wte.weight": [VOCAB, HIDDEN],
              "wpe.weight": [POSITIONS, HIDDEN],
              "ln_f.weight": [HIDDEN], "ln_f.bias": [HIDDEN]}
    for layer in range(2):
        for name, shape in (("attn.c_attn", [HIDDEN, 3 * HIDDEN]),
                            ("attn.c_proj", [HIDDEN, HIDDEN]),
                            ("mlp.c_fc", [HIDDEN, width]),
                            ("mlp.c_proj", [width, HIDDEN]),
                            ("ln_1", [HIDDEN]), ("ln_2", [HIDDEN])):
            shapes[f"h.{layer}.{name}.weight"] = shape
            shapes[f"h.{layer}.{name}.bias"] = shape[-1:]
    draw = random.Random(1)
    weights = {}
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        weights["transformer." + name] = tensors.Tensor(
            "F32", shape, [draw.gauss(0, 0.3) for _ in range(count)])
    return weights


def token_ids(row, length):
    return [(7919 * i + 31 * row) % VOCAB for i in range(length)]


def ragged(rows):
    """The inputs of these rows, padded on the right."""
    longest = max(map(len, rows))
    shape = [len(rows), longest]
    return {"input_ids": tensors.Tensor("I64", shape, [
                token for row in rows
                for token in row + [0] * (longest - len(row))]),
            "attention_mask": tensors.Tensor("I64", shape, [
                int(i < len(row)) for row in rows for i in range(longest)])}


def check_company(run, rows, result):
    """Each row has the bits it has alone."""
    faults = []
    for number, row in enumerate(rows):
        single = run(ragged([row]))["logits"]
        begun = result["logits"].rows()[number][:len(single.data)]
        faults += check_equal(f"row {number} alone",
                              tensors.Tensor("F32", single.shape, begun), single)
    return faults


def check_prefixes(run, row, result, lengths):
    """What comes later changes no bit of what was: neither the tile that a
    query is in nor the stretches behind it matter."""
    faults = []
    for length in lengths:
        single = run(ragged([row[:length]]))["logits"]
        begun = result["logits"].rows()[0][:length * VOCAB]
        faults += check_equal(f"the first {length} tokens",
                              tensors.Tensor("F32", single.shape, begun), single)
    return faults


def check_decoding(run, prompt, sequence, count):
    """Each token that decoding chose is the best of a whole forward pass."""
    if len(sequence) != len(prompt) + count:
        return [f"expected {count} new tokens, got a sequence of "
                f"{len(sequence)} after a prompt of {len(prompt)}"]
    scores = run(ragged([sequence]))["logits"].data
    for place in range(len(prompt), len(sequence)):
        step = scores[(place - 1) * VOCAB:place * VOCAB]
        best = max(range(VOCAB), key=step.__getitem__)
        if best != sequence[place]:
            return [f"token {place}: a forward pass chooses {best}, decoding "
                    f"chose {sequence[place]}"]
    return []


def find_tool(scratch, options):
    tool = Tool("tfc", "tfc-run", scratch, options)
    tool.tfc, tool.tfc_run = "tfc", "tfc-run"  # from the search path
    return tool


def main():
    source, scratch, *options = sys.argv[1:]
    tool = find_tool(scratch, options)
    weights, spec = tool.path("model.safetensors"), tool.path("model.json")
    library = tool.path("model.so")
    tensors.write(weights, make_weights())
    write_spec(source, spec)
    tool.compile(spec, library)

    def run(inputs, *more):
        return tool.run(library, weights, inputs,
                        *(more or ("--threads", "1")))

    rows = [token_ids(row, length)
            for row, length in enumerate([POSITIONS, 7, 530, 513])]
    result = run(ragged(rows))
    faults = check_same("2 threads against 1", result,
                        run(ragged(rows), "--threads", "2"))
    faults += check_company(run, rows, result)
    # The last tile has 1, 2, 4 and 8 queries; 512 are a stretch.
    faults += check_prefixes(run, rows[0], result,
                             (511, 512, 513, 514, 516, 584))
    prompt, count = rows[0][:505], 20
    sequence = tool.generate(library, weights, ragged([prompt]), count,
                             "none")["sequences"]
    faults += check_decoding(run, prompt, list(sequence.data), count)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
