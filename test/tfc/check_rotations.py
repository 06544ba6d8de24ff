# Reads IR on standard input; checks numbers of the table that its hashes are
# made with beside some that PyTorch 2.13 drew.
#   check_rotations.py SHAPE INDEX=NUMBER...
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re
import struct
import sys

# PyTorch rounds on its way where vectors do.
ROUNDING = 1e-6

found = re.search(r'dense<"0x([0-9A-F]+)"> : tensor<' + sys.argv[1] + "xf32>",
                  sys.stdin.read())
data = bytes.fromhex(found.group(1))
numbers = struct.unpack(f"<{len(data) // 4}f", data)
for pair in sys.argv[2:]:
    index, _, number = pair.partition("=")
    if not abs(numbers[int(index)] - float(number)) < ROUNDING:
        sys.exit(f"expected {number} at {index}, got {numbers[int(index)]}")
