# Speculation by prompt lookup on a trained model: the same answers in fewer
# steps.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

    def test_are_counted(self):
        with self.assertRaisesRegex(tfc.Error, "max_drafts"):
            tfc.Session(self.model, max_drafts=-1)


if __name__ == "__main__":
    unittest.main()
