# The server as its clients see it: over HTTP, on a port of its own.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import asyncio
import base64
import concurrent.futures
import gc
import hashlib
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

import numpy as np

import shared
import tfcompiler as tfc
from serving import Served, Stories, word_folder

TEMPLATE = """{% for m in messages %}{{ m.role }}: {{ m.content }}
{% endfor %}{% if add_generation_prompt %}teller:{% endif %}"""
PROMPT = "Once upon a time"


class Tasks(unittest.TestCase):
    """Of clients that go: nobody complains that nobody listened."""

    def test_are_heard_though_they_are_over(self):
        from tfcompiler.serve._stream import _end
        said = []

        async def fail():
            raise StopAsyncIteration

        async def last():
            asyncio.get_running_loop().set_exception_handler(
                lambda loop, what: said.append(what))
            for waits in (False, True):
                task = asyncio.ensure_future(asyncio.sleep(9) if waits
                                             else fail())
                await asyncio.sleep(0)
                await _end(task)
                self.assertTrue(task.done())
                del task
            gc.collect()
            await asyncio.sleep(0)
        asyncio.run(last())
        self.assertEqual(said, [])


class Writers(Stories):
    template = TEMPLATE
    models = ("stories-tiny", "dates-iso")

    def test_a_text_goes_on_as_alone(self):
        alone = shared.stories().generate(PROMPT, max_new_tokens=30)
        made = self.server.ask("/v1/completions", prompt=PROMPT,
                               max_tokens=30, logprobs=2)
        choice = made["choices"][0]
        self.assertEqual(choice["text"], alone)
        self.assertEqual(choice["finish_reason"], "length")
        self.assertEqual("".join(choice["logprobs"]["tokens"]), alone)
        self.assertEqual(made["usage"]["completion_tokens"], 30)
        chunks, last = self.server.stream(
            "/v1/completions", prompt=PROMPT, max_tokens=30,
            stream_options={"include_usage": True})
        self.assertEqual(last, "[DONE]")
        self.assertEqual("".join(
            chunk["choices"][0]["text"] for chunk in chunks[:-1]), alone)
        self.assertEqual(chunks[-1]["usage"], {
            **made["usage"], "prompt_tokens_details":
                chunks[-1]["usage"]["prompt_tokens_details"]})
        made = self.server.ask("/v1/completions", model="dates-iso",
                               prompt="3 May 1999", temperature=0)
        self.assertEqual(made["choices"][0]["text"],
                         shared.dates().generate("3 May 1999", num_beams=1))

    def test_beams_are_those_of_generate(self):
        model = shared.stories()
        alone = model.generate(PROMPT, max_new_tokens=20, num_beams=3,
                               num_return_sequences=2, length_penalty=0.5)
        words = dict(prompt=PROMPT, max_tokens=20, n=2, length_penalty=0.5)
        for how in (dict(num_beams=3), dict(use_beam_search=True, best_of=3)):
            made = self.server.ask("/v1/completions", **words, **how)
            self.assertEqual([choice["text"] for choice in made["choices"]],
                             alone)
            self.assertEqual(made["choices"][0]["finish_reason"], "length")
        chunks, last = self.server.stream("/v1/completions", **words,
                                          num_beams=3)
        texts = ["", ""]
        for chunk in chunks:
            for choice in chunk["choices"]:
                texts[choice["index"]] += choice["text"]
        self.assertEqual((texts, last), (alone, "[DONE]"))
        for how, field in ((dict(num_beams=3, stop="x"), "/stop"),
                           (dict(num_beams=3, logprobs=0), "/logprobs"),
                           (dict(num_beams=2, n=3), "/n"),
                           (dict(length_penalty=1.5), "/length_penalty"),
                           (dict(num_beams=65), "/num_beams"),
                           (dict(best_of=3), "/best_of")):
            status, made, _ = self.server.post(
                "/v1/completions", {"prompt": PROMPT, **how})
            self.assertEqual((status, made["error"]["param"]), (400, field))

    def test_a_stop_is_cut_off_wherever_tokens_are(self):
        alone = shared.stories().generate(PROMPT, max_new_tokens=60)
        stop = alone[9:13]
        words = dict(prompt=PROMPT, max_tokens=60, stop=["no such", stop])
        until = alone[:alone.index(stop)]
        made = self.server.ask("/v1/completions", **words)
        self.assertEqual(made["choices"][0]["text"], until)
        self.assertEqual(made["choices"][0]["finish_reason"], "stop")
        chunks, _ = self.server.stream("/v1/completions", **words)
        self.assertEqual("".join(
            chunk["choices"][0]["text"] for chunk in chunks), until)
        made = self.server.ask("/v1/completions", **words,
                               include_stop_str_in_output=True)
        self.assertEqual(made["choices"][0]["text"], until + stop)

    def test_answers_do_not_depend_on_who_else_asks(self):
        bodies = [dict(prompt=[PROMPT, "One night"][i % 2], n=1 + i % 3,
                       max_tokens=20 + i, temperature=1, seed=i, logprobs=1)
                  for i in range(12)]
        alone = [self.server.ask("/v1/completions", **body)["choices"]
                 for body in bodies]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            together = list(pool.map(lambda body: self.server.ask(
                "/v1/completions", **body)["choices"], bodies * 3))
        self.assertEqual(together, alone * 3)

    def test_a_drawn_answer_can_be_asked_for_again(self):
        body = dict(prompt=PROMPT, max_tokens=20, temperature=1)
        _, made, headers = self.server.post("/v1/completions", body)
        again = self.server.ask("/v1/completions", **body,
                                seed=int(headers["x-tfc-seed"]))
        self.assertEqual(again["choices"], made["choices"])

    def test_chats(self):
        messages = [{"role": "user", "content": [
            {"type": "text", "text": "a story, please"}]}]
        expected = shared.stories().chat(
            [{"role": "user", "content": "a story, please"}],
            template={"chat_template": TEMPLATE}, max_new_tokens=25)
        words = dict(messages=messages, max_completion_tokens=25,
                     logprobs=True, top_logprobs=2)
        made = self.server.ask("/v1/chat/completions", **words)
        choice = made["choices"][0]
        self.assertEqual(choice["message"]["content"], expected)
        self.assertEqual(len(choice["logprobs"]["content"]), 25)
        self.assertEqual(
            bytes(byte for each in choice["logprobs"]["content"]
                  for byte in each["bytes"]).decode(), expected)
        chunks, _ = self.server.stream("/v1/chat/completions", **words)
        self.assertEqual(chunks[0]["choices"][0]["delta"]["role"],
                         "assistant")
        self.assertEqual("".join(
            chunk["choices"][0]["delta"].get("content", "")
            for chunk in chunks), expected)

    def test_wrong_requests_are_refused_by_name(self):
        at = "/v1/completions"
        error, _ = self.refused(at, {"prompt": "a", "max_tokns": 1}, 400,
                                "unknown_field", "'max_tokens'")
        self.assertEqual(error["param"], "/max_tokns")
        for body, code, part in (
                ({}, "missing_field", "/prompt"),
                ({"prompt": 3}, "invalid_value", "/prompt"),
                ({"prompt": []}, "invalid_value", "/prompt"),
                ({"prompt": "a", "temperature": "1"}, "invalid_value",
                 "number"),
                ({"prompt": "a", "n": 129}, "invalid_value", "/n"),
                ({"prompt": "a", "stop": [""]}, "invalid_value", "/stop"),
                ({"prompt": "a", "stop": ["a"] * 17}, "invalid_value",
                 "/stop"),
                ({"prompt": "a", "logit_bias": {"x": 1}}, "invalid_value",
                 "/logit_bias/x"),
                ({"prompt": "a", "logit_bias": {"99999": 1}},
                 "invalid_value", "99999"),
                ({"prompt": [1, 999999]}, "invalid_value", "999999"),
                ({"prompt": "a", "suffix": "b"}, "unsupported_value",
                 "/suffix"),
                ({"prompt": "a", "response_format": {"type": "xml"}},
                 "invalid_value", "/response_format/type"),
                ({"prompt": "a", "max_tokens": 5000},
                 "context_length_exceeded", "5000"),
                ({"prompt": "\ud800"}, "invalid_value", "/prompt"),
                (b"{", "invalid_json", "JSON"),
                (b'{"prompt": NaN}', "invalid_json", "NaN"),
                (b"[" * 9999 + b"]" * 9999, "invalid_json", "body"),
                (b'{"a":' * 40 + b"1" + b"}" * 40, "invalid_json", "levels"),
                (b"\xff", "invalid_json", "JSON")):
            self.refused(at, body, 400, code, part)
        self.refused(at, {"prompt": "a", "model": "b"}, 404,
                     "model_not_found", "stories-tiny")
        self.refused(at, b" " * (4 << 20) + b"{} ", 413, "body_too_large",
                     "4194304")
        chat = "/v1/chat/completions"
        self.refused(chat, {"messages": []}, 400, "invalid_value",
                     "/messages")
        self.refused(chat, {"messages": [{"role": "user", "content": [
            {"type": "image_url"}]}]}, 400, "invalid_value",
            "/messages/0/content/0/type")
        self.refused("/v1/responses", {}, 404, "unknown_endpoint",
                     "/v1/chat/completions")
        self.refused("/v1/embeddings", {"input": "a"}, 400,
                     "unsupported_value", "vectors")
        status, made, _ = self.server.post(
            at, {"prompt": "a"}, **{"content-type": "text/plain"})
        self.assertEqual((status, made["error"]["code"]),
                         (415, "json_expected"))

    def test_a_client_that_goes_harms_nobody(self):
        host = self.server.url.split("//")[1]
        for stream in (True, False):
            gone = http.client.HTTPConnection(host, timeout=60)
            gone.request("POST", "/v1/completions", json.dumps({
                "prompt": PROMPT, "max_tokens": 480, "ignore_eos": True,
                "stream": stream}), {"content-type": "application/json"})
            if stream:
                gone.getresponse().read(10)
            gone.close()
        self.test_a_text_goes_on_as_alone()

    def test_headers_without_end_harm_nobody(self):
        host = self.server.url.split("//")[1]
        many = http.client.HTTPConnection(host, timeout=60)
        with self.assertRaises((http.client.HTTPException, OSError)):
            many.request("GET", "/health", headers={
                f"x-{number}": "a" * 20 for number in range(10000)})
            # 431 where what came first was parsed and is already too much.
            self.assertIn(many.getresponse().status, (400, 431))
            raise http.client.HTTPException("refused")
        many.close()
        self.test_a_text_goes_on_as_alone()

    def test_a_body_that_does_not_come_harms_nobody(self):
        host = self.server.url.split("//")[1]
        gone = http.client.HTTPConnection(host, timeout=60)
        gone.putrequest("POST", "/v1/completions")
        gone.putheader("content-length", "100")
        gone.endheaders(b'{"prompt":')
        self.test_a_text_goes_on_as_alone()
        gone.close()
        self.test_a_text_goes_on_as_alone()

    def test_tells_of_itself(self):
        models = json.loads(self.server.get("/v1/models"))["data"]
        self.assertEqual([each["id"] for each in models],
                         ["stories-tiny", "dates-iso"])
        self.assertEqual(json.loads(self.server.get("/health")),
                         {"status": "ready"})
        self.assertIn("<title>tfc serve</title>", self.server.get("/"))
        self.server.ask("/v1/completions", prompt=PROMPT, max_tokens=3)
        lines = self.server.get("/metrics").splitlines()
        values = dict(line.rsplit(" ", 1) for line in lines
                      if not line.startswith("#"))
        self.assertGreater(float(values[
            'vllm:generation_tokens_total{model_name="stories-tiny"}']), 2)
        self.assertEqual(
            self.server.ask("/detokenize", **{"tokens": self.server.ask(
                "/tokenize", prompt="a text")["tokens"]})["prompt"], "a text")

    def test_clients_of_openai(self):
        try:
            import openai
        except ImportError as error:
            self.skipTest(str(error))
        client = openai.OpenAI(base_url=self.server.url + "/v1", api_key="k")
        self.assertEqual([each.id for each in client.models.list()],
                         ["stories-tiny", "dates-iso"])
        made = client.completions.create(
            model="stories-tiny", prompt=PROMPT, max_tokens=30, suffix=None)
        alone = shared.stories().generate(PROMPT, max_new_tokens=30)
        self.assertEqual(made.choices[0].text, alone)
        pieces = client.chat.completions.create(
            model="stories-tiny", stream=True, max_completion_tokens=9,
            messages=[{"role": "user", "content": "hi"}])
        text = "".join(piece.choices[0].delta.content or ""
                       for piece in pieces)
        self.assertTrue(text)
        with self.assertRaises(openai.BadRequestError) as raised:
            client.completions.create(model="stories-tiny", prompt=PROMPT,
                                      max_tokens=9999)
        self.assertEqual(raised.exception.code, "context_length_exceeded")
        with self.assertRaises(openai.NotFoundError):
            client.responses.create(model="stories-tiny", input="a")


