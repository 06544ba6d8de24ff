#!/usr/bin/env python3
# llama.cpp through llama-cpp-python. Beside matrices of 16 or 8 bits its cache is f16.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import os

import llama_cpp
import numpy as np

import gguf_write
import worker

F32, F16 = 0, 1  # GGML_TYPE_*
# Of flash_attn_type and pooling_type.
AUTO, NONE = -1, 0


@llama_cpp.llama_log_callback
def be_silent(level, text, user):
    del level, text, user


def has_tiles():
    with open("/proc/cpuinfo") as stream:
        return "amx_int8" in stream.read()


class LlamaCpp:
    version = f"llama-cpp-python {llama_cpp.__version__}"

    def __init__(self, model, cache, threads, dtype):
        llama_cpp.llama_log_set(be_silent, ctypes.c_void_p())
        llama_cpp.llama_backend_init()
        path, config = gguf_write.convert(model, cache, dtype)
        self.vocab, self.threads = config["vocab_size"], threads
        self.is_decoder = worker.is_decoder(config)
        self.width = config.get("hidden_size", config.get("n_embd"))
        parameters = llama_cpp.llama_model_default_params()
        # Its tiles of AMX end the process with Q8_0 (0.3.36, ggml's
        # ggml_backend_amx_mul_mat): then it takes its other kernels.
        parameters.use_extra_bufts = dtype != "int8" or not has_tiles()
        self.model = llama_cpp.llama_model_load_from_file(
            path.encode(), parameters)
        if not self.model:
            raise RuntimeError("it does not load the model")
        self.cache_type = F32 if dtype == "f32" else F16
        self.context = None

    def open(self, sequences, length):
        """A context for this many sequences of this length each."""
        if self.context:
            llama_cpp.llama_free(self.context)
        # It gives every sequence an equal part of the cache, in 256s.
        tokens = sequences * length
        options = llama_cpp.llama_context_default_params()
        options.n_ctx = sequences * (-(-length // 256) * 256)
        options.n_batch = options.n_ubatch = max(tokens, 32)
        options.n_seq_max = sequences
        options.n_threads = options.n_threads_batch = self.threads
        options.type_k = options.type_v = self.cache_type
        options.flash_attn_type = AUTO
        options.embeddings = not self.is_decoder
        options.pooling_type = NONE
        self.context = llama_cpp.llama_init_from_model(self.model, options)
        if not self.context:
            raise RuntimeError("it makes no context")
        self.memory = llama_cpp.llama_get_memory(self.context)

    def make_batch(self, rows, first=0, every=False):
        """Tokens of all sequences, one after the other; outputs are wanted of
        every token or of each sequence's last."""
        total = sum(map(len, rows))
        batch = llama_cpp.llama_batch_init(total, 0, 1)
        batch.n_tokens, i = total, 0
        for sequence, row in enumerate(rows):
            for place, token in enumerate(row):
                batch.token[i] = int(token)
                batch.pos[i] = first + place
                batch.n_seq_id[i] = 1
                batch.seq_id[i][0] = sequence
                batch.logits[i] = every or place == len(row) - 1
                i += 1
        return batch

    def decode(self, batch):
        status = llama_cpp.llama_decode(self.context, batch)
        if status != 0:
            raise RuntimeError(f"llama_decode returns {status}")
        llama_cpp.llama_synchronize(self.context)

    def forget(self, position):
        for sequence in range(llama_cpp.llama_n_seq_max(self.context)):
            llama_cpp.llama_memory_seq_rm(self.memory, sequence, position, -1)

    def prepare(self, kind, lengths):
        rows = [worker.token_ids(row, length, self.vocab)
                for row, length in enumerate(lengths)]
        if kind == "decode":
            return self.make_step(rows, [row[:1] for row in rows])
        self.open(len(rows), max(lengths))
        batch = self.make_batch(rows, every=kind == "encode")
        if kind == "encode":
            return lambda: self.decode(batch)

        def prefill():
            self.forget(0)
            return worker.timed(lambda: self.decode(batch))

        return prefill

    def make_step(self, rows, tokens):
        """tokens [sequences][1] after the rows, each time anew."""
        past = len(rows[0])
        if any(len(row) != past for row in rows):
            raise NotImplementedError("prompts of different lengths")
        self.open(len(rows), past + 1)
        self.decode(self.make_batch(rows))
        batch = self.make_batch(tokens, first=past)

        def step():
            self.forget(past)
            return worker.timed(lambda: self.decode(batch))

        return step

    def check(self, ids, mask):
        rows = [row[keep == 1] for row, keep in zip(ids, mask)]
        if self.is_decoder:
            self.make_step(ids[:, :-1], ids[:, -1:])()
            count, width = len(rows), self.vocab
            data = llama_cpp.llama_get_logits(self.context)
        else:
            self.open(len(rows), ids.shape[1])
            self.decode(self.make_batch(rows, every=True))
            count, width = sum(map(len, rows)), self.width
            data = llama_cpp.llama_get_embeddings(self.context)
        values = np.ctypeslib.as_array(data, shape=(count * width,)).copy()
        values = values.reshape(count, width)
        if self.is_decoder:
            return values[:, None]
        result = np.zeros((*ids.shape, width), np.float32)
        result[mask == 1] = values
        return result


if __name__ == "__main__":
    worker.serve(LlamaCpp)
