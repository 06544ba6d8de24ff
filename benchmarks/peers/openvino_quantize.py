# An OpenVINO model as one with products of integers: an encoder calibrated on
# tokens of the workloads, since its rows have fixed scales; a decoder with
# matrices of integers, whose rows are quantised as they come.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import nncf
import openvino

import worker

# Sequences, and tokens of each.
CALIBRATION, LENGTH = 32, 128


def quantize_encoder(graph, vocab):
    def inputs(sequence):
        ids = [worker.token_ids(sequence, LENGTH, vocab)]
        return {"ids": ids, "mask": [[1] * LENGTH]}

    return nncf.quantize(graph, nncf.Dataset(range(CALIBRATION), inputs),
                         model_type=nncf.ModelType.TRANSFORMER,
                         subset_size=CALIBRATION)


def convert(folder, path):
    config = worker.read_config(folder)
    graph = openvino.Core().read_model(
        path.replace("-openvino-int8.xml", "-openvino.xml"))
    if "n_positions" in config:
        graph = nncf.compress_weights(graph)
    else:
        graph = quantize_encoder(graph, config["vocab_size"])
    openvino.save_model(graph, path, compress_to_fp16=False)
