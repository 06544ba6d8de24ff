#!/usr/bin/env python3
# The contract of 16 bits itself: what it lets pass, and what it does not.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math
import random
import unittest

import distances
from tensors import Tensor

THEIRS = 0.01
VOCABULARY = 50


def result(data, name="logits"):
    return {name: Tensor("F32", [2, 20, VOCABULARY], list(data))}


def draw(noise):
    """Scores, and the same with so much noise of their own size."""
    numbers = random.Random(11)
    wanted = [numbers.gauss(0, 1) for _ in range(2 * 20 * VOCABULARY)]
    return wanted, [x + noise * numbers.gauss(0, 1) for x in wanted]


def faults(wanted, got, theirs=THEIRS, name="logits"):
    contract = distances.Contract({name: theirs}, "bf16")
    return (contract.add("case", result(wanted, name), result(got, name)) +
            contract.check())


class ContractTest(unittest.TestCase):
    def test_as_much_noise_as_theirs(self):
        for noise in (0.0, 0.9, 1.15):
            self.assertEqual(faults(*draw(noise * THEIRS)), [])

    def test_more_noise(self):
        for noise in (1.6, 3):
            found = faults(*draw(noise * THEIRS))
            self.assertEqual(len(found), 1)
            self.assertIn("distance to f32", found[0])

    def test_nearly_exact(self):
        """Nobody has to be better than rounding once."""
        self.assertEqual(faults(*draw(2.0 ** -10), theirs=1e-6), [])
        self.assertNotEqual(faults(*draw(2.0 ** -7), theirs=1e-6), [])

    def test_no_number(self):
        wanted, got = draw(0)
        got[7] = math.nan
        self.assertNotEqual(faults(wanted, got, name="hidden"), [])

    def test_a_choice_within_the_noise(self):
        wanted, got = draw(0)
        best = max(range(VOCABULARY), key=wanted.__getitem__)
        got[(best + 1) % VOCABULARY] = wanted[best] + 0.01
        self.assertEqual(faults(wanted, got, theirs=1.0), [])

    def test_a_clear_choice(self):
        wanted, got = draw(0)
        wanted[3] = got[3] = 20.0
        got[4] = 20.5
        found = faults(wanted, got, theirs=1.0)
        self.assertEqual(len(found), 1)
        self.assertIn("case: row 0, column 0: expected the greatest of logits "
                      "at 3, ", found[0])
        self.assertTrue(found[0].endswith("got 4"))

    def test_no_row_of_the_table(self):
        contract = distances.Contract({}, "bf16")
        wanted, got = draw(0)
        found = contract.add("case", result(wanted), result(got))
        self.assertIn("make_distances.py", found[0])


if __name__ == "__main__":
    unittest.main()
