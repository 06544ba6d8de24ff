#!/usr/bin/env python3
# The laws themselves, on models of a few lines: that each holds where it should
# and fails where it should.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import unittest

import laws
from tensors import Tensor

# As many columns as the sentence vectors below are wide.
IDS = Tensor("I64", [2, 3], [5, 6, 7, 8, 9, 4])
MASK = Tensor("I64", [2, 3], [1, 1, 1, 1, 1, 0])


def seen(inputs):
    """Of each row, its ids that are not masked."""
    mask = laws.mask_rows(inputs)
    return [[token for token, one in zip(row, mask[index]) if one]
            for index, row in enumerate(inputs["input_ids"].rows())]


def sums(inputs):
    """A sentence vector: the sum of what is seen, twice and three times it."""
    rows = seen(inputs)
    return Tensor("F32", [len(rows), 3], [
        float(times * sum(row)) for row in rows for times in (1, 2, 3)])


def scores(inputs):
    """A number for each token."""
    ids, mask = inputs["input_ids"], laws.mask_rows(inputs)
    return Tensor("F32", ids.shape, [
        float(token * mask[row][column])
        for row, tokens in enumerate(ids.rows())
        for column, token in enumerate(tokens)])


def both(inputs, *options):
    return {"sentence_embedding": sums(inputs), "start_logits": scores(inputs)}


def by_column(inputs, *options):
    """Here the order counts."""
    ids = inputs["input_ids"]
    return {"start_logits": Tensor("F32", ids.shape, [
        float(token * column) for row in ids.rows()
        for column, token in enumerate(row)])}


class Laws(unittest.TestCase):
    inputs = {"input_ids": IDS, "attention_mask": MASK}

    def test_an_order_is_nothing_to_a_sum(self):
        self.assertEqual([], laws.check_permuted(both, self.inputs,
                                                 both(self.inputs)))

    def test_an_order_that_counts(self):
        faults = laws.check_permuted(by_column, self.inputs,
                                     by_column(self.inputs))
        self.assertIn("start_logits", "".join(faults))

    def test_targets_that_are_not_looked_at(self):
        inputs = {**self.inputs, "targets": Tensor("I64", IDS.shape,
                                                   [0, 1, 0, 1, 0, 0])}

        def told(given, *options):
            hidden = Tensor("I64", MASK.shape, [
                one * (1 - asked) for one, asked in zip(
                    MASK.data, given["targets"].data)])
            return {"start_logits": scores({**given,
                                            "attention_mask": hidden})}

        self.assertEqual([], laws.check_targets(told, inputs, told(inputs)))
        faults = laws.check_targets(both, inputs, both(inputs))
        self.assertIn("other tokens at targets", "".join(faults))

    def test_rows_alone(self):
        self.assertEqual([], laws.check_alone(both, self.inputs,
                                              both(self.inputs)))

    def test_rows_that_see_each_other(self):
        def run(inputs, *options):
            rows = len(inputs["input_ids"].rows())
            return {"sentence_embedding": Tensor("F32", [rows, 3],
                                                 [float(rows)] * 3 * rows)}

        faults = laws.check_alone(run, self.inputs, run(self.inputs))
        self.assertIn("row 0 alone: sentence_embedding", "".join(faults))

    def test_a_vector_is_no_prefix(self):
        self.assertEqual([], laws.check_prefix(both, self.inputs,
                                               both(self.inputs)))


if __name__ == "__main__":
    unittest.main()
