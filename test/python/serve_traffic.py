#!/usr/bin/env python3
# Mixed traffic over HTTP: texts, chats, several answers, beams, vectors, two
# kinds of reranking, clients that go away, a cache too small for all. Each
# answer is what it is when nobody else asks.
#   serve_traffic.py --count 20000 --seed 7
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import collections
import concurrent.futures
import http.client
import json
import os
import random
import resource
import sys
import tempfile
import threading
import time

import late_test
import shared
from serving import Served, word_folder

TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
TALES = ["Once upon a time there was a frog", "One night the wind",
         "The cat sat on the mat. The dog sat on the mat. The cat sat on", "A"]
WORDS = ["w4 w5 w6", "w7", "w8 . w9 w10 w11", "w5 w5", "w4 w9 w6 w7"]
AT_ONCE = 16
# What differs from request to request whatever is asked.
OWN = ("id", "created", "usage", "meta")


def draw(r):
    """An address and a body."""
    kind = r.random()
    texts = r.sample(WORDS, r.randint(1, 4))
    if kind < 0.1:
        return "/v1/embeddings", {"model": "vectors", "input": texts}
    if kind < 0.2:
        return "/v2/rerank", {"model": "late", "query": r.choice(WORDS),
                              "documents": texts}
    if kind < 0.3:
        return "/v2/rerank", {"model": "pairs", "query": r.choice(WORDS),
                              "documents": texts}
    body = {"model": "stories", "max_tokens": r.choice((1, 5, 20, 60)),
            "n": r.choice((1, 1, 3)), "seed": r.randrange(4)}
    if r.random() < 0.6:
        body["temperature"] = r.choice((0.5, 1.0))
    if kind < 0.36:
        body.pop("temperature", None)
        body.update(num_beams=3, max_tokens=8)
    if kind < 0.6:
        return "/v1/chat/completions", {**body, "messages": [
            {"role": "system", "content": "Tell short stories of animals."},
            {"role": "user", "content": r.choice(TALES)}]}
    if "num_beams" not in body:
        body.update(r.choice(({}, {"logprobs": 2}, {"stop": ["the"]},
                              {"repetition_penalty": 1.2})))
    return "/v1/completions", {**body, "prompt": r.choice(TALES)}


def kept(made):
    """What must be the same."""
    return {name: value for name, value in made.items() if name not in OWN}


class Traffic:
    """Requests to a server; asked alone first, each once."""

    def __init__(self, server, seed, pool):
        self.server = server
        self.random = random.Random(seed)
        self.pool = [draw(self.random) for _ in range(pool)]
        self.alone = [kept(server.ask(path, **body))
                      for path, body in self.pool]
        self.numbers = collections.Counter()
        self._lock = threading.Lock()

    def run(self, count):
        plan = [(self.random.randrange(len(self.pool)),
                 self.random.random() < 0.08) for _ in range(count)]
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for done, what in enumerate(pool.map(
                    lambda each: self.one(*each), plan)):
                self.numbers[what] += 1
                if (done + 1) % max(1, count // 10) == 0:
                    self.tell(done + 1)

    def one(self, number, leaves):
        path, body = self.pool[number]
        if leaves:
            return self.leave(path, body)
        made = kept(self.server.ask(path, **body))
        if made == self.alone[number]:
            return "whole"
        print("differs:", path, body, made, self.alone[number])
        return "differs"

    def leave(self, path, body):
        """Reads a little of an answer, or nothing, and goes away."""
        connection = http.client.HTTPConnection(
            self.server.url.split("//")[1], timeout=60)
        streams = "completions" in path
        try:
            connection.request(
                "POST", path, json.dumps({**body, "stream": True}
                                         if streams else body),
                {"content-type": "application/json"})
            with self._lock:
                reads = streams and self.random.random() < 0.7
            if reads:
                connection.getresponse().read(200)
        finally:
            connection.close()
        return "left"

    def counter(self, name):
        """The sum over the models of a number of /metrics."""
        connection = http.client.HTTPConnection(
            self.server.url.split("//")[1], timeout=60)
        try:
            connection.request("GET", "/metrics")
            lines = connection.getresponse().read().decode().splitlines()
        finally:
            connection.close()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines
                   if line.startswith(name + "{"))

    def is_idle(self, seconds=60):
        """Whether those that were left end, too."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not self.counter("vllm:num_requests_running") and \
                    not self.counter("vllm:num_requests_waiting"):
                return True
            time.sleep(0.05)
        return False

    def tell(self, done):
        with open(f"/proc/{self.server.process.pid}/statm") as file:
            pages = int(file.read().split()[1])
        print(f"{done} requests, resident "
              f"{pages * resource.getpagesize() / 1e6:.1f} MB, "
              f"{self.counter('vllm:num_preemptions_total'):.0f} preemptions",
              flush=True)


def served(scratch):
    """A server of four models, whose caches are too small."""
    stories = shared.stories()
    template = os.path.join(scratch, "chat.jinja")
    with open(template, "w") as stream:
        stream.write(TEMPLATE)
    names = [word for name in ("stories", "vectors", "late", "pairs")
             for word in ("--served-model-name", name)]
    block = stories.info.cache_bytes_per_token * 64
    return Served(os.path.join(shared.MODELS, "stories-tiny"),
                  word_folder(os.path.join(scratch, "a"), "sentence-mean"),
                  late_test.pylate(scratch),
                  word_folder(os.path.join(scratch, "b"), "bert-regression"),
                  *names, "--chat-template", template, "--cache-bytes",
                  str(14 * block), "--max-step-tokens", "40", "--max-drafts",
                  "8", "--max-batch-tokens", "64")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--pool", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, served(scratch) as server:
        traffic = Traffic(server, options.seed, options.pool)
        traffic.run(options.count)
        is_idle = traffic.is_idle()
    made = traffic.numbers
    print(f"seed {options.seed}: {options.count} requests, {made['whole']} "
          f"answered, {made['left']} left, {made['differs']} differ, "
          f"{'idle' if is_idle else 'NOT IDLE'} then, "
          f"{time.monotonic() - begin:.0f} s")
    return 1 if made["differs"] or not is_idle else 0


if __name__ == "__main__":
    sys.exit(main())
