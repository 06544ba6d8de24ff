# Receipts: an answer that is computed again, alone, is the same one.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import contextlib
import copy
import io
import json
import os
import tempfile
import unittest
from unittest import mock

import shared
from serving import Served
from tfcompiler import __main__ as program

try:
    import llguidance  # noqa: F401
    HAS_GRAMMARS = True
except ImportError:
    HAS_GRAMMARS = False

STORIES = os.path.join(shared.MODELS, "stories-tiny")
PROMPT = "Once upon a time"


def replay(receipt, model=STORIES):
    """The exit status and the lines of tfc replay."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as stream:
        stream.write(receipt if isinstance(receipt, str)
                     else json.dumps(receipt))
        stream.flush()
        out, errors = io.StringIO(), io.StringIO()
        with mock.patch("sys.argv", ["tfc", "replay", stream.name, "--model",
                                     model, "--target", "cpu"]), \
                contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(errors):
            status = program.main()
        return status, out.getvalue() + errors.getvalue()


class Receipts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shared.stories(), shared.dates()
        cls.server = Served(STORIES, os.path.join(shared.MODELS, "dates-iso")
                            ).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        assert cls.server.status == 0, cls.server.status

    def ask(self, **body):
        return self.server.ask("/v1/completions", receipt=True,
                               **{"prompt": PROMPT, "max_tokens": 30, **body})

    def test_are_those_of_the_answer_computed_again(self):
        alone = shared.stories().generate(PROMPT, max_new_tokens=60)
        bodies = [
            {}, {"temperature": 1.3, "n": 3, "top_p": 0.9, "min_p": 0.01},
            {"prompt": [PROMPT, "One night"], "temperature": 1, "n": 2},
            {"logit_bias": {"40": -100, "41": 2.5}, "ignore_eos": True,
             "repetition_penalty": 1.2, "presence_penalty": 0.5},
            {"stop": [alone[9:13]], "max_tokens": 60},
            {"stop": [alone[9:13]], "max_tokens": 60,
             "include_stop_str_in_output": True},
            {"num_beams": 3, "n": 2, "max_tokens": 9, "length_penalty": 0.3,
             "early_stopping": "never"},
            {"use_beam_search": True, "n": 2, "max_tokens": 9,
             "temperature": 1}]
        if HAS_GRAMMARS:
            bodies.append({"guided_regex": "[a-f]{3}-[0-9]{2,4}", "n": 2,
                           "temperature": 1})
        for body in bodies:
            made = self.ask(**body)
            self.assertEqual(len(made["receipt"]["outputs"]),
                             len(made["choices"]))
            status, lines = replay(made["receipt"])
            self.assertEqual((status, lines.count("\n")), (0, 1), lines)
            self.assertIn(f"equal: {len(made['choices'])} answers", lines)
        made = self.server.ask("/v1/completions", model="dates-iso",
                               prompt="3 May 1999", receipt=True)
        self.assertEqual(replay(made, os.path.join(
            shared.MODELS, "dates-iso"))[0], 0)

    def test_come_with_streams_too(self):
        made = self.ask()
        chunks, _ = self.server.stream("/v1/completions", prompt=PROMPT,
                                       max_tokens=30, receipt=True,
                                       timings=True)
        for name in ("environment", "outputs", "questions"):
            again, told = (copy.deepcopy(each["receipt"][name])
                           for each in (chunks[-1], made))
            if name == "questions":  # which were drawn for each
                again[0]["decoding"]["seed"] = told[0]["decoding"]["seed"] = 0
            self.assertEqual(again, told)
        self.assertEqual(chunks[-1]["choices"], [])
        timings = chunks[-1]["timings"]
        self.assertLessEqual(timings["first_token_ms"], timings["total_ms"])
        self.assertNotIn("timings", made)

    def test_name_what_differs(self):
        good = self.ask(temperature=1, n=2)["receipt"]

        def changed(at, value):
            made = copy.deepcopy(good)
            inner = made
            for key in at[:-1]:
                inner = inner[key]
            inner[at[-1]] = value
            return made
        tokens = good["outputs"][1]["tokens"]
        for receipt, status, part in (
                (changed(["outputs", 1, "tokens", 4], 258), 1,
                 f"answer 1: token 4: expected 258, got {tokens[4]}"),
                (changed(["outputs", 1, "tokens"], tokens[:-1]), 1,
                 "answer 1: expected 29 tokens, got 30"),
                (changed(["outputs", 0, "text"], "0"), 1, "answer 0: text"),
                (changed(["outputs", 0, "finish"], "stop"), 1, "finish"),
                (changed(["outputs"], []), 1, "expected 0 answers, got 2"),
                (changed(["questions", 0, "decoding", "seed"], 1), 1,
                 "answer 0: "),
                *((changed(["environment", name], "0"), 0, name)
                  for name in good["environment"])):
            got, lines = replay(receipt)
            self.assertEqual(got, status, lines)
            self.assertIn(part, lines)

    def test_that_are_none_are_refused(self):
        good = self.ask(max_tokens=1)["receipt"]
        question = good["questions"][0]
        for receipt, part in (
                ("{", "JSON"), ("[" * 99999, "JSON"), ([], "version 1"),
                ({**good, "v": 2}, "version 1"),
                ({**good, "questions": {}}, "version 1"),
                *(({**good, "questions": [each]}, part) for each, part in (
                    (3, "questions/0"), ({}, "questions/0"),
                    ({**question, "prompt": ["a"]}, "questions/0"),
                    ({**question, "prompt": [10**30]}, "prompt"),
                    ({**question, "prompt": [99999]}, "99999"),
                    ({**question, "n": 10**9}, "questions/0"),
                    ({**question, "stop": [""]}, "questions/0"),
                    ({**question, "max_new_tokens": 10**6}, "1000"),
                    ({**question, "decoding": {"a": 1}}, "a: expected"),
                    ({**question, "decoding": {
                        "do_sample": True, "top_p": 7}}, "top_p")))):
            status, lines = replay(receipt)
            self.assertEqual(status, 1, (str(receipt)[:90], part, lines))
            self.assertIn("tfcompiler: error: ", lines)
            self.assertIn(part, lines)
