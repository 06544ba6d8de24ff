#!/usr/bin/env python3
# ONNX Runtime on the CPU, after its own optimizer for transformers.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import (QuantType, matmul_nbits_quantizer,
                                      quantize_dynamic)
from onnxruntime.quantization.onnx_model import ONNXModel
from onnxruntime.transformers import optimizer

import worker

# The fusions that are for a model; its own are for heads of keys and norms
# without a mean.
FUSIONS = {"bert": "bert", "deberta-v2": "bert", "gpt2": "gpt2",
           "llama": "qwen3"}


def optimize(folder, cache, config):
    """The path of the optimized ONNX file, made when it is not there: with
    attention, gelu and norms fused, which is what its documentation
    recommends for transformers."""
    plain = worker.convert(folder, cache, ".onnx", "onnx_export")
    better = plain[:-len(".onnx")] + "-ort.onnx"
    if not os.path.exists(better):
        optimizer.optimize_model(
            plain, model_type=FUSIONS[config["model_type"]],
            num_heads=config.get("n_head") or config["num_attention_heads"],
            hidden_size=config.get("n_embd") or config["hidden_size"],
            use_gpu=False).save_model_to_file(
                better, use_external_data_format=is_large(plain))
    return better


def is_large(path):
    """Whether the matrices are beside the file, which holds up to 2 GB."""
    graph = onnx.load(path, load_external_data=False).graph
    return any(onnx.external_data_helper.uses_external_data(tensor)
               for tensor in graph.initializer)


def quantize(plain, path):
    """The path of the file with products of integers, made of the optimized
    one: rows are quantised as they come, matrices with a scale a column."""
    if not os.path.exists(path):
        quantize_dynamic(plain, path, per_channel=True,
                         weight_type=QuantType.QInt8,
                         reduce_range=not worker.has_vnni(),
                         # Shapes do not go through its own fused ops.
                         extra_options={"DefaultTensorType":
                                        onnx.TensorProto.FLOAT})
    return path


def quantize_int4(plain, path):
    """The same with matrices of 4 bits in groups of 32 columns, of 8 bits where
    they make logits; accuracy level 4 multiplies them by rows of bytes."""
    if os.path.exists(path):
        return path
    model = ONNXModel(onnx.load(plain))
    model.replace_gemm_with_matmul()
    heads = [node.name for node in model.nodes()
             if node.op_type == "MatMul" and "lm_head" in node.name]
    for bits, left_out in ((4, heads), (8, [])):
        config = matmul_nbits_quantizer.DefaultWeightOnlyQuantConfig(
            block_size=32, is_symmetric=True, accuracy_level=4, bits=bits)
        quantizer = matmul_nbits_quantizer.MatMulNBitsQuantizer(
            model.model, nodes_to_exclude=left_out, algo_config=config)
        quantizer.process()
        model = quantizer.model
    model.save_model_to_file(path, use_external_data_format=True)
    return path


class OnnxRuntime:
    version = f"onnxruntime {onnxruntime.__version__}"

    def __init__(self, model, cache, threads, dtype):
        if dtype not in ("f32", "int8", "int4"):
            raise NotImplementedError("16 bits on a CPU")
        config = worker.read_config(model)
        self.is_decoder = worker.is_decoder(config)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = \
            onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        path = optimize(model, cache, config)
        if dtype == "int8":
            path = quantize(path, path[:-len(".onnx")] + "-int8.onnx")
        if dtype == "int4":
            path = quantize_int4(path, path[:-len(".onnx")] + "-int4.onnx")
        self.session = onnxruntime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"])
        self.vocab = config["vocab_size"]
        if self.is_decoder:
            past = [port for port in self.session.get_inputs()
                    if port.name.startswith("past.")]
            _, self.heads, _, self.width = past[0].shape
            self.caches = len(past)

    def decoder_inputs(self, ids, past):
        """past: the presents of an earlier run, or none."""
        batch, count = ids.shape
        if past is None:
            empty = np.zeros((batch, self.heads, 0, self.width), np.float32)
            past = [empty] * self.caches
        length = past[0].shape[2]
        positions = np.arange(length, length + count, dtype=np.int64)
        inputs = {"ids": ids,
                  "mask": np.ones((batch, length + count), np.int64),
                  "positions": np.broadcast_to(positions, ids.shape).copy()}
        inputs.update({f"past.{i}": p for i, p in enumerate(past)})
        return inputs

    def bind(self, inputs):
        """Outputs stay in the session's memory: no copy to numpy."""
        binding = self.session.io_binding()
        for name, value in inputs.items():
            binding.bind_cpu_input(name, value)
        for output in self.session.get_outputs():
            binding.bind_output(output.name, "cpu")
        return lambda: self.session.run_with_iobinding(binding)

    def prepare(self, kind, lengths):
        ids, mask = worker.padded(lengths, self.vocab)
        if kind == "encode":
            return self.bind({"ids": ids, "mask": mask})
        if not mask.all():
            raise NotImplementedError("prompts of different lengths")
        if kind == "prefill":
            return self.bind(self.decoder_inputs(ids, None))
        return self.bind(self.step_inputs(ids, ids[:, :1]))

    def step_inputs(self, prompt, token):
        past = self.session.run(None, self.decoder_inputs(prompt, None))[1:]
        return self.decoder_inputs(token.copy(), past)

    def check(self, ids, mask):
        inputs = (self.step_inputs(ids[:, :-1], ids[:, -1:])
                  if self.is_decoder else {"ids": ids, "mask": mask})
        return self.session.run(None, inputs)[0]


if __name__ == "__main__":
    worker.serve(OnnxRuntime)
