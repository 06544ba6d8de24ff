#!/usr/bin/env python3
# Merging, agreement, ratios and tables of benchmarks/, and turns, on numbers
# made up here.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import csv
import math
import os
import sys
import tempfile
import unittest
import xml.dom.minidom
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "benchmarks"))

import pieces  # noqa: E402
import report  # noqa: E402
import turns  # noqa: E402

CPU = "Intel(R) Xeon(R) Processor (family 6, model 207)"


def piece(workload="decode:1x128", threads=1, **changes):
    """tfc takes 10 ms, Fast 12, Slow 20; Loose is fastest and wrong; Absent
    does not run."""
    made = {
        "model": "gpt2", "workload": workload, "threads": threads, "cpu": CPU,
        "commit": "abc", "date": "2026-01-02",
        "compile": {"options": ["--opt=full"], "seconds": 1.5, "bytes": 90000},
        "seconds": {"tfc": [0.010, 0.010, 0.020], "Fast": [0.012, 0.012, 0.024],
                    "Slow": [0.020, 0.020, 0.020],
                    "Loose": [0.005, 0.005, 0.005], "Absent": []},
        "cores": {"tfc": [1.0, 1.0, 1.0], "Slow": [1.9, 1.9, 1.9],
                  "Absent": []},
        "others": {"tfc": [0.0, 0.0, 0.05], "Slow": [0.0, 0.0, 0.0],
                   "Fast": [0.4, 0.0, 0.4]},
        "differences": {"tfc": 1e-6, "Fast": 2e-6, "Slow": 0.0, "Loose": 1e-3},
        "qualities": {"tfc": 118.4, "Fast": 60.0, "Slow": math.inf},
        "versions": {"tfc": "tfc 0", "Fast": "fast 1", "Absent": None},
        "faults": {"Absent": "unsupported: prompts of different lengths"},
        "bench": {"flops": 1e9, "bytes": 2e8, "tokens": 1,
                  "seconds": [0.009], "flops_limit": [1e11],
                  "read_limit": [2e10], "flops_share": [0.3],
                  "read_share": [0.9], "cache_bytes": 4096,
                  "program": "x86-64-v4", "execution": "native",
                  "weights": "bf16", "cache": "f32", "weight_bytes": 2e6}}
    made.update(changes)
    return made


class DifferenceTest(unittest.TestCase):
    def test_small_values_count_absolutely(self):
        self.assertAlmostEqual(pieces.difference([0.1, 0.2], [0.1, 0.3]), 0.1)

    def test_large_values_count_relatively(self):
        self.assertAlmostEqual(pieces.difference([-10.0, 7.0], [-10.0, 8.0]),
                               0.1)

    def test_incomparable(self):
        self.assertEqual(pieces.difference([1.0], [1.0, 2.0]), math.inf)
        self.assertEqual(pieces.difference([math.nan], [1.0]), math.inf)

    def test_signal_to_noise(self):
        self.assertAlmostEqual(
            pieces.signal_to_noise([3.0, 4.5], [3.0, 4.0]), 20)
        self.assertEqual(pieces.signal_to_noise([1.0], [1.0]), math.inf)
        for values in ([1.0, 2.0], [math.nan]):
            self.assertEqual(pieces.signal_to_noise(values, [1.0]), -math.inf)
        self.assertEqual(pieces.signal_to_noise([1.0], [0.0]), -math.inf)

    def test_16_bits_agree_by_their_quality(self):
        made = piece(dtype="bf16", qualities={"tfc": 60.0, "Fast": 56.9,
                                              "Slow": 57.1, "Loose": 90.0})
        self.assertEqual([pieces.agrees(made, name) for name in
                          ("tfc", "Fast", "Slow", "Loose", "Absent")],
                         [True, False, True, True, False])
        self.assertEqual(pieces.best_peer(made)[0], "Loose")
        self.assertEqual(pieces.name_of("gpt2", "f32"), "gpt2")
        self.assertEqual(pieces.name_of("gpt2", "bf16"), "gpt2-bf16")
        made.update(dtype="int8")
        self.assertEqual(pieces.best_peer(made)[0], "Loose")
        self.assertIn("| 12.0 ±3.0 \\* (57 dB) |", report.describe([made]))

    def test_no_values_do_not_agree(self):
        self.assertFalse(pieces.agrees(piece(), "Absent"))


