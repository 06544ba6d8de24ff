# Speculation on a trained model, by prompt lookup and by a smaller model: the
# same answers in fewer steps.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import subprocess
import sys
import tempfile
import unittest

import shared
import tfcompiler as tfc

TELLS = ("The cat sat on the mat. The dog sat on the mat. The cat sat on the "
         "mat. The dog sat on")
HOWS = (dict(), dict(do_sample=True, temperature=0.7, seed=3),
        dict(do_sample=True, seed=4, repetition_penalty=1.1),
        dict(frequency_penalty=0.3), dict(no_repeat_ngram_size=9))


class Drafts(unittest.TestCase):
    def setUp(self):
        self.model = shared.stories()

    def test_change_no_token_and_no_probability(self):
        ids = self.model.tokenizer.encode(TELLS).ids
        answers, counts = {}, {}
        for drafts in (0, 4, 15):
            with tfc.Scheduler(self.model, max_drafts=drafts) as scheduler:
                jobs = [scheduler.submit(ids, max_new_tokens=80, logprobs=2,
                                         n=1 + number % 2, **how)
                        for number, how in enumerate(HOWS)]
                answers[drafts] = [[(answer.tokens, answer.logprobs,
                                     answer.finish)
                                    for answer in job.result()]
                                   for job in jobs]
                counts[drafts] = scheduler.stats
        self.assertEqual(answers[4], answers[0])
        self.assertEqual(answers[15], answers[0])
        self.assertEqual(counts[0].drafted_tokens, 0)
        for drafts in (4, 15):
            self.assertGreater(counts[drafts].accepted_tokens, 20)
            self.assertGreater(counts[drafts].drafted_tokens,
                               counts[drafts].accepted_tokens)

    def test_save_steps(self):
        steps = {}
        for drafts in (0, 8):
            with tfc.Session(self.model, max_drafts=drafts) as session:
                session.add(TELLS, max_new_tokens=60)
                made = []
                while not made or not made[-1].is_last:
                    made += session.step()
                    steps[drafts] = steps.get(drafts, 0) + 1
                info = session.info
                self.assertEqual(bool(info.drafted_tokens), bool(drafts))
        self.assertEqual(steps[0], 60)
        self.assertLess(steps[8], 60)

    def test_of_streams_and_texts_that_stop(self):
        for words in (dict(), dict(stop=[" mat", "dog"]), dict(stop="t o")):
            plain = self.model.generate(TELLS, max_new_tokens=60, **words)
            self.assertEqual(self.model.generate(
                TELLS, max_new_tokens=60, max_drafts=8, **words), plain)
            self.assertEqual("".join(self.model.stream(
                TELLS, max_new_tokens=60, max_drafts=8, **words)), plain)

    def test_of_an_encoder_decoder_come_from_its_source_too(self):
        model = shared.dates()
        texts = ["24.12.1901", "the third of March, nineteen ninety-four"]
        self.assertEqual(model.generate(texts, max_drafts=8),
                         model.generate(texts))
        with self.assertRaisesRegex(tfc.Error, "expected a decoder"):
            tfc.Scheduler(model, draft=self.model)

    def test_are_counted(self):
        with self.assertRaisesRegex(tfc.Error, "max_drafts"):
            tfc.Session(self.model, max_drafts=-1)


