# Tokens that are asked for, one behind a text each time: what transformers
# generates with XLNet.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import unittest

import numpy as np

import shared
import tfcompiler as tfc


def file_of(name):
    import tensors
    return tensors.read(os.path.join(shared.GOLDEN, "xlnet-next",
                                     name + ".safetensors"))


def array_of(tensor):
    return np.array(tensor.data).reshape(tensor.shape)


class Targets(unittest.TestCase):
    def test_the_next_tokens_are_those_of_generate(self):
        model = shared.golden("xlnet-next")
        ids = array_of(file_of("inputs-continued")["input_ids"])
        expected = array_of(file_of("expected-continued")["sequences"])
        while ids.shape[1] < expected.shape[1]:
            # Whatever stands there.
            asked = np.pad(ids, ((0, 0), (0, 1)), constant_values=7)
            targets = np.zeros_like(asked)
            targets[:, -1] = 1
            logits = model(input_ids=asked, targets=targets)["logits"]
            ids = np.append(ids, logits[:, -1:].argmax(-1), axis=1)
        np.testing.assert_array_equal(ids, expected)

    def test_a_row_has_a_token_that_is_seen(self):
        model = shared.golden("xlnet-next")
        ids, all_asked = [[9, 4], [8, 2]], [[0, 1], [1, 1]]
        with self.assertRaisesRegex(tfc.Error, "targets.*0 in every row.*1$"):
            model(input_ids=ids, targets=all_asked)
        # One that the mask hides is not seen either.
        with self.assertRaisesRegex(tfc.Error, "targets.*in row 0"):
            model(input_ids=ids, targets=[[0, 1], [0, 1]],
                  attention_mask=[[0, 1], [1, 1]])
        with self.assertRaisesRegex(tfc.Error, "targets.*from 0 to 1"):
            model(input_ids=ids, targets=[[0, 2], [0, 0]])
