#!/usr/bin/env python3
# tfc through the runtime's C API, as a program calls it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import os

import numpy as np

import worker
from ctypes import (POINTER, byref, c_char_p, c_int32, c_int64, c_uint32,
                    c_uint64, c_void_p)

I64 = 2


class ModelOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_uint64), ("library_path", c_char_p),
                ("weights_path", c_char_p), ("program", c_char_p),
                ("threads", c_uint32), ("reserved", c_uint32),
                ("tap", c_void_p), ("tap_user", c_void_p),
                ("packed_path", c_char_p)]


class Tensor(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_uint32), ("rank", c_uint32),
                ("shape", c_int64 * 3), ("data", c_void_p)]


class EncodeOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_uint64), ("inputs", POINTER(Tensor)),
                ("n_inputs", c_uint32), ("n_outputs", c_uint32),
                ("outputs", POINTER(c_char_p))]


class Request(ctypes.Structure):
    _fields_ = [("struct_size", c_uint64), ("tokens", POINTER(c_int64)),
                ("n_tokens", c_int64), ("max_new_tokens", c_int64),
                ("eos", POINTER(c_int64)), ("n_eos", c_uint32),
                ("own_eos", c_int32)]


class StepResult(ctypes.Structure):
    _fields_ = [("struct_size", c_uint64), ("tokens", c_void_p),
                ("n_tokens", c_uint64)]


def sized(structure):
    value = structure()
    value.struct_size = ctypes.sizeof(structure)
    return value


def load_runtime(path):
    library = ctypes.CDLL(path)
    for name in ("tfc_model_load", "tfc_encode", "tfc_session_create",
                 "tfc_session_add", "tfc_session_step"):
        getattr(library, name).restype = c_void_p
    library.tfc_error_message.restype = c_char_p
    library.tfc_version.restype = c_char_p
    library.tfc_outputs_find.restype = POINTER(Tensor)
    return library


class Tfc:
    """The library compiled of the model lies in the cache folder, with what it
    keeps weights and cache in; TFC_RUNTIME is the path of
    libtfc_runtime.so."""

    def __init__(self, model, cache, threads, dtype):
        del dtype
        self.runtime = load_runtime(os.environ["TFC_RUNTIME"])
        self.version = "tfc " + self.runtime.tfc_version().decode()
        options = sized(ModelOptions)
        name = os.path.basename(model.rstrip("/"))
        options.library_path = os.path.join(cache, name + ".so").encode()
        options.weights_path = model.encode()
        options.threads = threads
        self.model = c_void_p()
        self.call("tfc_model_load", byref(options), byref(self.model))
        config = worker.read_config(model)
        self.vocab = config["vocab_size"]
        self.is_decoder = worker.is_decoder(config)
        self.session = None

    def call(self, name, *arguments):
        error = getattr(self.runtime, name)(*arguments)
        if error:
            raise RuntimeError(self.runtime.tfc_error_message(
                c_void_p(error)).decode())

    def prepare(self, kind, lengths):
        if kind == "encode":
            return self.make_forward(*worker.padded(lengths, self.vocab))
        rows = [worker.token_ids(row, length, self.vocab)
                for row, length in enumerate(lengths)]
        if kind == "prefill":
            def prefill():
                self.begin(rows)
                return worker.timed(self.step)

            return prefill
        return self.make_decode(rows)

    def make_forward(self, ids, mask):
        """All outputs, like a forward pass of Hugging Face's model."""
        arrays = [np.ascontiguousarray(a, np.int64) for a in (ids, mask)]
        tensors = (Tensor * 2)()
        for tensor, name, array in zip(
                tensors, (b"input_ids", b"attention_mask"), arrays):
            tensor.name, tensor.dtype, tensor.rank = name, I64, 2
            tensor.shape[:2] = array.shape
            tensor.data = array.ctypes.data
        options = sized(EncodeOptions)
        options.inputs, options.n_inputs = tensors, 2

        def forward(read=None):
            assert arrays  # what the tensors point at
            outputs = c_void_p()
            self.call("tfc_encode", self.model, byref(options), byref(outputs))
            value = self.read(outputs, read) if read else None
            self.runtime.tfc_outputs_free(outputs)
            return value

        return forward

    def read(self, outputs, name):
        tensor = self.runtime.tfc_outputs_find(outputs, name.encode()).contents
        shape = tensor.shape[:tensor.rank]
        data = ctypes.cast(tensor.data, POINTER(ctypes.c_float))
        return np.ctypeslib.as_array(data, shape=shape).copy()

    def begin(self, rows):
        """A new session with these prompts, nothing computed yet."""
        if self.session:
            self.runtime.tfc_session_free(self.session)
        self.session = c_void_p()
        self.call("tfc_session_create", self.model, None, byref(self.session))
        for row in rows:
            tokens = (c_int64 * len(row))(*row)
            request = sized(Request)
            request.tokens, request.n_tokens = tokens, len(row)
            request.max_new_tokens = worker.most_growth(len(row)) + 2
            request.own_eos = 1
            self.call("tfc_session_add", self.session, byref(request),
                      byref(c_uint64()))

    def step(self):
        """Next tokens included: the runtime takes the likeliest."""
        result = sized(StepResult)
        self.call("tfc_session_step", self.session, byref(result))

    def make_decode(self, rows):
        """The past grows by one a step, and begins again now and then."""
        most = worker.most_growth(min(map(len, rows)))
        grown = most

        def decode():
            nonlocal grown
            if grown == most:
                self.begin(rows)
                self.step()
                grown = 0
            grown += 1
            return worker.timed(self.step)

        return decode

    def check(self, ids, mask):
        forward = self.make_forward(ids, mask)
        if self.is_decoder:
            return forward("logits")[:, -1:]
        return forward("last_hidden_state")


if __name__ == "__main__":
    worker.serve(Tfc)
