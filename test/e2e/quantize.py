#!/usr/bin/env python3
# Folders that `tfc quantize` writes of golden models: by their bytes, by the
# mathematics of what was moved, and by what tfc makes of them.
#   quantize.py TFC TFC_RUN GOLDEN
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import math
import os
import shutil
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
import tensors  # noqa: E402
from tool import Failure, Tool  # noqa: E402

tensors.CODES.setdefault("I8", "b")
KEYS = {"config_groups", "format", "global_compression_ratio", "ignore",
        "kv_cache_scheme", "quant_method", "quantization_status"}
ARGUMENTS = {"actorder", "block_structure", "dynamic", "group_size",
             "num_bits", "observer", "observer_kwargs", "strategy",
             "symmetric", "type"}


def check(condition, text):
    if not condition:
        raise Failure(text)


def floats_of(tensor):
    """A tensor's elements as floats."""
    if tensor.dtype == "BF16":
        words = struct.pack(f"<{len(tensor.data)}I",
                            *(word << 16 for word in tensor.data))
        return list(struct.unpack(f"<{len(tensor.data)}f", words))
    return list(tensor.data)


def read_folder(folder):
    return tensors.read(os.path.join(folder, "model.safetensors"))


def quantised(stored):
    return [name for name, tensor in stored.items() if tensor.dtype == "I8"]


def scales_of(stored, name):
    return floats_of(stored[name + "_scale"])


def check_config(folder, source):
    with open(os.path.join(folder, "config.json")) as stream:
        config = json.load(stream)
    with open(os.path.join(source, "config.json")) as stream:
        check({key: value for key, value in config.items()
               if key != "quantization_config"} == json.load(stream),
              "config.json: expected the source's keys")
    own = config["quantization_config"]
    check(set(own) == KEYS, f"quantization_config: {sorted(own)}")
    group = own["config_groups"]["group_0"]
    check(set(group) == {"input_activations", "output_activations", "targets",
                         "weights"}, f"group_0: {sorted(group)}")
    for part in ("weights", "input_activations"):
        check(set(group[part]) == ARGUMENTS, f"{part}: {sorted(group[part])}")
    return own["ignore"]


def check_tensors(folder, source):
    """Names, types, and that every row has a 127."""
    stored, plain = read_folder(folder), read_folder(source)
    ignore = check_config(folder, source)
    names = quantised(stored)
    check(names, "expected tensors of I8, got none")
    expected = set(plain) | {name + "_scale" for name in names}
    check(set(stored) == expected,
          f"tensors: {sorted(set(stored) ^ expected)}")
    for name, tensor in stored.items():
        own = plain.get(name)
        if tensor.dtype == "I8":
            check(tensor.shape == own.shape, name)
            check(stored[name + "_scale"].shape == [own.shape[0], 1], name)
            check(all(max(map(abs, row)) == 127 for row in tensor.rows()),
                  f"{name}: expected a 127 in every row")
            check(name.removesuffix(".weight") not in ignore, name)
        elif own and own.dtype == "F32" and len(own.shape) == 2:
            check(tensor.dtype == "BF16", f"{name}: {tensor.dtype}")
    return stored, plain


def exponent(ratio, where):
    """Of a power of two."""
    mantissa, power = math.frexp(ratio)
    check(mantissa == 0.5, f"{where}: expected a power of two, got {ratio}")
    return power - 1


def check_product(stored, plain, name, columns, rows):
    """Integers are what is left of the matrix, its columns times 2^columns and
    its rows divided by 2^rows, to half a step, or where they are cut off."""
    matrix, scales = stored[name], scales_of(stored, name)
    for row, (integers, exact, scale) in enumerate(
            zip(matrix.rows(), plain[name].rows(), scales)):
        for column, (integer, value) in enumerate(zip(integers, exact)):
            wanted = math.ldexp(value, columns[column] - rows[row]) / scale
            check(abs(wanted - integer) <= 0.5001 or
                  abs(integer) == 127 and wanted * integer > 127 * 126.4,
                  f"{name}[{row}, {column}]: {integer} of {wanted}")


def rows_of(stored, plain, name, columns):
    """By which power of two each row was divided."""
    found = []
    for integers, exact, scale in zip(
            stored[name].rows(), plain[name].rows(), scales_of(stored, name)):
        left = sum(abs(integer) for integer in integers) * scale
        was = sum(abs(math.ldexp(value, columns[column]))
                  for column, value in enumerate(exact))
        found.append(round(math.log2(was / left)))
    return found


def columns_of(stored, plain, name):
    """By which power of two each column was multiplied."""
    width = plain[name].shape[1]
    now, was = [0.0] * width, [0.0] * width
    for integers, exact, scale in zip(
            stored[name].rows(), plain[name].rows(), scales_of(stored, name)):
        for column in range(width):
            now[column] += abs(integers[column]) * scale
            was[column] += abs(exact[column])
    return [round(math.log2(one / two)) for one, two in zip(now, was)]


