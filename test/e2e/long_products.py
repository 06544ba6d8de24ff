# Products whose reduction is cut into blocks: a tiny GPT-2 with a feed-forward of
# 8192, which is more than one block in every row of the strategy table.
#   long_products.py SPEC SCRATCH
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys

import long_context  # also finds the folder of these two
import tensors
from compare import check_floats, check_same
from long_context import check_company, ragged, token_ids

WIDTH = 8192
# 269 rows: four items of 64, a tile and 5 rows. Alone, a row is items and tiles
# in all combinations.
LENGTHS = [130, 64, 65, 9, 1]


def main():
    source, scratch = sys.argv[1:]
    tool = long_context.find_tool(scratch, [])
    weights, spec = tool.path("model.safetensors"), tool.path("model.json")
    tensors.write(weights, long_context.make_weights(WIDTH))
    long_context.write_spec(source, spec, WIDTH)
    rows = [token_ids(row, length) for row, length in enumerate(LENGTHS)]

    def compile_for(*options):
        tool.options = list(options)
        library = tool.path("model.so")
        tool.compile(spec, library)

        def run(inputs, *more):
            return tool.run(library, weights, inputs,
                            *(more or ("--threads", "1")))

        return run

    expected = compile_for("--opt=none")(ragged(rows))
    faults = []
    for options in ([], ["--target=cpu:x86-64-v3"]):
        run = compile_for(*options)
        result = run(ragged(rows))
        faults += check_floats("logits", expected["logits"], result["logits"])
        faults += check_same("2 threads against 1", result,
                             run(ragged(rows), "--threads", "2"))
        faults += check_company(run, rows, result)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
