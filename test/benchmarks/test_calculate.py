#!/usr/bin/env python3
# benchmarks/gpu/calculate.py reads all that tfc inspect prints of a step.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "..", "..", "benchmarks", "gpu"))
import calculate  # noqa: E402

TFC = os.environ["TFC"]


class Steps(unittest.TestCase):
    def test_all_ops_are_read(self):
        text = subprocess.run(
            [TFC, "inspect", os.path.join(calculate.SPECS, "bert-base.json"),
             "--step", "prefill:2x16", "--machine", "a100"], check=True,
            capture_output=True, text=True).stdout
        ops = calculate.OP.findall(text)
        total = next(line for line in text.splitlines()
                     if line.startswith("total ")).split()
        self.assertGreater(len(ops), 9)
        self.assertEqual(sum(int(made) for _, made, _ in ops), int(total[1]))
        self.assertEqual(sum(int(moved) for _, _, moved in ops), int(total[2]))

    def test_no_step_is_faster_than_its_limit(self):
        limit, made = calculate.calculate(TFC, "bert-base", "bf16", 768,
                                          "prefill:2x16", "l40s")
        self.assertGreater(limit, 0)
        # 110 launches and more.
        self.assertGreater(made, limit + 110 * calculate.LAUNCH * 1e3)
        self.assertLess(made, 10)


if __name__ == "__main__":
    unittest.main()
