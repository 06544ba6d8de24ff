# Jobs of many that ask at once: each answer is what it is alone.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import asyncio
import random
import threading
import unittest

import numpy as np

import shared
import tfcompiler as tfc

PROMPTS = ["Once upon a time", "One night the wind", "The rain"]


def written(model, answer):
    return model.tokenizer.decode(answer.tokens)


class Jobs(unittest.TestCase):
    def setUp(self):
        self.model = shared.stories()
        self.ids = [self.model.tokenizer.encode(prompt).ids
                    for prompt in PROMPTS]

    def test_are_answered_as_alone(self):
        alone = [self.model.generate(prompt, max_new_tokens=30)
                 for prompt in PROMPTS]
        with tfc.Scheduler(self.model, max_step_tokens=7) as scheduler:
            jobs = [scheduler.submit(ids, max_new_tokens=30)
                    for ids in self.ids * 4]
            for number, job in enumerate(jobs):
                answer, = job.result()
                self.assertEqual(written(self.model, answer),
                                 alone[number % 3])
                self.assertEqual(answer.finish, tfc.Finish.LENGTH)
                self.assertEqual(answer.usage.new_tokens, 30)
            stats = scheduler.stats
            self.assertEqual(stats.n_finished[tfc.Finish.LENGTH], 12)
            self.assertEqual((stats.n_jobs, stats.cache_bytes), (0, 0))

    def test_in_a_cache_too_small_for_all(self):
        # Each needs a block of 64 tokens for every 64; four do not fit.
        words = dict(max_new_tokens=100, do_sample=True, logprobs=2)
        with tfc.Scheduler(self.model) as scheduler:
            alone = [scheduler.submit(self.ids[0], seed=seed, **words
                                      ).result()[0] for seed in range(6)]
        block = self.model.info.cache_bytes_per_token * 64
        with tfc.Scheduler(self.model, max_cache_bytes=5 * block) as scheduler:
            jobs = [scheduler.submit(self.ids[0], seed=seed, **words)
                    for seed in range(6)]
            for job, expected in zip(jobs, alone):
                answer, = job.result()
                self.assertEqual((answer.tokens, answer.logprobs),
                                 (expected.tokens, expected.logprobs))
            self.assertGreater(scheduler.stats.n_preemptions, 0)

    def test_whose_tokens_wait_for_masks(self):
        # Of every token only those of a text, and then nothing but the end.
        wanted = [self.model.tokenizer.encode(
            text, add_special_tokens=False).ids + [self.model.info.eos[0]]
            for text in ("a mask", "another one")]
        alone = self.model.generate(PROMPTS[1], max_new_tokens=30)
        with tfc.Scheduler(self.model) as scheduler:
            other = scheduler.submit(self.ids[1], max_new_tokens=30)
            job = scheduler.submit(self.ids[0], max_new_tokens=30, n=2,
                                   needs_mask=True)
            made = [[], []]

            def give(index):
                token = wanted[index][len(made[index])]
                bits = np.zeros(token // 32 + 1, np.uint32)
                bits[token // 32] = 1 << token % 32
                job.set_mask(index, len(made[index]), bits)
            give(0), give(1)
            for piece in job:
                made[piece.index] += piece.tokens
                if piece.tokens and made[piece.index] != wanted[piece.index]:
                    give(piece.index)
            self.assertEqual(made, wanted)
            self.assertEqual(written(self.model, other.result()[0]), alone)
            job.set_mask(0, 0, [1])  # of one that has ended
            with self.assertRaisesRegex(tfc.Error, "n_words"):
                scheduler.submit(self.ids[0], needs_mask=True).set_mask(
                    0, 0, [])

    def test_that_outgrow_the_cache_fail(self):
        block = self.model.info.cache_bytes_per_token * 64
        with tfc.Scheduler(self.model, max_cache_bytes=block) as scheduler:
            job = scheduler.submit(self.ids[0], max_new_tokens=90,
                                   eos_token_id=None)
            answer, = job.result()
            self.assertEqual(answer.finish, tfc.Finish.FAILED)
            self.assertEqual(answer.error.code, tfc.Code.EXHAUSTED)
            with self.assertRaises(tfc.Error) as raised:
                scheduler.submit(self.ids[0] * 5)
            self.assertEqual(raised.exception.code, tfc.Code.EXHAUSTED)

    def test_remember_beginnings(self):
        text = " ".join(["The wind was cold and the night was long."] * 4)
        ids = self.model.tokenizer.encode(text).ids
        self.assertGreater(len(ids), 129)
        with tfc.Scheduler(self.model, prefix_cache=False) as scheduler:
            expected = scheduler.submit(ids, max_new_tokens=5).result()[0]
            again = scheduler.submit(ids, max_new_tokens=5).result()[0]
            self.assertEqual(again.usage.cached_tokens, 0)
        with tfc.Scheduler(self.model) as scheduler:
            for cached, salt in ((0, 0), (128, 0), (0, 1), (128, 1)):
                answer, = scheduler.submit(ids, max_new_tokens=5, salt=salt,
                                           ).result()
                self.assertEqual(answer.tokens, expected.tokens)
                self.assertGreaterEqual(answer.usage.cached_tokens, cached)
                self.assertEqual(answer.usage.cached_tokens > 0, cached > 0)

    def test_find_room_however_long_the_queue_is(self):
        # Each step ends some and leaves others out, a hundred times in a row.
        draw = random.Random(2)
        block = self.model.info.cache_bytes_per_token * 64
        with tfc.Scheduler(self.model, max_cache_bytes=6 * block,
                           max_step_tokens=1024) as scheduler:
            jobs = [scheduler.submit([draw.randrange(3, 250)
                                      for _ in range(130)],
                                     max_new_tokens=1, eos_token_id=None)
                    for _ in range(100)]
            ends = {job.result()[0].finish for job in jobs}
            self.assertGreater(scheduler.stats.n_evictions, 0)
        self.assertEqual(ends, {tfc.Finish.LENGTH})

    def test_end_early(self):
        with tfc.Scheduler(self.model) as scheduler:
            job = scheduler.submit(self.ids[0], max_new_tokens=400, n=2)
            for piece in job:
                job.cancel()
                if piece.is_last:
                    self.assertEqual(piece.finish, tfc.Finish.CANCELLED)
            job.cancel()  # changes nothing any more
            late = scheduler.submit(self.ids[0], max_new_tokens=400,
                                    deadline=1e-6)
            self.assertEqual(late.result()[0].finish, tfc.Finish.EXPIRED)
            left = scheduler.submit(self.ids[0], max_new_tokens=400)
            scheduler.drain(1e-6)
            self.assertIn(left.result()[0].finish,
                          (tfc.Finish.CANCELLED, tfc.Finish.LENGTH))
            with self.assertRaises(tfc.Error) as raised:
                scheduler.submit(self.ids[0])
            self.assertEqual(raised.exception.code, tfc.Code.CANCELLED)

    def test_come_from_threads_and_loops(self):
        alone = self.model.generate(PROMPTS[1], max_new_tokens=20)
        found = []
        with tfc.Scheduler(self.model) as scheduler:
            async def ask():
                job = scheduler.submit(self.ids[1], max_new_tokens=20)
                tokens = [token async for piece in job
                          for token in piece.tokens]
                found.append(self.model.tokenizer.decode(tokens))

            async def ask_often():
                await asyncio.gather(*(ask() for _ in range(8)))

            threads = [threading.Thread(
                target=asyncio.run, args=(ask_often(),)) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(found, [alone] * 24)

    def test_of_an_encoder_decoder(self):
        model = shared.dates()
        texts = ["3 May 1999", "the first of March 2024"]
        alone = [model.generate(text, max_new_tokens=20) for text in texts]
        with tfc.Scheduler(model) as scheduler:
            jobs = [scheduler.submit(model.tokenizer.encode(text).ids,
                                     max_new_tokens=20) for text in texts * 3]
            answers = [job.result()[0] for job in jobs]
        ends = set(model.info.eos)
        self.assertEqual([model.tokenizer.decode(
            [token for token in answer.tokens if token not in ends])
            for answer in answers], alone * 3)

    def test_are_refused_by_name(self):
        with tfc.Scheduler(self.model) as scheduler:
            for words, part in (
                    ({"max_new_tokens": 0}, "max_new_tokens"),
                    ({"priority": 1001}, "priority"), ({"n": 0}, "n"),
                    ({"deadline": 0}, "deadline"), ({"salt": -1}, "salt"),
                    ({"temperatur": 1}, "temperatur")):
                with self.assertRaisesRegex(tfc.Error, part):
                    scheduler.submit(self.ids[0], **words)
            with self.assertRaisesRegex(tfc.Error, "texts"):
                scheduler.submit(self.ids[0], max_new_tokens=1).arrays()
        with self.assertRaisesRegex(tfc.Error, "closed"):
            scheduler.submit(self.ids[0])


class Beams(unittest.TestCase):
    """Searches, a step of one beside each step of the others."""

    def alone(self, model, ids, count, **words):
        """What generate gives, and how long the rows are."""
        made = model.generate_ids(np.array([ids]), max_new_tokens=12,
                                  num_return_sequences=count, **words)
        start = 0 if model.info.kind == "encoder-decoder" else len(ids)
        return [row[start:].tolist() for row in made.sequences]

    def check(self, model, prompts):
        hows = [(3, 3, {}), (4, 2, {"length_penalty": 2.0}),
                (2, 1, {"early_stopping": True, "repetition_penalty": 1.3}),
                (3, 2, {"do_sample": True, "seed": 5})]
        with tfc.Scheduler(model, max_step_tokens=5) as scheduler:
            others = [scheduler.submit(ids, max_new_tokens=20)
                      for ids in prompts]
            jobs = [(ids, how, scheduler.submit(
                ids, max_new_tokens=12, n=how[1], num_beams=how[0],
                priority=number % 2, **how[2]))
                for number, how in enumerate(hows) for ids in prompts]
            for ids, (beams, count, words), job in jobs:
                expected = self.alone(model, ids, count, num_beams=beams,
                                      **words)
                begins = 1 if model.info.kind == "encoder-decoder" else 0
                for answer, row in zip(job.result(), expected):
                    row = row[begins:]
                    self.assertEqual(list(answer.tokens),
                                     row[:len(answer.tokens)])
                    self.assertEqual(
                        answer.finish, tfc.Finish.ENDED
                        if answer.tokens[-1] in model.info.eos
                        else tfc.Finish.LENGTH)
                    if answer.finish == tfc.Finish.LENGTH:
                        self.assertEqual(len(answer.tokens), 12)
                    self.assertEqual(answer.usage.new_tokens,
                                     len(answer.tokens))
            for ids, job in zip(prompts, others):
                alone = scheduler.submit(ids, max_new_tokens=20).result()
                self.assertEqual(job.result()[0].tokens, alone[0].tokens)
            self.assertEqual(scheduler.stats.n_jobs, 0)

    def test_are_those_of_generate(self):
        model = shared.stories()
        self.check(model, [model.tokenizer.encode(each).ids
                           for each in PROMPTS])

    def test_of_an_encoder_decoder(self):
        model = shared.dates()
        self.check(model, [model.tokenizer.encode(each).ids
                           for each in ("3/4/1994", "the first of May 2001")])

    def test_end_early_and_are_refused_by_name(self):
        model = shared.stories()
        ids = model.tokenizer.encode(PROMPTS[0]).ids
        block = model.info.cache_bytes_per_token * 64
        with tfc.Scheduler(model, max_cache_bytes=14 * block) as scheduler:
            jobs = [scheduler.submit(ids, num_beams=3, n=2, max_new_tokens=90)
                    for _ in range(2)]
            for job in jobs:
                job.cancel()
            jobs.append(scheduler.submit(ids, num_beams=3, n=2, deadline=1e-6,
                                         max_new_tokens=90))
            ends = [[answer.finish for answer in job.result()] for job in jobs]
            self.assertEqual(ends, [[tfc.Finish.CANCELLED] * 2] * 2
                             + [[tfc.Finish.EXPIRED] * 2])
            for match, words in (
                    ("n: expected at most 3", {"n": 4}),
                    ("beside beams", {"logprobs": 1}),
                    ("beside beams", {"stop": [[7]]}),
                    ("beside beams", {"logit_bias": {7: 1.0}}),
                    ("beside beams", {"head_rows": [7, 9]}),
                    ("needs_mask", {"needs_mask": True}),
                    ("beam search that the cache can hold",
                     {"max_new_tokens": 400})):
                with self.assertRaisesRegex(tfc.Error, match):
                    scheduler.submit(ids, **{"num_beams": 3,
                                             "max_new_tokens": 5, **words})
            self.assertEqual(scheduler.stats.n_jobs, 0)

    def test_fail_where_nothing_can_follow(self):
        model = shared.stories()
        ids = model.tokenizer.encode(PROMPTS[0]).ids
        with tfc.Scheduler(model) as scheduler:
            other = scheduler.submit(ids, max_new_tokens=5)
            # Every token but those of the prompt has come.
            found = scheduler.submit(
                ids, n=2, num_beams=2, max_new_tokens=300, eos_token_id=None,
                no_repeat_ngram_size=1).result()
            for answer in found:
                self.assertEqual(answer.finish, tfc.Finish.FAILED)
                self.assertIn("beams: expected a token that may come",
                              str(answer.error))
            self.assertEqual(len(other.result()[0].tokens), 5)


class Results(unittest.TestCase):
    """Of texts that were encoded for somebody who has gone."""

    def test_go_with_whoever_does_not_take_them(self):
        with tfc.Scheduler(shared.golden("bert-model")) as scheduler:
            for is_over in (True, False):
                job = scheduler.submit_encode([[5, 6]])
                if not is_over:  # cancelled while it runs, or before, or after
                    job.cancel()
                answers = job.result()
                job.cancel()
                scheduler.submit_encode([[7]]).arrays()  # another step
                if answers[0].finish == tfc.Finish.ENCODED:
                    with self.assertRaisesRegex(tfc.Error, "nobody took"):
                        job._outputs(answers)


class Unseen(unittest.TestCase):
    """Tokens that see a text, and that nobody sees."""

    def test_change_no_other_row(self):
        model = shared.golden("bert-model")
        ids, mask = [5, 9, 7, 30], [11, 12, 11]

        def rows(scheduler, more):
            made = scheduler.submit_encode(
                [ids + more, ids], outputs=["last_hidden_state"],
                unseen=[len(more), 0]).arrays()["last_hidden_state"]
            self.assertTrue((made[1, 4:] == 0).all())
            return made[0]
        with tfc.Scheduler(model) as scheduler:
            plain = scheduler.submit_encode(
                [ids], outputs=["last_hidden_state"]
                ).arrays()["last_hidden_state"][0]
            made = rows(scheduler, mask)
            np.testing.assert_array_equal(made[:4], plain)
            for at in range(3):
                # Whatever stands behind it, or before it that nobody sees.
                other = [3] * at + mask[at:at + 1] + [8] * (2 - at)
                np.testing.assert_array_equal(rows(scheduler, other)[4 + at],
                                              made[4 + at])
            self.assertGreater(np.abs(made[4] - made[6]).max(), 1e-3,
                               "they have places")
            seen = scheduler.submit_encode(
                [ids + mask], outputs=["last_hidden_state"]
                ).arrays()["last_hidden_state"][0]
            self.assertGreater(np.abs(seen - made).max(), 1e-3)
            with self.assertRaisesRegex(tfc.Error, "less than its 4 tokens"):
                scheduler.submit_encode([ids], unseen=[4])
            with self.assertRaisesRegex(tfc.Error, "expected 1 numbers"):
                scheduler.submit_encode([ids], unseen=[0, 0])
        with tfc.Scheduler(shared.stories()) as scheduler, \
                self.assertRaisesRegex(tfc.Error, "with an encoder only"):
            scheduler.submit_encode([ids], unseen=[1])


class Texts(unittest.TestCase):
    def test_are_encoded_as_alone(self):
        model = shared.golden("bert-model")
        draw = random.Random(3)
        limit = model.info.inputs[0].limit
        batches = [[[draw.randrange(limit) for _ in range(draw.randint(1, 9))]
                    for _ in range(draw.randint(1, 4))] for _ in range(12)]
        with tfc.Scheduler(model, max_batch_tokens=24) as scheduler:
            jobs = [scheduler.submit_encode(texts) for texts in batches]
            made = [job.arrays() for job in jobs]
            with self.assertRaises(tfc.Error):
                scheduler.submit([1, 2])
            with self.assertRaisesRegex(tfc.Error, "no_such"):
                scheduler.submit_encode([[1]], outputs=["no_such"])
            self.assertLess(scheduler.stats.n_encodes, 13)
        for texts, arrays in zip(batches, made):
            longest = max(map(len, texts))
            ids = [text + [0] * (longest - len(text)) for text in texts]
            mask = [[1] * len(text) + [0] * (longest - len(text))
                    for text in texts]
            alone = model(input_ids=ids, attention_mask=mask)
            self.assertEqual(set(arrays), set(alone))
            for name, values in alone.items():
                np.testing.assert_array_equal(arrays[name], values)