class Encoders(unittest.TestCase):
    """Vectors and scores of models with random weights and a small WordPiece
    tokenizer, which is made here."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.vectors = word_folder(cls.scratch.name, "sentence-mean")
        cls.scores = word_folder(cls.scratch.name,
                                 "bert-regression")
        cls.server = Served(cls.vectors, cls.scores, "--token-inputs"
                            ).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.scratch.cleanup()
        assert cls.server.status == 0, cls.server.status

    TEXTS = ["w4 w5 w6", "w7", "w8 w9 w10 w11 w12", "w5 w5"]

    def test_vectors_are_those_of_each_text_alone(self):
        encoder = tfc.SentenceEncoder(tfc.compile(self.vectors, target="cpu"))
        alone = [encoder.encode(text).astype("<f4") for text in self.TEXTS]
        made = self.server.ask("/v1/embeddings", input=self.TEXTS,
                               encoding_format="base64")
        for each, expected in zip(made["data"], alone):
            self.assertEqual(base64.b64decode(each["embedding"]),
                             expected.tobytes())
        self.assertEqual(made["usage"]["prompt_tokens"], 11 + 8)
        floats = self.server.ask("/v1/embeddings", input=self.TEXTS[0])
        np.testing.assert_array_equal(
            np.float32(floats["data"][0]["embedding"]), alone[0])
        ids = encoder.model.tokenizer.encode(self.TEXTS[0]).ids
        for body in (ids, [ids]):
            self.assertEqual(self.server.ask("/v1/embeddings", input=body)
                             ["data"], floats["data"])
        for path in ("/embed", "/"):
            np.testing.assert_array_equal(
                np.float32(self.server.ask(path, inputs=self.TEXTS)), alone)
        made = self.server.ask("/v2/embed", texts=self.TEXTS,
                               model="sentence-mean",
                               input_type="search_query")
        np.testing.assert_array_equal(
            np.float32(made["embeddings"]["float"]), alone)

    def test_vectors_do_not_depend_on_who_else_asks(self):
        alone = [self.server.ask("/v1/embeddings", input=text)["data"]
                 for text in self.TEXTS]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            together = list(pool.map(lambda text: self.server.ask(
                "/v1/embeddings", input=text)["data"], self.TEXTS * 8))
        self.assertEqual(together, alone * 8)

    def test_texts_in_the_order_of_their_scores(self):
        model = tfc.compile(self.scores, target="cpu")
        query = "w20 w21"
        logits = model.encode([query] * 4, self.TEXTS,
                              outputs=["logits"])["logits"][:, 0]
        order = np.argsort(-logits, kind="stable").tolist()
        made = self.server.ask("/v2/rerank", model="bert-regression",
                               query=query, documents=self.TEXTS, top_n=3)
        self.assertEqual([each["index"] for each in made["results"]],
                         order[:3])
        scores = 1 / (1 + np.exp(-logits[order].astype(np.float64)))
        np.testing.assert_array_equal(
            [each["relevance_score"] for each in made["results"]], scores[:3])
        made = self.server.ask("/rerank", model="bert-regression", query=query,
                               texts=self.TEXTS, raw_scores=True,
                               return_text=True)
        self.assertEqual([each["text"] for each in made],
                         [self.TEXTS[index] for index in order])
        np.testing.assert_array_equal(
            np.float32([each["score"] for each in made]), logits[order])
        made = self.server.ask("/predict", model="bert-regression",
                               inputs=self.TEXTS[0])
        self.assertEqual(len(made), 1)

    def test_wrong_requests_are_refused_by_name(self):
        for path, body, status, part in (
                ("/v1/embeddings", {"input": "w4 " * 99}, 413, "truncate"),
                ("/v1/embeddings", {"input": ["w4"] * 2049}, 413, "2048"),
                ("/v1/embeddings", {"input": "w4", "dimensions": 3}, 400,
                 "/dimensions"),
                ("/v1/embeddings", {"input": "w4", "input_type": "x"}, 400,
                 "/input_type"),
                ("/v1/embeddings", {"input": "w4", "prompt_name": "x"}, 400,
                 "prompt_name"),
                ("/v1/embeddings", {"input": ["w4", [4]]}, 400, "/input"),
                ("/v1/embeddings", {"input": [[999999]]}, 400, "999999"),
                ("/v1/completions", {"prompt": "w4"}, 400, "generates"),
                ("/v2/rerank", {"query": "w4", "documents": []}, 400,
                 "/documents"),
                ("/v2/rerank", {"query": "w4", "documents": ["w4"]}, 400,
                 "cross-encoder")):
            got, made, _ = self.server.post(path, body)
            self.assertEqual(got, status, made)
            self.assertIn(part, made["error"]["message"])
        got, made, _ = self.server.post("/embed", {"inputs": "w4 " * 99})
        self.assertEqual((got, made["error_type"]), (413, "validation"))
        got, made, _ = self.server.post("/rerank", {"query": "w4",
                                                    "texts": ["w4"]})
        self.assertEqual((got, made["error_type"]), (424, "backend"))
        self.server.ask("/v1/embeddings", input="w4 " * 99, truncate=True)


class Commands(unittest.TestCase):
    def test_keys_say_who_may_ask(self):
        with tempfile.NamedTemporaryFile("w", suffix=".keys") as stream:
            digest = hashlib.sha256(b"a secret").hexdigest()
            stream.write(f"# who\nada:{digest}\n")
            stream.flush()
            with Served(os.path.join(shared.MODELS, "stories-tiny"),
                        "--api-key-file", stream.name) as server:
                body = {"prompt": PROMPT, "max_tokens": 3}
                for key in ({}, {"authorization": "Bearer another"},
                            {"authorization": "a secret"}):
                    status, made, _ = server.post("/v1/completions", body,
                                                  **key)
                    self.assertEqual((status, made["error"]["code"]),
                                     (401, "invalid_api_key"))
                status, _, _ = server.post(
                    "/v1/completions", body, authorization="Bearer a secret")
                self.assertEqual(status, 200)
                self.assertEqual(json.loads(server.get("/health"))["status"],
                                 "ready")
                with self.assertRaises(urllib.error.HTTPError) as raised:
                    server.get("/metrics")
                raised.exception.close()

    def test_a_signal_lets_answers_end(self):
        with Served(os.path.join(shared.MODELS, "stories-tiny")) as server:
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                body = dict(prompt=PROMPT, max_tokens=490, ignore_eos=True)
                asked = pool.submit(server.stream, "/v1/completions", **body)
                while "tfc_steps_total{model_name=\"stories-tiny\"} 0" in \
                        server.get("/metrics"):
                    pass
                server.process.send_signal(signal.SIGTERM)
                chunks, last = asked.result()
        self.assertEqual(last, "[DONE]")
        self.assertEqual(chunks[-1]["choices"][0]["finish_reason"], "length")
        self.assertEqual(server.status, 0)

    def test_what_cannot_be_served_is_said(self):
        stories = os.path.join(shared.MODELS, "stories-tiny")
        for words, part in (
                ([stories, "--host", "0.0.0.0"], "--api-key-file"),
                ([stories, stories], "--served-model-name"),
                ([stories, "--api-key-file", "/dev/null"], "keys"),
                ([stories, "--chat-template", "no/such"], "no/such"),
                (["no/such"], "no/such")):
            made = subprocess.run(
                [sys.executable, "-B", "-m", "tfcompiler", "serve", "--port",
                 "0", "--target", "cpu", *words], capture_output=True,
                text=True, timeout=120)
            self.assertEqual((made.returncode, made.stdout), (1, ""))
            self.assertIn("tfcompiler: error: ", made.stderr)
            self.assertIn(part, made.stderr)
            self.assertNotIn("Traceback", made.stderr)
