# Compares the outputs of two libraries of one model:
#   agree.py EXPECTED GOT
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, "golden"))
import compare
import tensors


def main():
    expected, got = (tensors.read(path) for path in sys.argv[1:])
    faults = compare.check_names(expected, got)
    for name in expected:
        if not faults:
            faults += compare.check_floats(name, expected[name], got[name])
    print("\n".join(faults) or "they agree")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
