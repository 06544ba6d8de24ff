# Loads: how far they are, who ends them, weights in several places.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import signal
import tempfile
import unittest

import numpy as np

import shared
import tensors
import tfcompiler as tfc

FOLDER = os.path.join(shared.GOLDEN, "bert-model")


class Loads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.library = os.path.join(cls.scratch.name, "model.so")
        cls.model = tfc.compile(FOLDER, cls.library, target="cpu",
                                tokenizer=shared.Letters())

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_tell_how_far_they_are(self):
        told = []
        tfc.load(self.library, FOLDER,
                 progress=lambda *now: told.append(now))
        self.assertEqual(told, sorted(told))
        self.assertEqual(*told[-1])
        self.assertGreater(told[-1][1], 0)

    def test_end_when_the_caller_says(self):
        with self.assertRaises(tfc.Error) as raised:
            tfc.load(self.library, FOLDER, progress=lambda *now: True)
        self.assertEqual(raised.exception.code, tfc.Code.CANCELLED)

    def test_end_with_the_error_of_progress(self):
        def fail(done, total):
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            tfc.load(self.library, FOLDER, progress=fail)

    def test_end_on_ctrl_c(self):
        told = []

        def interrupt(done, total):
            told.append(done)
            if len(told) == 1:
                os.kill(os.getpid(), signal.SIGINT)
            return False

        with self.assertRaises(KeyboardInterrupt):
            tfc.load(self.library, FOLDER, progress=interrupt)

    def test_take_weights_of_several_places(self):
        stored = tensors.read(os.path.join(FOLDER, "model.safetensors"))
        names = sorted(stored)
        parts = [os.path.join(self.scratch.name, f"{i}.safetensors")
                 for i in range(2)]
        for i, path in enumerate(parts):
            tensors.write(path, {name: stored[name] for name in names[i::2]})
        inputs = {"input_ids": [[3, 4, 5]]}
        np.testing.assert_array_equal(
            tfc.load(self.library, parts)(**inputs)["pooler_output"],
            self.model(**inputs)["pooler_output"])
        with self.assertRaises(tfc.Error) as raised:
            tfc.load(self.library, parts[:1])
        self.assertEqual(raised.exception.code, tfc.Code.NOT_FOUND)
