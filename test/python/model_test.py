# Forward passes: Hugging Face's numbers, no copies, errors, Ctrl-C, threads.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import gc
import os
import signal
import threading
import unittest

import numpy as np

import shared
import tensors
import tfcompiler as tfc
from tfcompiler._arrays import as_ids


def read(name, file):
    found = tensors.read(os.path.join(shared.GOLDEN, name, file))
    return {key: np.array(tensor.data).reshape(tensor.shape)
            for key, tensor in found.items()}


class Forward(unittest.TestCase):
    def test_gives_the_golden_numbers(self):
        for name in ("bert-model", "gpt2-lm", "bart-lm"):
            inputs = read(name, "inputs-ragged.safetensors")
            expected = read(name, "expected-ragged.safetensors")
            outputs = shared.golden(name)(**inputs)
            for key, wanted in expected.items():
                np.testing.assert_allclose(
                    outputs[key], wanted, rtol=0,
                    atol=1e-4 * max(1, abs(wanted).max()), err_msg=key)

    def test_computes_what_is_wanted(self):
        inputs = read("bert-model", "inputs-ragged.safetensors")
        outputs = shared.golden("bert-model")(outputs=["pooler_output"],
                                              **inputs)
        self.assertEqual(list(outputs), ["pooler_output"])

    def test_copies_no_ids_in_one_piece(self):
        for dtype in (np.int32, np.int64):
            ids = np.ones((2, 3), dtype)
            self.assertIs(as_ids("input_ids", ids).base, ids.base)
            self.assertEqual(as_ids("input_ids", ids).ctypes.data,
                             ids.ctypes.data)
        self.assertEqual(as_ids("input_ids", np.ones((3, 2)).astype(
            np.int16).T).dtype, np.int64)

    def test_results_live_on_their_own(self):
        hidden = shared.golden("bert-model")(
            input_ids=[[3, 4]])["last_hidden_state"]
        kept = hidden.copy()
        part = hidden[0]
        del hidden
        gc.collect()
        shared.golden("bert-model")(input_ids=[[5, 6]])
        np.testing.assert_array_equal(part, kept[0])
        self.assertFalse(part.flags.writeable)

    def test_describes_itself(self):
        info = shared.golden("gpt2-lm").info
        self.assertEqual(info.kind, "decoder")
        self.assertTrue(info.can_generate)
        self.assertEqual(info.inputs[0].name, "input_ids")
        self.assertEqual(info.outputs[0].rank, 3)

    def test_threads_share_a_model(self):
        model = shared.golden("bert-model")
        rows = [[[i + 3, 9, 4 + i]] for i in range(8)]
        alone = [model(input_ids=row)["last_hidden_state"] for row in rows]
        beside = [None] * len(rows)

        def run(i):
            for _ in range(10):
                beside[i] = model(input_ids=rows[i])["last_hidden_state"]

        threads = [threading.Thread(target=run, args=(i,))
                   for i in range(len(rows))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one, other in zip(alone, beside):
            np.testing.assert_array_equal(one, other)


class Stops(unittest.TestCase):
    def test_when_the_caller_says(self):
        with self.assertRaises(tfc.Error) as raised:
            shared.golden("bert-model")(input_ids=[[3, 4]],
                                        should_stop=lambda: True)
        self.assertEqual(raised.exception.code, tfc.Code.CANCELLED)

    def test_with_the_error_of_should_stop(self):
        def fail():
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            shared.golden("bert-model")(input_ids=[[3, 4]], should_stop=fail)

    def test_on_ctrl_c(self):
        # A generation without an end but this one, which the signal meets in
        # its middle.
        seen = []

        def interrupt(row, token, is_last):
            seen.append(token)
            if len(seen) == 3:
                os.kill(os.getpid(), signal.SIGINT)
            return False

        with self.assertRaises(KeyboardInterrupt):
            shared.stories().generate_ids([[2, 82]], max_new_tokens=400,
                                          eos_token_id=None,
                                          on_token=interrupt)
        self.assertLess(len(seen), 10)


class Errors(unittest.TestCase):
    def check(self, code, words, call):
        with self.assertRaises(tfc.Error) as raised:
            call()
        self.assertEqual(raised.exception.code, code)
        self.assertIn(words, str(raised.exception))

    def test_of_the_runtime(self):
        model = shared.golden("bert-model")
        self.check(tfc.Code.INVALID_ARGUMENT, "input_idz",
                   lambda: model(input_idz=[[1]]))
        self.check(tfc.Code.NOT_FOUND, "/nowhere.so",
                   lambda: tfc.load("/nowhere.so", shared.GOLDEN))

    def test_of_the_compiler(self):
        self.check(tfc.Code.INVALID_ARGUMENT, "/nowhere: expected a directory",
                   lambda: tfc.compile("/nowhere"))
        folder = os.path.join(shared.GOLDEN, "bert-model")
        self.check(tfc.Code.INVALID_ARGUMENT, "expected --target cpu",
                   lambda: tfc.compile(folder, target="abacus"))

    def test_of_arrays(self):
        model = shared.golden("bert-model")
        self.check(tfc.Code.INVALID_ARGUMENT, "rows of one length",
                   lambda: model(input_ids=[[1, 2], [3]]))
        self.check(tfc.Code.INVALID_ARGUMENT, "expected integers, got float",
                   lambda: model(input_ids=np.ones((1, 2))))

    def test_of_a_missing_tokenizer(self):
        model = tfc.compile(os.path.join(shared.GOLDEN, "bert-model"),
                            target="cpu")
        self.check(tfc.Code.NOT_FOUND, "expected a tokenizer (tokenizer.json",
                   lambda: model.encode("text"))

    def test_of_a_tokenizer_of_another_model(self):
        folder = os.path.join(shared.GOLDEN, "bert-model")
        other = os.path.join(shared.MODELS, "stories-tiny", "tokenizer.json")
        model = tfc.compile(folder, target="cpu", tokenizer=other)
        self.check(tfc.Code.INCOMPATIBLE, "expected the tokenizer of a model",
                   lambda: model.encode("text"))