def check_moved(stored, plain, config):
    """The mathematics of a LLaMA's folds."""
    heads = config["num_attention_heads"]
    group = heads // config["num_key_value_heads"]
    size = config.get("head_dim") or config["hidden_size"] // heads
    moved = set()
    for layer in range(config["num_hidden_layers"]):
        stem = f"model.layers.{layer}."

        def norm(name):
            pairs = zip(stored[stem + name].data, plain[stem + name].data)
            powers = [-exponent(now / was, name) for now, was in pairs]
            moved.update(power != 0 for power in powers)
            return powers

        def weight(part):
            return stem + part + "_proj.weight"

        columns = norm("input_layernorm.weight")
        values = rows_of(stored, plain, weight("self_attn.v"), columns)
        none = [0] * plain[weight("self_attn.q")].shape[0]
        for part, rows in (("q", none), ("k", none), ("v", values)):
            check_product(stored, plain, weight("self_attn." + part), columns,
                          rows)
        # Heads of a group read the same values.
        made = [values[head // group * size + d] for head in range(heads)
                for d in range(size)]
        check(columns_of(stored, plain, weight("self_attn.o")) == made,
              f"layer {layer}: o's columns are not v's rows")
        check_product(stored, plain, weight("self_attn.o"), made,
                      [0] * config["hidden_size"])
        columns = norm("post_attention_layernorm.weight")
        inner = rows_of(stored, plain, weight("mlp.up"), columns)
        for part, rows in (("gate", [0] * len(inner)), ("up", inner)):
            check_product(stored, plain, weight("mlp." + part), columns, rows)
        check_product(stored, plain, weight("mlp.down"), inner,
                      [0] * config["hidden_size"])
        moved.update(power != 0 for power in values + inner)
    check(True in moved, "expected something that moved, got nothing")


def snr(expected, got):
    signal = sum(value * value for value in expected.data)
    noise = sum((one - two) ** 2 for one, two in zip(expected.data, got.data))
    return 10 * math.log10(signal / noise)


def distance(tool, folder, source, name, output):
    """Of what tfc makes of the folder, from f32."""
    inputs = tensors.read(os.path.join(source, "inputs-ragged.safetensors"))

    def outputs(of, name, *options):
        spec, library = tool.path(name + ".json"), tool.path(name + ".so")
        tool.import_model(of, spec)
        tool.compile(spec, library, *options)
        return tool.run(library, of, inputs)[output]

    return snr(outputs(source, name + "-f32"),
               outputs(folder, name, "--dtype", "int8"))


def report_of(folder):
    with open(os.path.join(folder, "tfc-quantize.json")) as stream:
        return json.load(stream)


def quantize(tool, source, folder, *options):
    return tool.call(tool.tfc, "quantize", source, "--dtype", "int8", "-o",
                     folder, *options).stdout


def check_read(tool, folder, source, name, output):
    """Within 4 dB of what tfc quantize said of other inputs."""
    said = report_of(folder)["model"]["snr_db"]
    own = distance(tool, folder, source, name, output)
    check(abs(own - said) < 4, f"{name}: judged {said} dB, read back {own}")
    return own


def run_bert(tool, golden):
    source, folder = os.path.join(golden, "bert-model"), tool.path("bert")
    printed = quantize(tool, source, folder)
    check("drawn at random (no --calibrate)" in printed, printed)
    check_tensors(folder, source)
    print("bert-model: integers with scales, everything else in 16 bits")
    plain = check_read(tool, folder, source, "bert", "last_hidden_state")
    print("bert-model: the folder is read back as it was judged")
    wanted = report_of(folder)["model"]["snr_db"] + 3
    nearer = tool.path("nearer")
    quantize(tool, source, nearer, "--min-snr", str(wanted))
    stored, _ = check_tensors(nearer, source)
    report = report_of(nearer)
    check(report["model"]["snr_db"] >= wanted and report["kept"], report)
    kept = [matrix["tensor"] for matrix in report["matrices"]
            if not matrix["int8"]]
    check(kept and all(stored[name].dtype == "BF16" for name in kept), kept)
    check(set(name.removesuffix(".weight") for name in kept)
          <= set(check_config(nearer, source)), kept)
    own = distance(tool, nearer, source, "nearer", "last_hidden_state")
    check(own > plain + 1, f"{own} dB with {report['kept']} in 16 bits, "
          f"{plain} without")
    print("bert-model: what is kept in 16 bits is nearer")


def write_outliers(source, folder):
    """The model with columns that are much greater than the others."""
    shutil.copytree(source, folder)
    stored = read_folder(source)
    for name, tensor in stored.items():
        width = len(tensor.data) // tensor.shape[0]
        if name.endswith(("layernorm.weight", "v_proj.weight",
                          "up_proj.weight")):
            for row in range(3, tensor.shape[0], 11):
                for at in range(row * width, (row + 1) * width):
                    tensor.data[at] *= 13
    tensors.write(os.path.join(folder, "model.safetensors"), stored)


def run_llama(tool, golden):
    source, folder = tool.path("outliers"), tool.path("llama")
    write_outliers(os.path.join(golden, "llama-lm"), source)
    printed = quantize(tool, source, folder)
    check("that the model generated (no --calibrate)" in printed, printed)
    stored, plain = check_tensors(folder, source)
    check("lm_head.weight" not in quantised(stored), "a head of integers")
    print("llama-lm: integers with scales, everything else in 16 bits")
    with open(os.path.join(folder, "config.json")) as stream:
        check_moved(stored, plain, json.load(stream))
    print("llama-lm: factors of columns moved, by powers of two")
    check_read(tool, folder, source, "llama", "logits")
    print("llama-lm: the folder is read back as it was judged")
    again = tool.path("again")
    quantize(tool, source, again)
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as one, \
                open(os.path.join(again, name), "rb") as two:
            check(one.read() == two.read(), f"{name}: other bytes")
    check(sorted(os.listdir(again)) == sorted(os.listdir(folder)), again)
    print("llama-lm: a second run writes the same bytes")


def main():
    tfc, tfc_run, golden = sys.argv[1:]
    tool = Tool(shutil.which(tfc), shutil.which(tfc_run), os.getcwd(),
                ["--target", "cpu"])
    try:
        run_bert(tool, golden)
        run_llama(tool, golden)
    except Failure as failure:
        print(failure)
        return 1
    return 0


sys.exit(main())
