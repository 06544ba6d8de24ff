#!/usr/bin/env python3
# Asks a server for streams of text, or for vectors, as its clients do, and says
# how long they waited: serve_load.py http://127.0.0.1:8000 --rate 20. Python
# alone.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import asyncio
import json
import random
import sys
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

WHO = "Ann Ben Eve Tim Sue Max Ida Leo".split()
WHAT = "frog owl fox bear snail duck mouse".split()
SYSTEM = ("You tell short stories to children. They are kind, and end well. "
          "Somebody is lost, and somebody helps. ")
QUANTILES = (0.5, 0.95, 0.99)


@dataclass
class Asked:
    """A request, and what came of it; seconds of one clock."""

    body: dict
    cancel_at: int = 0  # pieces after which the client goes; 0: it stays
    due: float = 0
    times: list = field(default_factory=list)  # of pieces with text
    text: str = ""
    finish: str = ""
    tokens: int = 0
    fault: str = ""
    is_cancelled: bool = False

    @property
    def is_whole(self):
        return not self.fault and not self.is_cancelled and bool(self.times)


def make_requests(options):
    """Drawn from the seed."""
    draw = random.Random(options.seed)
    make = make_text if options.embed else make_completion
    made = []
    for number in range(options.requests):
        asked = make(options, draw, number)
        if options.model:
            asked.body["model"] = options.model
        made.append(asked)
    return made


def make_text(options, draw, number):
    """A text to be embedded, of 8 to 64 words."""
    words = [draw.choice(WHO + WHAT) for _ in range(draw.randint(8, 64))]
    return Asked({"input": " ".join(words)})


def make_completion(options, draw, number):
    """A prompt that begins like others' as often as --shared says, and is as
    long where it does not; lengths of answers differ."""
    system = SYSTEM * options.system
    story = (f"Once upon a time there was a {draw.choice(WHAT)} named "
             f"{draw.choice(WHO)}.")
    begins = system if draw.random() < options.shared else \
        f"Story {draw.randrange(10**6)}. " + system
    goes = draw.random() < options.cancel
    return Asked({"prompt": begins + story, "stream": True,
                  "max_tokens": draw.choice([max(1, options.max_tokens // 4),
                                             options.max_tokens]),
                  "temperature": options.temperature, "seed": number,
                  "ignore_eos": options.ignore_eos,
                  "stream_options": {"include_usage": True}},
                 draw.randint(1, 8) if goes else 0)


async def ask(url, asked, key=""):
    """Sends a request and reads its stream, or a vector."""
    path = "embeddings" if "input" in asked.body else "completions"
    writer = None
    try:
        reader, writer = await asyncio.open_connection(url.hostname, url.port)
        data = json.dumps(asked.body).encode()
        head = (f"POST {url.path.rstrip('/')}/v1/{path} HTTP/1.1\r\n"
                f"host: {url.hostname}\r\ncontent-type: application/json\r\n"
                + (f"authorization: Bearer {key}\r\n" if key else "")
                + f"content-length: {len(data)}\r\nconnection: close\r\n\r\n")
        writer.write(head.encode() + data)
        status = (await reader.readline()).decode("latin-1")
        if " 200 " not in status:
            asked.fault = status.strip() or "no answer"
            return
        if path == "embeddings":
            take_vector(asked, await reader.read())
            return
        async for line in reader:
            if line.startswith(b"data: {"):
                take(asked, json.loads(line[6:]))
            if asked.cancel_at and len(asked.times) >= asked.cancel_at:
                asked.is_cancelled = True
                return
        if not asked.finish and not asked.fault:
            asked.fault = "the stream ended before the answer"
    except (OSError, ValueError, KeyError) as error:
        asked.fault = f"{type(error).__name__}: {error}"
    finally:
        if writer:
            writer.close()


def take(asked, event):
    """An event of a stream."""
    if "error" in event:
        asked.fault = str(event["error"].get("code"))
    for choice in event.get("choices", []):
        if choice["text"]:
            asked.times.append(time.perf_counter())
            asked.text += choice["text"]
        asked.finish = choice["finish_reason"] or asked.finish
    asked.tokens = (event.get("usage") or {}).get("completion_tokens",
                                                  asked.tokens)


def take_vector(asked, answer):
    """What is behind the status line: its text is the numbers' own."""
    made = json.loads(answer.split(b"\r\n\r\n", 1)[1])
    asked.text = json.dumps(made["data"][0]["embedding"])
    asked.times.append(time.perf_counter())
    asked.tokens = made["usage"]["prompt_tokens"]


async def run(options, requests):
    """Seconds that all of them took. At a rate they come as independent
    clients do, whether or not the server keeps up: latency counts from when a
    request was due. With clients each asks again once it is answered."""
    url = urlsplit(options.url)
    began = time.perf_counter()
    if options.rate:
        draw, due, tasks = random.Random(options.seed + 1), began, []
        for asked in requests:
            due += draw.expovariate(options.rate)
            asked.due = due
            await asyncio.sleep(max(0, due - time.perf_counter()))
            tasks.append(asyncio.ensure_future(ask(url, asked, options.key)))
        await asyncio.gather(*tasks)
    else:
        left = iter(requests)

        async def client():
            for asked in left:
                asked.due = time.perf_counter()
                await ask(url, asked, options.key)
        await asyncio.gather(*(client() for _ in range(options.clients)))
    return time.perf_counter() - began


def quantile(values, at):
    """By interpolation; None of none."""
    if not values:
        return None
    values = sorted(values)
    place = at * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def report(options, requests, seconds):
    """What is told of a run, as JSON; milliseconds."""
    whole = [each for each in requests if each.is_whole]
    first = {id(each): each.times[0] - each.due for each in whole}
    gaps = {id(each): [b - a for a, b in zip(each.times, each.times[1:])]
            for each in whole}
    tables = {"first_token": list(first.values()),
              "between_tokens": [gap for each in gaps.values()
                                 for gap in each],
              "end_to_end": [each.times[-1] - each.due for each in whole]}
    good = sum(1000 * first[id(each)] <= options.first_ms and
               1000 * (quantile(gaps[id(each)], 0.95) or 0)
               <= options.between_ms for each in whole)
    made = {"requests": len(requests), "whole": len(whole),
            "cancelled": sum(each.is_cancelled for each in requests),
            "failed": sum(bool(each.fault) for each in requests),
            "seconds": seconds,
            "tokens_per_second": sum(each.tokens for each in whole) / seconds,
            "goodput_per_second": good / seconds,
            "client_cpu_seconds": time.process_time()}
    for name, values in tables.items():
        made[name + "_ms"] = {
            f"p{round(100 * at)}": None if not values else
            1000 * quantile(values, at) for at in QUANTILES}
    return made


async def check(options, requests):
    """How many texts differ from those of each request alone."""
    differ = 0
    for each in requests:
        if each.is_whole:
            alone = Asked(each.body)
            await ask(urlsplit(options.url), alone, options.key)
            differ += (alone.text, alone.finish) != (each.text, each.finish)
    return differ


def fraction(text):
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected 0 to 1, got {text}")
    return value


def positive(text):
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"expected more than 0, got {text}")
    return value


