#!/usr/bin/env python3
# OpenVINO on the CPU.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import openvino

import worker


class OpenVino:
    version = f"openvino {openvino.__version__}"

    def __init__(self, model, cache, threads, dtype):
        config = worker.read_config(model)
        self.is_decoder = worker.is_decoder(config)
        self.vocab = config["vocab_size"]
        kind = "f32" if dtype in ("int8", "int4") else dtype
        # Without these it would compute in bf16 where the machine has it. Where
        # the machine has not what is asked for, it computes in f32.
        properties = {"INFERENCE_PRECISION_HINT": kind,
                      "KV_CACHE_PRECISION": kind,
                      "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1",
                      "INFERENCE_NUM_THREADS": str(threads)}
        path = worker.convert(model, cache, "-openvino.xml",
                              "openvino_convert")
        if dtype in ("int8", "int4"):
            kept = dtype if dtype == "int8" else f"{dtype}-{worker.form()}"
            path = worker.convert(model, cache, f"-openvino-{kept}.xml",
                                  "openvino_quantize")
        compiled = openvino.Core().compile_model(path, "CPU", properties)
        if kind != "f32":
            chosen = compiled.get_property("INFERENCE_PRECISION_HINT")
            self.version += f", {chosen.get_type_name()}"
        self.request = compiled.create_infer_request()

    def infer(self, inputs):
        return self.request.infer(inputs, share_inputs=True,
                                  share_outputs=True)

    @staticmethod
    def decoder_inputs(ids, past):
        batch, count = ids.shape
        positions = np.arange(past, past + count, dtype=np.int64)
        return {"ids": ids, "mask": np.ones((batch, past + count), np.int64),
                "positions": np.broadcast_to(positions, ids.shape).copy(),
                "beams": np.arange(batch, dtype=np.int32)}

    def prepare(self, kind, lengths):
        ids, mask = worker.padded(lengths, self.vocab)
        if kind == "encode":
            inputs = {"ids": ids, "mask": mask}
            return lambda: self.infer(inputs)
        if not mask.all():
            raise NotImplementedError("prompts of different lengths")
        if kind == "prefill":
            inputs = self.decoder_inputs(ids, 0)

            def prefill():
                self.request.reset_state()
                return worker.timed(lambda: self.infer(inputs))

            return prefill
        return self.prepare_decode(ids)

    def begin(self, prompt):
        self.request.reset_state()
        self.infer(self.decoder_inputs(prompt, 0))

    def prepare_decode(self, ids):
        """The cache cannot be shortened, so the past grows by one a step, and
        begins again now and then."""
        token, past = ids[:, :1].copy(), ids.shape[1]
        most = worker.most_growth(past)
        grown = most

        def decode():
            nonlocal grown
            if grown == most:
                self.begin(ids)
                grown = 0
            inputs = self.decoder_inputs(token, past + grown)
            grown += 1
            return worker.timed(lambda: self.infer(inputs))

        return decode

    def check(self, ids, mask):
        if not self.is_decoder:
            return self.infer({"ids": ids, "mask": mask})["hidden"].copy()
        self.begin(ids[:, :-1].copy())
        inputs = self.decoder_inputs(ids[:, -1:].copy(), ids.shape[1] - 1)
        return self.infer(inputs)["logits"].copy()


if __name__ == "__main__":
    worker.serve(OpenVino)