class MergeTest(unittest.TestCase):
    def test_order(self):
        texts = ["decode:16x128", "decode:1x1024", "decode:1x128",
                 "prefill:1x512"]
        merged = pieces.merge([piece(t, n) for t in texts for n in (2, 1)])
        self.assertEqual(
            [(p["workload"], p["threads"]) for p in merged],
            [(t, n) for n in (1, 2) for t in
             ("prefill:1x512", "decode:1x128", "decode:16x128",
              "decode:1x1024")])

    def test_ragged_comes_last(self):
        texts = ["encode:1x384", "encode:12,128", "encode:1x128"]
        self.assertEqual(
            [p["workload"] for p in pieces.merge([piece(t) for t in texts])],
            ["encode:1x128", "encode:1x384", "encode:12,128"])

    def test_of_two_commits(self):
        with self.assertRaisesRegex(ValueError, "one commit, got abc and def"):
            pieces.merge([piece(), piece(threads=2, commit="def")])

    def test_none(self):
        with self.assertRaisesRegex(ValueError, "got none"):
            pieces.merge([])

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            pieces.write_piece(piece(date="2026-01-01"), folder)
            pieces.write_piece(piece(threads=2), folder)
            pieces.write_piece(piece(), folder)
            found = pieces.read_pieces(folder)
        self.assertEqual(len(found), 2)
        self.assertEqual({p["date"] for p in found}, {"2026-01-02"})


class RatioTest(unittest.TestCase):
    def test_within_rounds(self):
        best, ratio = pieces.best_peer(piece())
        self.assertEqual(best, "Fast")
        self.assertAlmostEqual(ratio, 1.2)

    def test_disturbed_rounds_do_not_count(self):
        made = piece(seconds={"tfc": [0.010, 0.010, 0.010, 0.090],
                              "Fast": [0.012, 0.012, 0.013, 0.012]},
                     others={"tfc": [0.0, 0.0, 0.0, 0.9],
                             "Fast": [0.0, 0.0, 0.0, 0.0]})
        self.assertAlmostEqual(pieces.best_peer(made)[1], 1.2)
        self.assertEqual(list(pieces.seconds_of(made, "tfc")), [0, 1, 2])

    def test_too_few_quiet_rounds(self):
        self.assertEqual(len(pieces.seconds_of(piece(), "Fast")), 3)

    def test_no_round_in_common(self):
        made = piece(seconds={"tfc": [0.010] * 3 + [0.09] * 3,
                              "Fast": [0.09] * 3 + [0.012] * 3},
                     others={"tfc": [0.0] * 3 + [0.9] * 3,
                             "Fast": [0.9] * 3 + [0.0] * 3})
        self.assertAlmostEqual(pieces.best_peer(made)[1], 1.2)

    def test_nobody_else(self):
        alone = piece(seconds={"tfc": [0.01]})
        self.assertEqual(pieces.best_peer(alone), (None, None))

    def test_limit(self):
        self.assertEqual(pieces.limit_share(piece()), (0.9, "read"))

    def test_quartiles(self):
        self.assertEqual(pieces.quartile_range([7.0]), 0)
        self.assertAlmostEqual(pieces.quartile_range([1, 2, 3, 4, 5]), 1)


