# What the runtime has made is freed once: copies, pickles, closing.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import concurrent.futures
import copy
import gc
import multiprocessing
import os
import pickle
import tempfile
import threading
import unittest

import shared
import tfcompiler as tfc


def write(model):
    """In another process."""
    return model.generate("Once", max_new_tokens=5)


def fail(folder):
    return tfc.load("/nowhere.so", folder)


class Copies(unittest.TestCase):
    def test_of_what_never_changes_are_itself(self):
        model = shared.stories()
        for each in (model, model.tokenizer):
            for make in (copy.copy, copy.deepcopy):
                self.assertIs(make(each), each)
        del each
        gc.collect()
        self.assertEqual(model.tokenizer.encode("hello").ids,
                         model.tokenizer.encode("hello").ids)

    def test_of_what_has_a_state_are_refused(self):
        model = shared.stories()
        with tfc.Session(model) as session:
            for each in (model.tokenizer.stream(), session):
                for make in (copy.copy, copy.deepcopy, pickle.dumps):
                    with self.assertRaisesRegex(TypeError, "state of its own"):
                        make(each)

    def test_of_parts_hold_the_model(self):
        encoder = tfc.SentenceEncoder(shared.golden("bert-model"))
        self.assertIs(copy.deepcopy(encoder).model, encoder.model)


class Pickles(unittest.TestCase):
    def test_of_a_model_are_what_it_was_loaded_by(self):
        model = shared.stories()
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as scratch:
            made = pickle.dumps(model)
            os.chdir(scratch)
            try:
                other = pickle.loads(made)
            finally:
                os.chdir(before)
        self.assertIsNot(other, model)
        self.assertEqual(write(other), write(model))
        tokenizer = pickle.loads(pickle.dumps(model.tokenizer))
        self.assertEqual(tokenizer.encode("a"), model.tokenizer.encode("a"))

    def test_of_errors_keep_code_and_words(self):
        error = pickle.loads(pickle.dumps(tfc.Error(tfc.Code.IO, "words")))
        self.assertEqual((error.code, str(error)), (tfc.Code.IO, "words"))

    def test_go_to_other_processes_and_back(self):
        with concurrent.futures.ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn")) as pool:
            made = pool.submit(write, shared.stories())
            with self.assertRaisesRegex(tfc.Error, "/nowhere.so") as raised:
                pool.submit(fail, shared.MODELS).result(timeout=120)
            self.assertEqual(made.result(timeout=120),
                             write(shared.stories()))
        self.assertEqual(raised.exception.code, tfc.Code.NOT_FOUND)


class Closing(unittest.TestCase):
    def closed(self, call):
        with self.assertRaisesRegex(tfc.Error, "got one that was closed"):
            call()

    def test_a_model(self):
        with pickle.loads(pickle.dumps(shared.stories())) as model:
            wanted = write(model)
            session, lone = tfc.Session(model), tfc.Session(model)
            number = session.add("Once", max_new_tokens=5)
            tokenizer = model.tokenizer
        for call in (lambda: write(model), lambda: list(model.stream("a")),
                     lambda: model(input_ids=[[1]]), lambda: copy.copy(
                         model).generate("a"), lambda: pickle.dumps(model),
                     lambda: lone.add("a"), lambda: tfc.Session(model)):
            self.closed(call)
        self.assertEqual("".join(new.text for new in session), wanted)
        self.assertEqual(number, 1)
        self.assertEqual(tokenizer.decode(tokenizer.encode("a").ids), "a")
        model.close()

    def test_a_tokenizer_waits_for_its_streams(self):
        tokenizer = tfc.Tokenizer(shared.stories().tokenizer.path)
        stream = tokenizer.stream()
        ids = tokenizer.encode("ab").ids
        tokenizer.close()
        self.closed(lambda: tokenizer.encode("a"))
        self.closed(tokenizer.stream)
        self.closed(lambda: len(tokenizer))
        self.assertEqual("".join(map(stream.push, ids)), "ab")
        with stream:
            pass
        self.closed(lambda: stream.push(5))
        self.closed(stream.finish)

    def test_a_model_waits_for_its_calls(self):
        model = pickle.loads(pickle.dumps(shared.stories()))
        wanted = model.generate_ids([[2, 82]], max_new_tokens=40,
                                    eos_token_id=None).sequences.tolist()

        def close(row, token, is_last):
            thread = threading.Thread(target=model.close)
            thread.start()
            thread.join()
            return False

        made = model.generate_ids([[2, 82]], max_new_tokens=40,
                                  eos_token_id=None, on_token=close)
        self.assertEqual(made.sequences.tolist(), wanted)
        self.closed(lambda: model(input_ids=[[1]]))

    def test_a_session_waits_for_its_step(self):
        session = tfc.Session(shared.stories(),
                              on_logits=lambda *_: session.close())
        session.add([2, 82])
        self.assertEqual(len(session.step()), 1)
        self.closed(session.step)
        self.closed(lambda: session.info)
        self.closed(lambda: session.add([2]))
        self.closed(lambda: session.remove(1))
