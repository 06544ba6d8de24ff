# What a session holds and how soon it stops, on compiled models.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import json
import os
import shutil
import tempfile
import unittest

import shared
import tfcompiler as tfc
from tfcompiler import _structs as s
from tfcompiler._decoding import EndTokens, decoding_options
from tfcompiler._library import runtime
from tfcompiler._numbers import ids_array

LAYERS, WINDOW, TOKENS, BLOCK = 2, 64, 4000, 64


def make_session(handle, options=None):
    session = ctypes.c_void_p()
    runtime().tfc_session_create(handle, options, ctypes.byref(session))
    return session


class Lender:
    """Threads of the caller's, of which there is one. Counts the loops of a
    model; in one of them somebody wants no more."""

    def __init__(self):
        self.loops, self.stops_in, self.is_stopped = 0, None, False
        self.run = s.PARALLEL_FOR(self._run)
        self.ask = s.STOP(lambda user: int(self.is_stopped))

    def _run(self, user, n, body, arg):
        self.loops += 1
        if self.loops == self.stops_in:
            self.is_stopped = True
        body(arg, 0, n, 0)

    def load(self, library, weights):
        """The model's handle; it wants two workers to lend to."""
        model = ctypes.c_void_p()
        options = s.ModelOptions(
            library_path=os.fsencode(library), threads=2,
            weights_path=os.fsencode(weights), parallel_for=self.run)
        runtime().tfc_model_load(ctypes.byref(options), ctypes.byref(model))
        return model


def add(session, handle, ids, new):
    array = ids_array(ids)
    decoding = decoding_options(handle, {"num_beams": 1})
    request = s.Request(
        tokens=ctypes.cast(array, ctypes.POINTER(ctypes.c_int64)),
        n_tokens=len(array), max_new_tokens=new,
        decoding=ctypes.pointer(decoding))
    EndTokens(None).set_on(request)
    sequence = ctypes.c_uint64()
    runtime().tfc_session_add(session, ctypes.byref(request),
                              ctypes.byref(sequence))
    return sequence


def with_window(folder):
    """The golden Mistral with a window of 64 and room for more tokens."""
    shutil.copytree(os.path.join(shared.GOLDEN, "mistral-window"), folder)
    path = os.path.join(folder, "config.json")
    with open(path) as stream:
        config = json.load(stream)
    config.update(sliding_window=WINDOW, max_position_embeddings=TOKENS + 96)
    with open(path, "w") as stream:
        json.dump(config, stream)
    return tfc.compile(folder, folder + ".so", target="cpu",
                       tokenizer=shared.Letters())


class Sessions(unittest.TestCase):
    def test_hold_the_window_and_a_block(self):
        with tempfile.TemporaryDirectory() as scratch:
            model = with_window(os.path.join(scratch, "mistral"))
            handle = model._handle.pointer
            session = make_session(handle)
            add(session, handle, range(1, 90), TOKENS)
            result, info = s.StepResult(), s.SessionInfo()
            most, steps = 0, 0
            while True:
                runtime().tfc_session_step(session, ctypes.byref(result))
                steps += 1
                runtime().tfc_session_get_info(session, ctypes.byref(info))
                if steps > 1:  # the prompt's own blocks go with its step
                    most = max(most, info.cache_bytes)
                if result.tokens[0].state:
                    break
            runtime().tfc_session_free(session)
        self.assertEqual(steps, TOKENS)
        # A window may begin inside of a block.
        self.assertLessEqual(most, model.info.cache_bytes_per_token *
                             (WINDOW + BLOCK))

    def test_stop_between_two_loops(self):
        # Asked several times a layer: of some thousand questions that a whole
        # prompt asks, a stop at the tenth leaves no eleventh.
        asked = []

        def stop():
            asked.append(1)
            return len(asked) >= 10

        model = shared.stories()
        with self.assertRaises(tfc.Error) as raised:
            model(input_ids=[[5] * 500], should_stop=stop)
        self.assertEqual(raised.exception.code, tfc.Code.CANCELLED)
        self.assertLess(len(asked), 14)

    def test_stop_within_a_layer(self):
        # A prompt of 4,000 tokens, stopped by another thread during one of its
        # loops, of which a layer has several: no other begins.
        prompt = [3 + i * i % 90 for i in range(TOKENS)]
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(scratch, "mistral")
            with_window(folder)
            lender = Lender()
            model = lender.load(folder + ".so", folder)
            options = s.SessionOptions(should_stop=lender.ask)
            result = s.StepResult()

            def step(session, stops_in=None):
                lender.loops, lender.stops_in = 0, stops_in
                lender.is_stopped = False
                runtime().tfc_session_step(session, ctypes.byref(result))
                return result.tokens[0].token

            session = make_session(model, ctypes.byref(options))
            add(session, model, prompt, 2)
            expected = [step(session)]
            loops = lender.loops
            expected.append(step(session))
            self.assertGreater(loops, 2 * LAYERS)
            add(session, model, prompt, 2)
            for stops_in in (1, loops // 2, loops - 2):
                with self.assertRaises(tfc.Error) as raised:
                    step(session, stops_in)
                self.assertEqual(raised.exception.code, tfc.Code.CANCELLED)
                self.assertEqual(lender.loops, stops_in)
            self.assertEqual([step(session), step(session)], expected)
            runtime().tfc_session_free(session)
            runtime().tfc_model_free(model)

    def test_pause_changes_no_token(self):
        model = shared.stories()._handle.pointer
        result = s.StepResult()

        def run(pauses):
            session, tokens = make_session(model), []
            sequence = add(session, model, range(5, 45), 12)
            while len(tokens) < 12:
                runtime().tfc_session_step(session, ctypes.byref(result))
                tokens += [result.tokens[i].token
                           for i in range(result.n_tokens)]
                if len(tokens) in pauses:
                    runtime().tfc_session_pause(session, sequence)
                    info = s.SessionInfo()
                    runtime().tfc_session_get_info(session,
                                                   ctypes.byref(info))
                    self.assertEqual((info.n_paused, info.cache_bytes), (1, 0))
                    runtime().tfc_session_resume(session, sequence)
            runtime().tfc_session_free(session)
            return tokens

        self.assertEqual(run((1, 4, 5, 11)), run(()))
