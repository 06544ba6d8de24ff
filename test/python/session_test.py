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
from tfcompiler._tokenizer import ids_array

WINDOW, TOKENS, BLOCK = 64, 4000, 64


def make_session(model, options=None):
    session = ctypes.c_void_p()
    runtime().tfc_session_create(model._handle, options, ctypes.byref(session))
    return session


def add(session, model, ids, new):
    array = ids_array(ids)
    decoding = decoding_options(model._handle, {"num_beams": 1})
    request = s.Request(
        tokens=ctypes.cast(array, ctypes.POINTER(ctypes.c_int64)),
        n_tokens=len(array), max_new_tokens=new,
        decoding=ctypes.pointer(decoding))
    EndTokens(None).set_on(request)
    runtime().tfc_session_add(session, ctypes.byref(request),
                              ctypes.byref(ctypes.c_uint64()))


def with_window(folder):
    """The golden Mistral with a window of 64 and room for more tokens."""
    shutil.copytree(os.path.join(shared.GOLDEN, "mistral-window"), folder)
    path = os.path.join(folder, "config.json")
    with open(path) as stream:
        config = json.load(stream)
    config.update(sliding_window=WINDOW, max_position_embeddings=TOKENS + 96)
    with open(path, "w") as stream:
        json.dump(config, stream)
    return tfc.compile(folder, target="cpu", tokenizer=shared.Letters())


class Sessions(unittest.TestCase):
    def test_hold_the_window_and_a_block(self):
        with tempfile.TemporaryDirectory() as scratch:
            model = with_window(os.path.join(scratch, "mistral"))
            session = make_session(model)
            add(session, model, range(1, 90), TOKENS)
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
