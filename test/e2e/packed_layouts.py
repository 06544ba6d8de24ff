# Writes what packed-layouts.test runs: the spec of a tiny GPT-2 whose widths are
# multiples of a panel, two checkpoints of it, and a batch.
#   packed_layouts.py SPEC FOLDER
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import sys

import long_context  # also finds the folder of the next one
import tensors


def main():
    source, folder = sys.argv[1:]

    def path(name):
        return os.path.join(folder, name)

    long_context.write_spec(source, path("model.json"))
    weights = long_context.make_weights()
    tensors.write(path("model.safetensors"), weights)
    weights["transformer.ln_f.bias"].data[0] += 1
    tensors.write(path("other.safetensors"), weights)
    rows = [long_context.token_ids(row, length)
            for row, length in enumerate([9, 5])]
    tensors.write(path("inputs.safetensors"), long_context.ragged(rows))


if __name__ == "__main__":
    sys.exit(main())
