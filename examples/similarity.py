#!/usr/bin/env python3
# Prints how similar sentences are: the cosines of their embeddings, as tfc-run
# --json writes them, a line for each sentence, on standard input.
#   tfc run ENCODER -- --json < sentences.txt | similarity.py
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import math
import sys


def cosine(one, other):
    product = sum(a * b for a, b in zip(one, other))
    return product / math.sqrt(sum(a * a for a in one) *
                               sum(b * b for b in other))


def main():
    answers = [json.loads(line) for line in sys.stdin]
    print("cosine similarity" + " " * 35
          + "".join(f"{column + 1:6}" for column in range(len(answers))))
    for row, answer in enumerate(answers):
        cosines = (cosine(answer["embedding"], other["embedding"])
                   for other in answers)
        print(f"{row + 1:3} {answer['text'][:46]:47} "
              + "".join(f"{value:6.2f}" for value in cosines))


if __name__ == "__main__":
    main()