def main():
    parser = argparse.ArgumentParser(description="Asks a server for streams or "
                                     "vectors, and says how long they took, "
                                     "as JSON.")
    parser.add_argument("url", help="http://HOST:PORT")
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--rate", type=positive, help="requests a second, at "
                        "times of a Poisson process")
    parser.add_argument("--clients", type=int, default=8,
                        help="without a rate: that ask one after the other")
    parser.add_argument("--embed", action="store_true",
                        help="vectors of texts instead of streams")
    parser.add_argument("--max-tokens", type=int, default=64)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--ignore-eos", action="store_true",
                        help="answers of all their tokens")
    parser.add_argument("--shared", type=fraction, default=0.5,
                        help="prompts that begin alike, of all")
    parser.add_argument("--system", type=int, default=1, metavar="N",
                        help="times that the common beginning is said")
    parser.add_argument("--cancel", type=fraction, default=0.0,
                        help="clients that go before the end, of all")
    parser.add_argument("--first-ms", type=float, default=500,
                        help="goodput: a request's first token by then")
    parser.add_argument("--between-ms", type=float, default=100,
                        help="goodput: 95 of 100 of its others by then")
    parser.add_argument("--check", action="store_true", help="asks again one "
                        "by one, and compares the texts")
    parser.add_argument("--model")
    parser.add_argument("--key", default="")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    requests = make_requests(options)
    made = report(options, requests, asyncio.run(run(options, requests)))
    if options.check:
        made["differ_from_alone"] = asyncio.run(check(options, requests))
    for fault in sorted({each.fault for each in requests if each.fault}):
        print(f"serve_load: {fault}", file=sys.stderr)
    print(json.dumps(made, indent=1))
    return 1 if made["failed"] or made.get("differ_from_alone") else 0


if __name__ == "__main__":
    sys.exit(main())
