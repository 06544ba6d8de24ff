# Checks what tfc-bench prints: complete, consistent with itself, and with names
# of ops. Times only have to be there.
#   check_bench.py LIBRARY WEIGHTS INPUTS REFERENCE
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import csv
import io
import json
import math
import subprocess
import sys

STEPS, GENERATE = ["prefill:3,9", "decode:2x7"], "generate:2x5+3"
LATENCIES = ["time_to_first_token", "time_per_output_token",
             "inter_token_latency"]


def bench(library, *arguments):
    command = ["tfc-bench", library, "--threads", "2", "--warmup", "1",
               "--repeats", "4", *arguments]
    for workload in [*STEPS, GENERATE]:
        command += ["--workload", workload]
    return subprocess.run(command, capture_output=True, text=True, check=True,
                          timeout=300).stdout


def check_samples(samples, count):
    assert samples["count"] == count, samples
    order = [samples[key] for key in
             ("min", "median", "p90", "p95", "p99", "max")]
    assert order == sorted(order) and order[0] > 0, samples


def check_json(report, trace):
    assert report["load_seconds"] > 0 and report["threads"] == 2
    assert report["weight_bytes"] <= report["peak_bytes"]
    assert [w["workload"] for w in report["workloads"]] == [*STEPS, GENERATE]
    assert [w["tokens"] for w in report["workloads"]] == [12, 2, 6]
    for workload in report["workloads"]:
        check_samples(workload["seconds"], 4)
        assert workload["sequences"] == 2 and workload["first_seconds"] > 0
        assert workload["cache_bytes"] > 0 and workload["workspace_bytes"] > 0
        for key, amount in [("tokens_per_second", workload["tokens"]),
                            ("requests_per_second", 2)]:
            expected = amount / workload["seconds"]["median"]
            assert math.isclose(workload[key], expected, rel_tol=1e-9), key
        assert workload["roofline_share"] > 0 and workload["flops_share"] > 0
    *steps, generate = report["workloads"]
    for key, count in zip(LATENCIES, [4, 4, 4 * 2]):
        check_samples(generate[key], count)
        assert generate[key]["max"] <= generate["seconds"]["max"]
        assert not any(key in step for step in steps)
    for step in steps:
        check_ops(step)
    assert "ops" not in generate
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    names = {op["op"] for step in steps for op in step["ops"]}
    assert events and {e["name"] for e in events} <= names


def check_ops(step):
    ops = {op["op"]: op for op in step["ops"]}
    assert len(ops) == len(step["ops"])
    assert not any(name.startswith("+0x") for name in ops), list(ops)
    for name in ("decoder.layers.attn", "decoder.layers.attn.o",
                 "heads.lm.proj"):
        # Ops whose loops are alike share a row.
        rows = [op for op in ops.values()
                if name in op["op"].split("+") and op.get("flops", 0) > 0]
        assert rows, name
        for op in rows:
            assert op["calls"] > 0 and op["seconds"] > 0, name
            assert op["roofline_share"] > 0, name
    # Every operation of the step belongs to an op.
    flops = sum(op.get("flops", 0) for op in ops.values())
    assert math.isclose(flops, step["flops"], rel_tol=1e-9)


def main():
    library, weights, inputs, reference = sys.argv[1:]
    given = ["--weights", weights, "--inputs", inputs, "--reference", reference]
    text = bench(library, *given, "--format", "json", "--ops",
                 "--trace", "trace.json")
    report = json.loads(text)
    with open("trace.json") as file:
        check_json(report, json.load(file))
    [logits] = report["agreement"]
    assert logits["output"] == "logits" and logits["max_error"] < 1e-4
    assert logits["rows"] == logits["equal_rows"] > 0
    assert logits["snr_db"] > 80 and 0 <= logits["mean_kl"] < 1e-6
    assert logits["mean_kl"] <= logits["p99_kl"] < 1e-6
    assert (report["weights"], report["cache"]) == ("f32", "f32")
    assert report["execution"] in ("native", "emulated")

    rows = list(csv.DictReader(io.StringIO(bench(library, *given,
                                                 "--format=csv"))))
    assert [row["workload"] for row in rows] == [*STEPS, GENERATE]
    for row in rows:
        assert None not in row and None not in row.values(), row
        assert float(row["seconds_median"]) > 0
        assert float(row["reference_equal_share"]) == 1
        assert float(row["reference_snr_db"]) > 80
        assert float(row["reference_p99_kl"]) < 1e-6
        assert (row["cache"], row["execution"]) == (
            report["cache"], report["execution"])
        for key in LATENCIES:
            given_one = row[key + "_median"] != ""
            assert given_one == (row["workload"] == GENERATE), row

    table = bench(library, *given, "--ops")
    for part in ["agreement of logits: differs by ", GENERATE + " ",
                 "between two tokens", "decoder.layers.attn.o ", "p99 ms"]:
        assert part in table, table


if __name__ == "__main__":
    main()
