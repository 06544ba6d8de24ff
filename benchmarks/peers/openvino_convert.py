# A Hugging Face folder as an OpenVINO model with dynamic batch and length; a
# decoder with its cache inside the model, as OpenVINO's own tools for text
# generation make it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np
import openvino
import torch
from openvino import opset13 as ops
from openvino._offline_transformations import apply_make_stateful_transformation

import onnx_export
import worker


def name_ports(ports, names):
    for port, name in zip(ports, names):
        port.get_tensor().set_names({name})


def convert_encoder(model):
    ids = torch.ones(2, 8, dtype=torch.int64)
    graph = openvino.convert_model(onnx_export.Encoder(model),
                                   example_input=(ids, ids))
    name_ports(graph.inputs, ["ids", "mask"])
    name_ports(graph.outputs, ["hidden", "pooled"])  # one where no pooler is
    return graph


def convert_decoder(config, model):
    """With the reordering of the cache (for beams) that the plug-in looks for
    when it replaces concatenation by a cache in place."""
    inputs, names, outputs = onnx_export.decoder_example(config)
    graph = openvino.convert_model(onnx_export.Decoder(model),
                                   example_input=inputs)
    name_ports(graph.inputs, names)
    name_ports(graph.outputs, outputs)
    heads, width = onnx_export.head_sizes(config)
    beams = ops.parameter([-1], np.int32, name="beams")
    beams.output(0).get_tensor().set_names({"beams"})
    for port in graph.inputs:
        if port.get_any_name().startswith("past."):
            node = port.get_node()
            node.set_partial_shape(openvino.PartialShape(
                [-1, heads, -1, width]))
            users = port.get_target_inputs()
            gather = ops.gather(port, beams, ops.constant(0))
            for user in users:
                user.replace_source_output(gather.output(0))
    graph.add_parameters([beams])
    graph.validate_nodes_and_infer_types()
    apply_make_stateful_transformation(graph, {
        f"past.{i}": f"present.{i}"
        for i in range(2 * config.num_hidden_layers)})
    start_empty(graph)
    return graph


def start_empty(graph):
    """A cache begins with no position, for as many sequences as there are."""
    batch = ops.gather(ops.shape_of(graph.input("ids"), "i64"),
                       ops.constant([0]), ops.constant(0))
    for node in graph.get_ops():
        if node.get_type_name() == "ReadValue":
            sizes = [ops.constant([axis.get_min_length()], dtype=np.int64)
                     for axis in node.get_output_partial_shape(0)]
            shape = ops.concat([batch, *sizes[1:]], 0)
            zero = ops.constant(0.0, dtype=np.float32)
            node.set_arguments([ops.broadcast(zero, shape)])
    graph.validate_nodes_and_infer_types()


def convert(folder, path):
    config, model = onnx_export.load(folder, plain=False)
    with torch.no_grad():
        graph = (convert_decoder(config, model)
                 if worker.is_decoder(worker.read_config(folder))
                 else convert_encoder(model))
    openvino.save_model(graph, path, compress_to_fp16=False)
