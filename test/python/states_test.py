# Sequences of models whose layers keep a state: whatever becomes of a sequence,
# its tokens are those of one that runs alone from its beginning.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import unittest

import shared
import tfcompiler as tfc

NAMES = ("lfm2-wide", "qwen3next-lm", "granitehybrid-lm", "mamba2-wide")
PROMPTS = [[3 + i * i % 90 for i in range(n)] for n in (1, 2, 11, 23)]
NEW = 12


def answers_of(session):
    """Of each sequence its tokens, with what they were chosen from."""
    answers = {}
    for new in session:
        answers.setdefault(new.sequence, []).append(
            (new.token, new.logprob))
    return answers


class States(unittest.TestCase):
    def each(self):
        return [shared.golden(name) for name in NAMES]

    def add(self, session, prompt, **words):
        return session.add(prompt, max_new_tokens=NEW, eos_token_id=None,
                           logprobs=1, **words)

    def alone(self, model, prompt, **words):
        with tfc.Session(model) as session:
            self.add(session, prompt, **words)
            return next(iter(answers_of(session).values()))

    def test_in_pieces_and_in_company(self):
        for model in self.each():
            expected = [self.alone(model, prompt) for prompt in PROMPTS]
            for pieces in (0, 1, 2, 3, 7):
                with tfc.Session(model, max_step_tokens=pieces) as session:
                    numbers = [self.add(session, each) for each in PROMPTS]
                    answers = answers_of(session)
                self.assertEqual([answers[number] for number in numbers],
                                 expected)

    def test_no_other_model_guesses(self):
        """A wrong guess could not leave the state."""
        for model in self.each():
            with self.assertRaisesRegex(tfc.Error, "keep a state"):
                tfc.Session(model, draft=model)

    def test_a_fork_goes_on_from_the_same_state(self):
        for model in self.each():
            ways = [dict(), dict(do_sample=True, seed=5, temperature=2.0),
                    dict(repetition_penalty=3.0)]
            with tfc.Session(model) as session:
                first = self.add(session, PROMPTS[2])
                begin = [each for _ in range(4) for each in session.step()]
                forks = [session.fork(first, **way) for way in ways]
                answers = answers_of(session)
            before = [new.token for new in begin]
            for fork, way in zip(forks, ways):
                tokens = before + [token for token, _ in answers[fork]]
                logits = model(input_ids=[PROMPTS[2] + tokens])["logits"][0]
                # What each was chosen from is what a whole pass gives there.
                for i in range(4, NEW):
                    if way:
                        continue
                    row = logits[len(PROMPTS[2]) + i - 1]
                    self.assertEqual(int(row.argmax()), tokens[i])
            self.assertEqual(answers[forks[0]], answers[first])
            self.assertEqual(answers[first],
                             self.alone(model, PROMPTS[2])[4:])

    def test_a_pause_changes_nothing(self):
        for model in self.each():
            with tfc.Session(model) as session:
                first = self.add(session, PROMPTS[3])
                other = self.add(session, PROMPTS[1])
                made = [new for _ in range(3) for new in session.step()]
                session.pause(first)
                used = session.info.cache_bytes
                made += [new for _ in range(2) for new in session.step()]
                session.resume(first)
                made += list(session)
                self.assertEqual(session.info.cache_bytes, 0)
            self.assertGreater(used, 0)
            for number, prompt in ((first, PROMPTS[3]), (other, PROMPTS[1])):
                self.assertEqual([(new.token, new.logprob) for new in made
                                  if new.sequence == number],
                                 self.alone(model, prompt))

    def test_a_step_that_was_stopped_is_done_again(self):
        for model in self.each():
            asked = []

            def stop():
                asked.append(1)
                return len(asked) in (9, 25, 44)

            with tfc.Session(model, should_stop=stop) as session:
                self.add(session, PROMPTS[3])
                tokens, stops = [], 0
                while not tokens or not tokens[-1].is_last:
                    try:
                        tokens += session.step()
                    except tfc.Error as error:
                        self.assertEqual(error.code, tfc.Code.CANCELLED)
                        stops += 1
            self.assertEqual(stops, 3)
            self.assertEqual([(new.token, new.logprob) for new in tokens],
                             self.alone(model, PROMPTS[3]))

    def test_answers_part_behind_the_prompt(self):
        for model in self.each():
            with tfc.Scheduler(model) as scheduler:
                job = scheduler.submit(PROMPTS[2], n=3, max_new_tokens=NEW,
                                       eos_token_id=None, do_sample=True,
                                       seed=8, temperature=3.0, logprobs=1)
                answers = job.result()
            self.assertEqual(len({tuple(each.tokens) for each in answers}), 3)
            for answer in answers:
                tokens = list(answer.tokens)
                with tfc.Session(model) as session:
                    number = session.add(PROMPTS[2] + tokens[:-1],
                                         max_new_tokens=1, logprobs=1,
                                         eos_token_id=None)
                    last = next(new for new in session
                                if new.sequence == number)
                # The likeliest token behind all of it, however it came.
                self.assertEqual(last.token,
                                 int(model(input_ids=[
                                     PROMPTS[2] + tokens[:-1]])["logits"]
                                     [0, -1].argmax()))

    def test_where_there_is_little_room_all_answers_come(self):
        for model in self.each():
            expected = [self.alone(model, prompt) for prompt in PROMPTS]
            with tfc.Session(model) as session:
                self.add(session, PROMPTS[3])
                session.step()
                one = session.info.cache_bytes
            with tfc.Scheduler(model, max_cache_bytes=3 * one) as scheduler:
                jobs = [scheduler.submit(prompt, max_new_tokens=NEW,
                                         eos_token_id=None)
                        for prompt in PROMPTS * 2]
                made = [list(job.result()[0].tokens) for job in jobs]
            self.assertEqual(made, 2 * [[token for token, _ in each]
                                        for each in expected])

    def test_a_turn_goes_on_from_the_last_one(self):
        for model in self.each():
            words = dict(max_new_tokens=4, eos_token_id=None)
            with tfc.Scheduler(model) as scheduler:
                first = scheduler.submit(PROMPTS[2], **words).result()[0]
                longer = PROMPTS[2] + list(first.tokens) + [5, 6]
                second = scheduler.submit(longer, **words).result()[0]
                other = scheduler.submit(PROMPTS[2][:6] + [9] * 9,
                                         **words).result()[0]
            for made, prompt in ((second, longer),
                                 (other, PROMPTS[2][:6] + [9] * 9)):
                self.assertEqual(list(made.tokens), [
                    token for token, _ in self.alone(model, prompt)][:4])

    def test_guesses_are_none(self):
        for model in self.each():
            prompt = [5, 6, 7] * 7
            with tfc.Session(model, max_drafts=8) as session:
                self.add(session, prompt)
                answers = answers_of(session)
                self.assertEqual(session.info.drafted_tokens, 0)
            self.assertEqual(list(answers.values()),
                             [self.alone(model, prompt)])

    def test_what_the_mask_hides_between_others_is_refused(self):
        for model in self.each():
            with self.assertRaisesRegex(
                    tfc.Error, "expected no masked token between others "
                    r"\(the model's state is of all tokens\)"):
                model(input_ids=[[4, 5, 6]], attention_mask=[[1, 0, 1]])


if __name__ == "__main__":
    unittest.main()
