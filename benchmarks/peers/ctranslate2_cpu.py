#!/usr/bin/env python3
# CTranslate2 on the CPU.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import time

import ctranslate2
import numpy as np

import worker

TYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16",
         "int8": "int8_float32"}
# What ctranslate2_convert.py is tried with, of what it converts.
KNOWN = ("bert", "gpt2")
# Steps of which one is taken, when a step cannot be timed alone.
STEPS = 8


class CTranslate2:
    version = f"ctranslate2 {ctranslate2.__version__}"

    def __init__(self, model, cache, threads, dtype):
        if dtype not in TYPES:
            raise NotImplementedError("4 bits on a CPU")
        config = worker.read_config(model)
        if config["model_type"] not in KNOWN:
            raise NotImplementedError(config["model_type"])
        self.vocab = config["vocab_size"]
        self.is_decoder = worker.is_decoder(config)
        model_class = ctranslate2.Generator if self.is_decoder \
            else ctranslate2.Encoder
        self.model = model_class(
            worker.convert(model, cache, "-ct2", "ctranslate2_convert"),
            device="cpu", compute_type=TYPES[dtype],
            inter_threads=1, intra_threads=threads)

    def prepare(self, kind, lengths):
        rows = [worker.token_ids(row, length, self.vocab)
                for row, length in enumerate(lengths)]
        if kind == "encode":
            return lambda: self.encode(rows)
        words = [[str(token) for token in row] for row in rows]
        if kind == "prefill":
            return lambda: self.generate(words, 1)
        if len(set(lengths)) != 1:
            raise NotImplementedError("prompts of different lengths")
        return self.make_decode(words)

    def encode(self, rows):
        """All outputs, as arrays that share its memory."""
        output = self.model.forward_batch(rows)
        np.asarray(output.pooler_output)
        return np.asarray(output.last_hidden_state)

    def generate(self, words, count, **options):
        return self.model.generate_batch(
            words, max_length=count, min_length=count, sampling_topk=1,
            include_prompt_in_result=False, max_batch_size=0, **options)

    def make_decode(self, words):
        """It has no single step, so what is timed lies between the first new
        token and the last of 9, through its callback. It keeps the state of a
        prompt that all sequences share, which is why they share it here: the
        time of a step does not depend on what the tokens are."""
        last = [row[-1:] for row in words]
        prompt = words[0][:-1]

        def decode():
            stamps = {}

            def note(result):
                if result.batch_id == 0:
                    stamps[result.step] = (time.perf_counter(),
                                           time.process_time())
                return False

            self.generate(last, 1 + STEPS, static_prompt=prompt, callback=note)
            first, final = stamps[min(stamps)], stamps[max(stamps)]
            count = max(stamps) - min(stamps)
            return ((final[0] - first[0]) / count,
                    (final[1] - first[1]) / count)

        return decode

    def check(self, ids, mask):
        rows = [list(map(int, row[keep == 1])) for row, keep in zip(ids, mask)]
        if not self.is_decoder:
            return self.encode(rows)
        words = [[str(token) for token in row] for row in rows]
        return np.asarray(self.model.forward_batch(words))[:, -1:]


if __name__ == "__main__":
    worker.serve(CTranslate2)