class DraftModels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = os.path.join(cls.scratch.name, "small")
        shared.cut_stories(cls.folder)
        cls.model = shared.stories()
        cls.draft = tfc.compile(cls.folder, target="cpu")

    def answers(self, **words):
        ids = self.model.tokenizer.encode(TELLS).ids
        with tfc.Scheduler(self.model, **words) as scheduler:
            jobs = [scheduler.submit(ids[:len(ids) - 7 * number], logprobs=2,
                                     max_new_tokens=60, n=1 + number % 2, **how)
                    for number, how in enumerate(HOWS)]
            return [[(answer.tokens, answer.logprobs, answer.finish)
                     for answer in job.result()] for job in jobs], \
                scheduler.stats

    def test_change_no_token_and_no_probability(self):
        plain, _ = self.answers()
        for words in (dict(), dict(max_drafts=3, max_step_tokens=16),
                      dict(max_cache_bytes=16 * 64 * self.model.info
                           .cache_bytes_per_token)):
            made, stats = self.answers(draft=self.draft, **words)
            self.assertEqual(made, plain)
            self.assertGreater(stats.accepted_tokens, 5)
            self.assertGreater(stats.drafted_tokens, stats.accepted_tokens)

    def test_save_steps_and_may_go_before_the_session(self):
        draft = tfc.compile(self.folder, target="cpu")
        with tfc.Session(self.model, draft=draft) as session:
            draft.close()
            session.add(TELLS, max_new_tokens=60)
            steps, made = 0, []
            while not made or not made[-1].is_last:
                made += session.step()
                steps += 1
        self.assertLess(steps, 60)
        text = self.model.generate(TELLS, max_new_tokens=60)
        self.assertEqual("".join(new.text for new in made), text)
        self.assertEqual(self.model.generate(
            TELLS, max_new_tokens=60, draft=self.draft), text)
        self.assertEqual("".join(self.model.stream(
            TELLS, max_new_tokens=60, draft=self.draft)), text)

    def test_are_refused_with_another_vocabulary(self):
        other = os.path.join(self.scratch.name, "other")
        shared.cut_stories(other, vocab_size=258)
        with self.assertRaisesRegex(tfc.Error, "(?s)draft: .*expected the "
                                    "vocabulary of .*259 tokens.*258"):
            tfc.Session(self.model, draft=tfc.compile(other, target="cpu"))
        path = os.path.join(other, "tokenizer.json")
        with open(path) as file:
            tokenizer = json.load(file)
        tokens = tokenizer["model"]["vocab"]
        first, second = list(tokens)[40:42]
        tokens[first], tokens[second] = tokens[second], tokens[first]
        with open(path, "w") as file:
            json.dump(tokenizer, file)
        swapped = tfc.load(self.draft._loaded_by[0], self.folder,
                           tokenizer=path)
        with self.assertRaisesRegex(tfc.Error, "draft: .*token 4"):
            self.model.generate(TELLS, draft=swapped)
        made = subprocess.run(
            [os.environ["TFC"], "run", self.model.folder, TELLS, "--draft",
             other], capture_output=True, text=True)
        self.assertIn("expected the model's vocabulary", made.stderr)
        self.assertEqual(made.returncode, 1)

    def test_of_a_server_write_the_same(self):
        from serving import Served
        stories = os.path.join(shared.MODELS, "stories-tiny")
        with Served(stories, "--draft", self.folder) as server:
            made = server.ask("/v1/completions", prompt=TELLS, max_tokens=40)
            counts = [int(line.rsplit(" ", 1)[1])
                      for line in server.get("/metrics").splitlines()
                      if line.startswith("vllm:spec_decode_num_accepted")]
        self.assertEqual(made["choices"][0]["text"], self.model.generate(
            TELLS, max_new_tokens=40))
        self.assertGreater(counts[0], 0)
        made = subprocess.run(
            [sys.executable, "-B", "-m", "tfcompiler", "serve", stories,
             "--draft", self.folder, "--draft", self.folder],
            capture_output=True, text=True)
        self.assertEqual(made.returncode, 1)
        self.assertIn("--draft: expected at most 1", made.stderr)

    def test_of_tfc_run_write_the_same(self):
        words = [os.environ["TFC"], "run", self.model.folder, TELLS,
                 "--max-new-tokens", "40", "--target", "cpu"]
        plain = subprocess.check_output(words, text=True)
        self.assertEqual(subprocess.check_output(
            words + ["--draft", self.folder], text=True), plain)
        made = subprocess.run(words + ["--draft-library", "none.so"],
                              capture_output=True, text=True)
        self.assertIn("--draft-weights", made.stderr)


if __name__ == "__main__":
    unittest.main()
