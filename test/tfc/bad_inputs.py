# Inputs that a model cannot take, through `tfc-run`: one line a fault, with the
# file and the tensor, and nothing written.
#   bad_inputs.py BERT.so BERT GPT2.so GPT2, libraries and folders of weights
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "golden"))

from expect import problems
from tensors import Tensor, write


def ints(rows, dtype="I64"):
    return Tensor(dtype, [len(rows), len(rows[0]) if rows else 0],
                  [value for row in rows for value in row])


IDS = ints([[1, 2, 3], [4, 5, 6]])

# Name; tensors; what stands behind "FILE: input " in each line, * standing for
# any text. The model has 97 ids, 2 types and 40 positions.
FORWARD = [
    ("no ids", {"attention_mask": ints([[1, 1]])}, ['"input_ids": expected a tensor*']),
    ("nothing at all", {}, ['"input_ids": expected a tensor*']),
    ("an unknown name", {"input_ids": IDS, "labels": IDS},
     ['"labels": expected one of *input_ids*, got another name']),
    ("an id beyond the vocabulary", {"input_ids": ints([[1, 97]])},
     ['"input_ids": expected values from 0 to 96, got 97 at [0, 1]']),
    ("a negative id", {"input_ids": ints([[1, 2], [-1, 3]], "I32")},
     ['"input_ids": expected values from 0 to 96, got -1 at [1, 0]']),
    ("an id beyond 32 bits", {"input_ids": ints([[1 << 32]])},
     ['"input_ids": expected values from 0 to 96, got 4294967296 at [0, 0]']),
    ("a type that there is not",
     {"input_ids": IDS, "token_type_ids": ints([[0, 1, 2], [0, 0, 0]])},
     ['"token_type_ids": expected values from 0 to 1, got 2 at [0, 2]']),
    ("a position that there is not",
     {"input_ids": IDS, "position_ids": ints([[0, 1, 2], [0, 1, 40]])},
     ['"position_ids": expected values from 0 to 39, got 40 at [1, 2]']),
    ("a mask that is none",
     {"input_ids": IDS, "attention_mask": ints([[1, 1, 2], [1, 1, 1]])},
     ['"attention_mask": expected values from 0 to 1, got 2 at [0, 2]']),
    ("another shape", {"input_ids": IDS, "token_type_ids": ints([[1, 1, 1]])},
     ['"token_type_ids": expected shape [2, 3] *, got [1, 3]']),
    ("one axis", {"input_ids": Tensor("I64", [3], [1, 2, 3])},
     ['"input_ids": expected shape [batch, length], got [3]']),
    ("three axes", {"input_ids": Tensor("I64", [1, 1, 1], [1])},
     ['"input_ids": expected shape [batch, length], got [1, 1, 1]']),
    ("floats", {"input_ids": Tensor("F32", [1, 1], [1])},
     ['"input_ids": expected dtype I32 or I64, got F32']),
    ("no rows", {"input_ids": Tensor("I64", [0, 3], [])},
     ['"input_ids": expected shape [batch, length], each at least 1, got *']),
    ("no columns", {"input_ids": Tensor("I64", [3, 0], [])},
     ['"input_ids": expected shape [batch, length], each at least 1, got *']),
    ("a row with no token",
     {"input_ids": IDS, "attention_mask": ints([[1, 1, 1], [0, 0, 0]])},
     ['"attention_mask": expected *row 1*']),
    ("more than the positions", {"input_ids": ints([[7] * 41])},
     ['"input_ids": expected a length of at most 40 *, got 41']),
    ("two faults",
     {"input_ids": ints([[97]]), "token_type_ids": ints([[5]])},
     ['"input_ids": expected values *', '"token_type_ids": expected values *']),
]

# A decoder with 97 ids and 60 positions.
LONG = ints([[7] * 50])
GENERATE = [
    ("an id beyond the vocabulary", {"input_ids": ints([[97]])}, "2",
     ['*: input "input_ids": expected values from 0 to 96, got 97 at [0, 0]']),
    ("prompt and new tokens beyond the positions", {"input_ids": LONG}, "11",
     ["*expected prompt and new tokens within 60 *, got 50 and 11"]),
    ("a row with no token",
     {"input_ids": IDS, "attention_mask": ints([[0, 0, 0], [1, 1, 1]])}, "2",
     ['*: input "attention_mask": expected *row 0*']),
    ("more than there can be", {"input_ids": IDS}, str((1 << 63) - 1),
     ["*expected prompt and new tokens within 60 *"]),
]


def main():
    bert, bertFolder, gpt2, gpt2Folder = sys.argv[1:]
    failures = 0

    def check(name, tensors, command, lines):
        nonlocal failures
        write("in.safetensors", tensors)
        command = ["tfc-run"] + command + ["--inputs", "in.safetensors",
                                           "--outputs", "out"]
        lines = ["tfc-run: error: " + line for line in lines]
        for problem in problems(command, 1, lines):
            failures += 1
            print(f"{name}: {problem}")

    for name, tensors, lines in FORWARD:
        check(name, tensors, [bert, "--weights", bertFolder],
              ["in.safetensors: input " + line for line in lines])
    for name, tensors, count, lines in GENERATE:
        check(name, tensors,
              [gpt2, "--weights", gpt2Folder, "--generate", "--max-new-tokens",
               count], lines)
    print(f"{len(FORWARD) + len(GENERATE)} bad inputs, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