class ResultTest(unittest.TestCase):
    def setUp(self):
        self.pieces = pieces.merge([piece(threads=2), piece()])
        self.text = report.describe(self.pieces)

    def test_row(self):
        self.assertIn("| decode:1x128 | bf16, cache f32 | 10.0 ±2.5 | 12.0 ±3.0 | 20.0 ±0.0 | "
                      "5.0 ±0.0 \\* | unsupported | **1.20** (Fast) | "
                      "90 % read | 118 dB |", self.text)
        self.assertIn("; program x86-64-v4, native, packed weights 2.0 MB\n",
                      self.text)

    def test_many_lengths_are_told_by_their_number(self):
        self.assertEqual(report.label("encode:1x16"), "encode:1x16")
        eight = "encode:12,24,40,57,73,90,111,128"
        self.assertEqual(report.label(eight), eight)
        self.assertEqual(report.label("encode:9,1,2,3,4,5,6,7,8"),
                         "encode: 9 of 1 to 9")

    def test_what_it_is_kept_in(self):
        def text(**changes):
            made = piece()
            made["bench"].update(changes)
            return report.kept_in(made)

        self.assertEqual(text(cache="bf16"), "bf16")
        self.assertEqual(text(cache=""), "bf16")
        self.assertEqual(text(execution="emulated"),
                         "bf16, cache f32 (emulated)")

    def test_groups(self):
        self.assertIn("## gpt2, 1 thread\n", self.text)
        self.assertIn("## gpt2, 2 threads\n", self.text)

    def test_notes(self):
        self.assertIn("- Absent, gpt2 decode:1x128: unsupported: prompts of "
                      "different lengths", self.text)
        self.assertIn("- Loose, gpt2: differs from PyTorch in f32 by 1.0e-03",
                      self.text)
        self.assertIn("- Slow, gpt2 decode:1x128: used 1.90 CPUs, has 1 "
                      "threads", self.text)
        self.assertNotIn("has 2 threads", self.text)
        self.assertIn("- gpt2 decode:1x128, 1T: other processes used up to "
                      "0.4 CPUs during the turns of Fast\n", self.text)

    def test_csv(self):
        rows = list(csv.DictReader(report.data(self.pieces).splitlines()))
        self.assertEqual(len(rows), 2 * 6)
        fast = [r for r in rows if r["peer"] == "Fast" and r["threads"] == "1"]
        self.assertEqual(float(fast[0]["seconds_median"]), 0.012)
        self.assertEqual(fast[0]["rounds"], "3")
        self.assertEqual(fast[0]["snr_db"], "60.0")
        self.assertEqual(fast[0]["tfc_weights"], "bf16")
        self.assertEqual(fast[0]["tfc_execution"], "native")
        self.assertEqual(fast[0]["tfc_cache_bytes"], "4096")

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            stem = report.write(self.pieces, folder)
            self.assertEqual(os.path.basename(stem),
                             "2026-01-02-intel-xeon-6-207")
            xml.dom.minidom.parse(stem + ".svg")
            self.assertTrue(os.path.exists(stem + ".csv"))


class TurnTest(unittest.TestCase):
    """A turn takes 1 s by the clock and on the CPU; others use what a test
    says."""

    def take(self, foreign, answers):
        one = mock.Mock(fault=None)
        one.take_turn.side_effect = answers
        count = 2 * turns.MOST_TRIES
        one.cpu_seconds.side_effect = list(range(count))
        busy = [float(i) + (foreign[i // 2] if i % 2 else 0)
                for i in range(2 * len(foreign))]
        with mock.patch.object(turns, "busy_seconds", side_effect=busy), \
                mock.patch.object(turns.time, "perf_counter",
                                  side_effect=range(count)), \
                mock.patch.object(turns.time, "sleep"):
            return turns.take_turn(one, {})

    def test_alone(self):
        answer, others = self.take([0.0], [{"seconds": [1.0]}])
        self.assertEqual((answer, others), ({"seconds": [1.0]}, 0.0))

    def test_disturbed_turn_is_taken_again(self):
        answer, others = self.take([0.5, 0.05], [{"seconds": [9.0]},
                                                 {"seconds": [1.0]}])
        self.assertEqual(answer, {"seconds": [1.0]})
        self.assertAlmostEqual(others, 0.05)

    def test_always_disturbed(self):
        tries = turns.MOST_TRIES
        _, others = self.take([0.5] * tries, [{"seconds": [1.0]}] * tries)
        self.assertAlmostEqual(others, 0.5)

    def test_failed(self):
        self.assertEqual(self.take([0.0], [{}]), ({}, 0.0))


class CpusTest(unittest.TestCase):
    def test_too_many(self):
        with mock.patch.object(os, "sched_getaffinity", lambda _: {0, 1}):
            with self.assertRaisesRegex(ValueError, "at most 2 threads"):
                turns.choose_cpus(3)

    def test_all(self):
        allowed = {10 ** 6, 10 ** 6 + 1}
        with mock.patch.object(os, "sched_getaffinity", lambda _: allowed):
            self.assertEqual(turns.choose_cpus(2), allowed)


if __name__ == "__main__":
    unittest.main()
