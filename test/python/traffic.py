#!/usr/bin/env python3
# Mixed traffic on a trained model: chats that begin alike, several answers,
# beams, vectors, drafts, cancels, a cache too small for all. Each answer is what it is
# alone.
#   traffic.py --count 100000 --seed 7
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import collections
import os
import random
import resource
import sys
import tempfile
import time

import shared
import tfcompiler as tfc

SYSTEMS = ["You tell stories. ", "You tell stories. Short ones, of animals and "
           "of the weather, for children who are tired. ", ""]
TALES = ["Once upon a time there was a frog", "One night the wind",
         "The rain fell. The rain fell. The rain", "The cat sat on the mat. "
         "The dog sat on the mat. The cat sat on", "A", "Ben and Ann"]
OPEN_JOBS = 48


class Traffic:
    """Requests drawn from a pool of them, so that each is computed alone
    once."""

    def __init__(self, seed, pool, draft=None, cache=None):
        self.model, self.draft = shared.stories(cache), draft
        self.random = random.Random(seed)
        self.alone = {}
        self.pool = [self.draw() for _ in range(pool)]
        self.numbers = collections.Counter()

    def draw(self):
        """What is asked: of a generation its words, of vectors texts."""
        r = self.random
        encode = self.model.tokenizer.encode
        text = r.choice(SYSTEMS) + r.choice(TALES)
        if r.random() < 0.15:
            return "encode", [encode(r.choice(TALES)).ids
                              for _ in range(r.randint(1, 3))], {}
        if r.random() < 0.5:
            text += " " + r.choice(TALES)
        words = {"max_new_tokens": r.choice((1, 3, 8, 20, 60)),
                 "n": r.choice((1, 1, 1, 3)), "logprobs": r.choice((0, 0, 2)),
                 "echo": r.random() < 0.05}
        if r.random() < 0.6:
            words.update(do_sample=True, seed=r.randrange(5),
                         temperature=r.choice((0.5, 1.0)))
        else:
            words["do_sample"] = False
        words.update(r.choice(({}, {}, {"repetition_penalty": 1.2},
                               {"frequency_penalty": 0.5},
                               {"frequency_penalty": -2.0})))
        if r.random() < 0.04:
            words.update(num_beams=r.choice((2, 3)), logprobs=0, echo=False,
                         n=r.choice((1, 2)),
                         max_new_tokens=r.choice((3, 8, 20)))
        return "submit", encode(text).ids, words

    @staticmethod
    def start(scheduler, asked, **terms):
        how, what, words = asked
        return scheduler.submit_encode(what, **terms) if how == "encode" \
            else scheduler.submit(what, **words, **terms)

    @staticmethod
    def read(job, asked):
        """All that must be the same; None where it was cancelled."""
        if asked[0] == "encode":
            try:
                return [(name, array.tobytes())
                        for name, array in job.arrays().items()]
            except tfc.Error as error:
                if error.code != tfc.Code.CANCELLED:
                    raise
                return None
        answers = job.result()
        if any(each.finish == tfc.Finish.CANCELLED for each in answers):
            return None
        return [(each.tokens, each.logprobs, each.prompt_logprobs, each.finish)
                for each in answers]

    def expected(self, number):
        """The answer alone, a job at a time, without drafts and without
        anything remembered."""
        if number not in self.alone:
            asked = self.pool[number]
            self.alone[number] = self.read(self.start(self.one, asked), asked)
        return self.alone[number]

    def run(self, count):
        """How many answers differ."""
        block = self.model.info.cache_bytes_per_token * 64
        differ = 0
        with tfc.Scheduler(self.model, prefix_cache=False) as self.one, \
                tfc.Scheduler(self.model, max_cache_bytes=14 * block,
                              max_step_tokens=40, max_drafts=8,
                              draft=self.draft) as many:
            open_jobs = collections.deque()
            for done in range(count):
                number = self.random.randrange(len(self.pool))
                job = self.start(many, self.pool[number],
                                 priority=self.random.choice((0, 0, 1)))
                if self.random.random() < 0.05:
                    job.cancel()
                open_jobs.append((number, job))
                if len(open_jobs) > OPEN_JOBS:
                    differ += self.check(*open_jobs.popleft())
                if (done + 1) % max(1, count // 10) == 0:
                    self.tell(done + 1, many.stats)
            while open_jobs:
                differ += self.check(*open_jobs.popleft())
            stats = many.stats
            assert stats.n_jobs == 0 and stats.cache_bytes == 0, stats
            self.stats = stats
        return differ

    def check(self, number, job):
        made = self.read(job, self.pool[number])
        self.numbers["cancelled" if made is None else "whole"] += 1
        if made is None or made == self.expected(number):
            return 0
        print("differs:", self.pool[number], made, self.expected(number))
        return 1

    @staticmethod
    def tell(done, stats):
        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[1])
        print(f"{done} requests, resident "
              f"{pages * resource.getpagesize() / 1e6:.1f} MB, "
              f"{stats.new_tokens} tokens, {stats.cached_tokens} remembered, "
              f"{stats.accepted_tokens} of {stats.drafted_tokens} guesses "
              f"right, {stats.n_preemptions} preemptions", flush=True)


def small():
    """A model that guesses for the stories'."""
    with tempfile.TemporaryDirectory() as folder:
        shared.cut_stories(os.path.join(folder, "small"))
        return tfc.compile(os.path.join(folder, "small"), target="cpu")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--pool", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draft", action="store_true", help="guesses are a "
                        "smaller model's, not the text's own")
    parser.add_argument("--cache", help="what keys and values are kept in")
    options = parser.parse_args()
    traffic = Traffic(options.seed, min(options.pool, options.count),
                      small() if options.draft else None, options.cache)
    begin = time.monotonic()
    differ = traffic.run(options.count)
    print(f"seed {options.seed}: {options.count} requests, "
          f"{traffic.numbers['whole']} answered, "
          f"{traffic.numbers['cancelled']} cancelled, {differ} differ, "
          f"{time.monotonic() - begin:.0f} s")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
