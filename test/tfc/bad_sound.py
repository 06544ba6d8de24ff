# Runs a model of sound with wrong inputs, and checks what is said of them:
# bad_sound.py TFC_RUN LIBRARY WEIGHTS.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from wrong_inputs import Tensor, check, floats, ids

PATCHES = 'input "patches": '
TEXT = {"decoder_input_ids": ids(1, 2)}
CASES = (
    (TEXT, PATCHES + "expected a tensor, got none"),
    ({"patches": floats(1, 5, 20)},
     'input "decoder_input_ids": expected a tensor, got none'),
    ({"patches": floats(1, 5, 21), **TEXT},
     PATCHES + "expected shape [batch, length, 20], each at least 1, got "
     "[1, 5, 21]"),
    ({"patches": floats(1, 14, 20), **TEXT},
     PATCHES + "expected a length of at most 13 (the model's positions), got "
     "14"),
    ({"patches": floats(1, 5, 20), "input_ids": ids(1, 5), **TEXT},
     'input "input_ids": expected one of patches, '),
    ({"patches": floats(1, 5, 20), "attention_mask": Tensor(
        "I64", [1, 5], [1, 0, 1, 1, 1]), **TEXT},
     'input "attention_mask": expected no masked token between others'),
    ({"patches": floats(2, 5, 20), **TEXT},
     'input "decoder_input_ids": expected 2 rows'),
)
check(CASES)
