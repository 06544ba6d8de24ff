# Runs a model of pictures with wrong inputs, and checks what is said of them:
# bad_patches.py TFC_RUN LIBRARY WEIGHTS.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from wrong_inputs import check, floats, ids

PATCHES = 'input "patches": '
CASES = (
    ({}, PATCHES + "expected a tensor, got none"),
    ({"input_ids": ids(1, 10)},
     'input "input_ids": expected one of patches, position_ids, attention_mask,'
     " got another name"),
    ({"patches": ids(1, 9)}, PATCHES + "expected dtype F32, got another"),
    ({"patches": floats(1, 9, 24)},
     PATCHES + "expected shape [batch, length, 25], each at least 1, got "
     "[1, 9, 24]"),
    ({"patches": floats(9, 25)},
     PATCHES + "expected shape [batch, length, 25], each at least 1, got "
     "[9, 25]"),
    ({"patches": floats(1, 10, 25)},
     PATCHES + "expected a length of at most 10 (the model's positions), got "
     "11"),
    ({"patches": floats(2, 9, 25), "attention_mask": ids(2, 9)},
     PATCHES + "expected shape [2, 8, 25] (columns of attention_mask, of which "
     "1 are the model's own), got [2, 9, 25]"),
    ({"patches": floats(1, 9, 25), "position_ids": ids(1, 9)},
     'input "position_ids": expected shape [1, 10] (that of patches), got '
     "[1, 9]"),
)
check(CASES)
