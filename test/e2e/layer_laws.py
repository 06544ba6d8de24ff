# What must hold of the hidden states of a decoder that layers.py made, bit for
# bit, whatever its layers are: the laws of test/golden.
#   layer_laws.py LIBRARY FOLDER
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import shutil
import sys

import layers  # also finds the folder of the others
import laws
import tensors
from tool import Tool

ROWS = (9, 1, 17)


def main():
    library, folder = sys.argv[1:]
    tool = Tool("tfc", shutil.which("tfc-run"), ".")

    def run(inputs, *options):
        return tool.run(library, folder, inputs, *options)

    longest = max(ROWS)
    ids = [(31 * i + 7 * row) % layers.VOCAB for row in range(len(ROWS))
           for i in range(longest)]
    mask = [int(i < length) for length in ROWS for i in range(longest)]
    inputs = {name: tensors.Tensor("I64", [len(ROWS), longest], values)
              for name, values in (("input_ids", ids),
                                   ("attention_mask", mask))}
    result = run(inputs)
    faults = []
    for law in (laws.check_threads, laws.check_integers, laws.check_prefix,
                laws.check_alone):
        faults += law(run, inputs, result)
    print("\n".join(faults) or "all laws hold")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
