# An OpenVINO model as one with products of integers: an encoder calibrated on
# tokens of the workloads, since its rows have fixed scales; a decoder with
# matrices of 8 bits, or of 4 in groups (int4-GROUP in its name), whose rows are
# quantised as they come.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re

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
    stem, group = re.fullmatch(r"(.*-openvino)-int[48](?:-(\d+))?\.xml",
                               path).groups()
    graph = openvino.Core().read_model(stem + ".xml")
    if group:
        graph = nncf.compress_weights(
            graph, mode=nncf.CompressWeightsMode.INT4_SYM,
            group_size=int(group))
    elif worker.is_decoder(config):
        graph = nncf.compress_weights(graph)
    else:
        graph = quantize_encoder(graph, config["vocab_size"])
    openvino.save_model(graph, path, compress_to_fp16=False)
