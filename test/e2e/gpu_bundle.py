# Checks the report of a bundle: complete, and times consistent with each other.
#   gpu_bundle.py REPORT_JSON
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import math
import sys

with open(sys.argv[1], encoding="utf-8") as stream:
    report = json.load(stream)
assert report["tfc"][0].startswith("tfc "), report["tfc"]
assert report["machine"]["driver"].endswith("libtfc_fakecuda.so")
for step in report["steps"]:
    assert step["device"].startswith("stand-in for a CUDA device"), step
    bench = step["bench"]
    assert step["seconds"] == bench["seconds"]["median"] > 0
    assert step["kernel_seconds"] == bench["device_seconds"]["median"] > 0
    copied = bench["bytes"] / bench["read_limit"]["median"]
    assert math.isclose(step["copy_share"], copied / step["kernel_seconds"])
    assert all(op["calls"] > 0 and op["seconds"] >= 0 for op in bench["ops"])
    assert any("layers_attn" in op["op"] for op in bench["ops"])
assert [step["workload"] for step in report["steps"]] == [
    "prefill:1x9", "decode:2x5"]
