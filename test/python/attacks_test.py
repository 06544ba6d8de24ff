# Requests that mean harm: an error each, in bounded time, and whoever asks
# beside them gets what they always get. All of it stays on this machine.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import concurrent.futures
import contextlib
import itertools
import json
import os
import select
import shutil
import socket
import tempfile
import time
import unittest

import shared
from grammar_test import HAS_GRAMMARS
from serving import Served

PROMPT = "Once upon a time"
# A folder's template is a stranger's program, which the last message chooses.
TEMPLATE = """{% set c = messages[-1].content %}
{% if c == 'memory' %}{{ 'a' * 10000000000 }}
{% elif c == 'text' %}{% for i in range(10000000) %}aaaaaaaaaaaaaaaaaaaa{%
endfor %}
{% elif c == 'python' %}{{ ''.__class__.__mro__[1].__subclasses__() }}
{% elif c == 'file' %}{% include '/etc/passwd' %}
{% elif c == 'deep' %}{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}
{% elif c == 'raise' %}{{ raise_exception('no ' ~ c) }}
{% elif c == 'zero' %}{{ 1 // 0 }}
{% else %}{{ c }}{% endif %}"""


class Attacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alone = shared.stories().generate(PROMPT, max_new_tokens=30)
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = os.path.join(cls.scratch.name, "stranger")
        shutil.copytree(os.path.join(shared.MODELS, "stories-tiny"),
                        cls.folder)
        with open(os.path.join(cls.folder, "chat_template.jinja"),
                  "w") as stream:
            stream.write(TEMPLATE)
        cls.server = Served(cls.folder, "--header-timeout", "2").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.scratch.cleanup()
        assert cls.server.status == 0, cls.server.status

    def tearDown(self):
        self.assertEqual(self.answer(), self.alone)

    def answer(self):
        return self.server.ask("/v1/completions", prompt=PROMPT,
                               max_tokens=30)["choices"][0]["text"]

    def refused(self, body, status=400, part="", path="/v1/completions"):
        got, made, _ = self.server.post(path, body)
        self.assertEqual(got, status, made)
        self.assertIn(part, made["error"]["message"])
        self.assertLess(len(made["error"]["message"]), 1000)
        self.assertNotIn(self.scratch.name, json.dumps(made))
        self.assertNotIn("Traceback", json.dumps(made))

    def connect(self):
        host, port = self.server.url.split("//")[1].split(":")
        made = socket.create_connection((host, int(port)), 60)
        self.addCleanup(made.close)
        return made

    def test_bodies_of_a_gigabyte(self):
        """Announced, or in chunks without end: told before it is there."""
        part = b"a" * (1 << 20)
        for head, piece in (
                (b"content-length: 1073741824", part),
                (b"transfer-encoding: chunked", b"100000\r\n" + part
                 + b"\r\n")):
            connection = self.connect()
            connection.sendall(b"POST /v1/completions HTTP/1.1\r\nhost: a\r\n"
                               + head + b"\r\n\r\n")
            sent = 0
            try:
                while sent < 1024:
                    connection.sendall(piece)
                    sent += 1
            except OSError:
                pass  # it hears no more
            self.assertLess(sent, 128)

    def test_headers_without_end(self):
        """Ten thousand; a long one; one letter at a time, before the first
        answer and behind one; and nothing at all."""
        connection = self.connect()
        with contextlib.suppress(OSError):  # it hears no more
            connection.sendall(b"GET /health HTTP/1.1\r\n"
                               + b"a: b\r\n" * 10000)
        self.assertIn(b" 4", connection.recv(100))
        for head, status in ((b"a: " + b"b" * 20000, b" 431 "),
                             (b"a: " + b"b" * 20000 + b"\r\n\r\n", b" 400 "),
                             (b"a: " + b"b" * 9000 + b"\r\n\r\n", b" 200 ")):
            connection = self.connect()
            connection.sendall(b"GET /health HTTP/1.1\r\n" + head)
            self.assertIn(status, connection.recv(100))
        slow = [self.connect() for _ in range(40)]
        slow[0].sendall(b"GET /health HTTP/1.1\r\nhost: a\r\n\r\n")
        self.assertIn(b" 200 ", slow[0].recv(1000))
        ended = {}
        end = time.monotonic() + 60
        for letter in itertools.cycle(b"GET /health HTTP/1.1\r\na:"):
            self.assertLess(time.monotonic(), end,
                            f"{len(slow)} connections are still there")
            for each in set(slow[:-1]) - set(ended):
                with contextlib.suppress(OSError):
                    each.sendall(bytes([letter]))
            for each in select.select(slow, [], [], 0.2)[0]:
                try:
                    found = each.recv(1000)
                except ConnectionResetError:  # it wrote on
                    found = b""
                if found:
                    ended[each] = ended.get(each, b"") + found
                else:
                    slow.remove(each)
            self.assertEqual(self.server.get("/health/live"),
                             '{"status":"alive"}')
            if not slow:
                break
        self.assertEqual(len(ended), 40)
        for found in ended.values():
            self.assertIn(b" 408 ", found)
            self.assertIn(b"within 2 seconds", found)

    def test_bodies_that_say_one_thing_and_are_another(self):
        for head in (b"content-length: -1", b"content-length: 1e9",
                     b"content-length: 5\r\ncontent-length: 6",
                     b"transfer-encoding: gzip",
                     b"content-length: 99999999999999999999999999"):
            connection = self.connect()
            connection.sendall(b"POST /v1/completions HTTP/1.1\r\nhost: a\r\n"
                               + head + b"\r\n\r\n{}")
            connection.shutdown(socket.SHUT_WR)
            found = connection.recv(100)
            self.assertTrue(not found or b" 4" in found, found)

    def test_json_that_is_deep_or_wide(self):
        for body, part in (
                (b"[" * 10000 + b"]" * 10000, "body"),
                (b'{"a":' * 10000 + b"1" + b"}" * 10000, "body"),
                (b'{"prompt":"a","max_tokens":' + b"9" * 5000 + b"}", "JSON"),
                (b'{"prompt":"a","max_tokens":1e999}', "/max_tokens"),
                (json.dumps({"a" * 1000000: 1}).encode(), "field"),
                (json.dumps({f"k{n}": n for n in range(200000)}).encode(),
                 "field"),
                (b'{"prompt":"\\ud800"}', "/prompt")):
            self.refused(body, part=part)

    def test_a_million_of_something(self):
        self.refused({"prompt": "a", "stop": ["a"] * 10**6}, 413)
        self.refused(b'{"prompt":"a","stop":['
                     + b",".join([b'"a"'] * 10**6) + b"]}", part="/stop")
        self.refused({"prompt": ["a"] * 100000}, part="/prompt")
        self.refused({"prompt": [5] * 1000000}, part="512")
        self.refused({"messages": [{"role": "user", "content": "a"}] * 50000},
                     part="/messages", path="/v1/chat/completions")
        self.refused({"prompt": "a", "logit_bias": {
            str(n): 1 for n in range(100000)}}, part="logit_bias")

    def test_numbers_that_are_none(self):
        for bias in (b'{"5":NaN}', b'{"5":Infinity}', b'{"5":1e999}',
                     b'{"5":"nan"}', b'{"5":null}', b'{"-1":1}', b'{"1e9":1}',
                     b'{"99999999999":1}', b'{"5":101}', b'[1]'):
            self.refused(b'{"prompt":"a","logit_bias":' + bias + b"}")
        for prompt in ([-1], [2**31], [2**63], [10**30], [259], [1.5], [True],
                       [None], [[1], [2, 10**9]]):
            self.refused({"prompt": prompt})
        for words in ({"seed": 2**64}, {"n": 0}, {"n": 2**40},
                      {"max_tokens": 2**62}, {"deadline_ms": 0},
                      {"priority": 10**9}, {"temperature": -1},
                      {"top_p": 1.1}, {"top_k": 2**40}, {"logprobs": 10**6},
                      {"repetition_penalty": 0}):
            self.refused({"prompt": "a", **words})

    def test_templates_of_strangers(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for what in ("memory", "text", "python", "file", "deep", "raise",
                         "zero"):
                beside = pool.submit(self.answer)
                self.refused({"messages": [{"role": "user", "content": what}]},
                             part="template", path="/v1/chat/completions")
                self.assertEqual(beside.result(), self.alone)
        self.refused({"messages": [{"role": "user", "content": "a"}],
                      "chat_template": "{{ 1 }}"}, part="chat_template",
                     path="/v1/chat/completions")
        self.server.ask("/v1/chat/completions", max_tokens=3, messages=[
            {"role": "user", "content": "a"}])

    @unittest.skipUnless(HAS_GRAMMARS, "no llguidance, which grammars need")
    def test_grammars_without_end(self):
        self.refused({"prompt": "a", "guided_json": {
            "anyOf": [{"$ref": "#"}] * 2}}, part="followed")
        for words in ({"guided_regex": "(" * 5000 + ")" * 5000},
                      {"guided_regex": "((a{0,1000}){0,1000}){0,1000}"},
                      {"guided_regex": "(?=a)b"},
                      {"guided_json": {"type": "array", "items": {
                          "type": "array", "minItems": 10**9}}}):
            got, made, _ = self.server.post("/v1/completions", {
                "prompt": "a", "max_tokens": 4, **words})
            # Refused, or as long as it may be: not a fault.
            self.assertIn(got, (200, 400), made)

    def test_many_that_go_at_once(self):
        body = json.dumps({"prompt": PROMPT, "max_tokens": 400,
                           "stream": True}).encode()
        for cut in range(0, 60, 2):
            connection = self.connect()
            connection.sendall(b"POST /v1/completions HTTP/1.1\r\nhost: a\r\n"
                               b"content-length: %d\r\n\r\n" % len(body)
                               + body[:cut if cut % 4 else None])
            connection.close()
