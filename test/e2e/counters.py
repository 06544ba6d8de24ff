# What the kernels of some models ask of a GPU's memory in a step, counted by the
# stand-in, against the table beside this file: no kernel that it names, and no
# step as a whole, may have more launches, sectors of memory, bytes or passes of
# shared memory; of published models, launches alone. Needs tfc and tfc-bench on
# the PATH.
#   counters.py LIBTFC_FAKECUDA            checks
#   counters.py LIBTFC_FAKECUDA --write    writes what is counted into the table
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "counters.json")
SPECS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples",
                     "specs")
# Widths that kernels for whole registers and fragments take.
SIZES = {"hidden": 64, "heads": 2, "width": 256}
STACKS = {"bert": "encoder", "gpt2": "decoder"}
# Model, options of tfc compile, workload of tfc-bench: one step.
CASES = [("bert", ["--opt=none"], "encode:2x16"),
         ("bert", ["--opt=full"], "encode:2x64"),
         ("bert", ["--opt=full", "--dtype=bf16"], "encode:2x16"),
         ("gpt2", ["--opt=full", "--dtype=bf16"], "prefill:2x16"),
         ("gpt2", ["--opt=full", "--dtype=bf16"], "decode:3x16")]
# Published model, dtype, step of tfc inspect: how often its host code launches.
LAUNCHES = [("bert-base", "f32", "prefill:1x128"),
            ("gpt2", "bf16", "decode:1x512"),
            ("llama-7b", "bf16", "decode:8x512"),
            ("t5-small", "f32", "prefill:1x64")]
COLUMNS = ("launches", "blocks", "requests", "sectors", "ideal_sectors",
           "memory_bytes", "wave_bytes", "shared_requests", "shared_passes", "ideal_passes",
           "tensor_operations")
# Of these, less is better.
LIMITED = ("launches", "sectors", "memory_bytes", "wave_bytes",
           "shared_passes")
TOTAL = "all"
# What the host gets: a row of its own.
DOWN = "copies to the host"
LINE = re.compile(r"^launches of entry (\w+), program sm_80: (\d+) of", re.M)


def make_spec(model):
    with open(os.path.join(SPECS, f"tiny-{model}.json"),
              encoding="utf-8") as stream:
        spec = json.load(stream)
    block = spec[STACKS[model]]["layers"]["block"]
    spec["dims"]["hidden"] = SIZES["hidden"]
    block["attn"]["num_heads"] = SIZES["heads"]
    block["ffn"]["width"] = SIZES["width"]
    with open(f"{model}.json", "w", encoding="utf-8") as stream:
        json.dump(spec, stream)


def count(fakecuda, model, options, workload):
    """{kernel: [COLUMNS]} of one step, and their sum."""
    make_spec(model)
    subprocess.run(["tfc", "compile", f"{model}.json", "-o", "counted.so",
                    "--target=cuda", *options], check=True, timeout=300,
                   stderr=subprocess.PIPE)
    # Without warming up: the first run is the only one.
    subprocess.run(
        ["tfc-bench", "counted.so", "--random", "--program", "cuda",
         "--workload", workload, "--warmup", "0", "--repeats", "1"],
        check=True, timeout=300, stdout=subprocess.PIPE,
        env={**os.environ, "TFC_CUDA_DRIVER": fakecuda,
             "TFC_FAKECUDA": "races=0,counters=counted.json"})
    with open("counted.json", encoding="utf-8") as stream:
        counted = json.load(stream)
    copies = counted.pop("copies")
    kernels = {}
    for name, counts in counted.items():
        # Without the number, which is another one when a kernel is added.
        name = re.sub(r"^([a-z]+)_\d+", r"\1", name)
        before = kernels.get(name, [0] * len(COLUMNS))
        kernels[name] = [a + counts[column]
                         for a, column in zip(before, COLUMNS)]
    kernels[TOTAL] = [sum(column) for column in zip(*kernels.values())]
    kernels[DOWN] = [copies["down"] if column == "memory_bytes" else 0
                     for column in COLUMNS]
    return kernels


def count_launches(model, dtype, step):
    """{entry: [launches]}."""
    spec = os.path.join(SPECS, "published", f"{model}.json")
    said = subprocess.run(
        ["tfc", "inspect", spec, "--machine", "a100", "--dtype", dtype,
         "--step", step], check=True, timeout=300, stdout=subprocess.PIPE,
        text=True).stdout
    entries = {entry: [int(count)] for entry, count in LINE.findall(said)}
    return {**entries, TOTAL: [sum(count for count, in entries.values())]}


def compare(key, counted, allowed):
    if TOTAL not in allowed:
        yield f"{key}: expected it in {os.path.basename(TABLE)}, got nothing"
    for name, counts in counted.items():
        most = dict(zip(COLUMNS, allowed.get(name, counts)))
        for column, got in zip(COLUMNS, counts):
            if column in LIMITED and got > most[column]:
                yield (f"{key}: {name}: expected at most {most[column]} for "
                       f"{column}, got {got}")


def write(table):
    """A kernel a line."""
    with open(TABLE, "w", encoding="utf-8") as stream:
        stream.write("{\n" + ",\n".join(
            f' "{key}": {{\n' + ",\n".join(
                f'  "{name}": {json.dumps(counts)}'
                for name, counts in sorted(kernels.items())) + "\n }"
            for key, kernels in sorted(table.items())) + "\n}\n")


def main():
    # The library and its spec are left in the working directory.
    fakecuda = os.path.abspath(sys.argv[1])
    counted = {}
    for model, options, workload in CASES:
        key = " ".join([model, *options, workload])
        counted[key] = count(fakecuda, model, options, workload)
    for model, dtype, step in LAUNCHES:
        key = f"{model} --dtype={dtype} {step}"
        counted[key] = count_launches(model, dtype, step)
    if "--write" in sys.argv:
        write(counted)
        return 0
    with open(TABLE, encoding="utf-8") as stream:
        table = json.load(stream)
    faults = [fault for key, kernels in counted.items()
              for fault in compare(key, kernels, table.get(key, {}))]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
