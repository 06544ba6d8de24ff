# Clients as they are, each with a request that is right and one that is wrong.
# Those whose packages are not there are passed over by name.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

import shared
import tfcompiler as tfc
from grammar_test import HAS_GRAMMARS
from serving import Served, Stories, word_folder
from tools_test import TEMPLATE, TOOL, USER

PROMPT = "Once upon a time"
TEXTS = ["w4 w5 w6", "w7", "w8 w9"]
SIZES = {"type": "object", "title": "Box", "description": "one", "properties": {
    "size": {"type": "string", "enum": ["small", "large"]}},
    "required": ["size"], "additionalProperties": False}


def imported(test, name):
    try:
        return __import__(name)
    except ImportError as error:
        test.skipTest(str(error))


class OfStories(Stories):
    template = TEMPLATE

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.alone = shared.stories().chat(
            USER, template={"chat_template": TEMPLATE}, max_new_tokens=12)

    def test_langchain(self):
        langchain = imported(self, "langchain_openai")
        words = dict(base_url=self.server.url + "/v1", api_key="k",
                     model="stories-tiny")
        chat = langchain.ChatOpenAI(max_tokens=12, **words)
        self.assertEqual(chat.invoke("is it warm?").content, self.alone)
        self.assertEqual("".join(piece.content for piece in chat.stream(
            "is it warm?")), self.alone)
        if HAS_GRAMMARS:
            chat = langchain.ChatOpenAI(max_tokens=120, **words)
            made = chat.with_structured_output(
                SIZES, method="json_schema").invoke("is it warm?")
            self.assertIn(made["size"], ("small", "large"))
            made = chat.bind_tools([TOOL], tool_choice="weather").invoke(
                "is it warm?")
            self.assertEqual(made.tool_calls[0]["name"], "weather")
            self.assertIn(made.tool_calls[0]["args"]["city"],
                          ("Rome", "Oslo"))
        with self.assertRaisesRegex(Exception, "expected at most 512"):
            langchain.ChatOpenAI(max_tokens=9999, **words).invoke("hi")

    def test_huggingface_hub(self):
        hub = imported(self, "huggingface_hub")
        client = hub.InferenceClient(self.server.url)
        made = client.chat_completion(USER, max_tokens=12)
        self.assertEqual(made.choices[0].message.content, self.alone)
        self.assertEqual("".join(
            piece.choices[0].delta.content or "" for piece in
            client.chat_completion(USER, max_tokens=12, stream=True)),
            self.alone)
        if HAS_GRAMMARS:
            made = client.chat_completion(USER, max_tokens=60, response_format={
                "type": "json_schema", "json_schema": {
                    "name": "Box", "schema": SIZES}})
            self.assertIn(json.loads(made.choices[0].message.content)["size"],
                          ("small", "large"))
        with self.assertRaises(hub.errors.HfHubHTTPError) as raised:
            client.chat_completion(USER, max_tokens=9999)
        self.assertEqual(raised.exception.response.status_code, 400)

    def test_curl(self):
        curl = shutil.which("curl")
        if not curl:
            self.skipTest("no curl")

        def ask(body, path="/v1/chat/completions"):
            return subprocess.run(
                [curl, "-sSN", "-w", "\n%{http_code}", self.server.url + path,
                 "-H", "content-type: application/json", "-d", body],
                capture_output=True, text=True, timeout=60).stdout
        body = {"messages": USER, "max_tokens": 12}
        made, status = ask(json.dumps(body)).rsplit("\n", 1)
        self.assertEqual((status, json.loads(made)["choices"][0]["message"]
                          ["content"]), ("200", self.alone))
        lines = ask(json.dumps({**body, "stream": True})).split("\n\n")
        self.assertEqual(lines[-2:], ["data: [DONE]", "\n200"])
        self.assertEqual("".join(
            json.loads(line[6:])["choices"][0]["delta"].get("content", "")
            for line in lines[:-2]), self.alone)
        made, status = ask('{"messages": [').rsplit("\n", 1)
        self.assertEqual((status, json.loads(made)["error"]["code"]),
                         ("400", "invalid_json"))


class OfEncoders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        folders = [word_folder(cls.scratch.name, name) for name in (
            "sentence-mean", "bert-regression")]
        cls.vectors = tfc.SentenceEncoder(tfc.compile(
            folders[0], target="cpu")).encode(TEXTS)
        cls.server = Served(*folders).__enter__()
        with Served(*folders[1:]) as server:  # its scores, and one alone
            cls.classes = server.ask("/predict", inputs=TEXTS[0])
            cls.hub_classes = cls.by_hub(server)
        assert server.status == 0, server.status

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.scratch.cleanup()
        assert cls.server.status == 0, cls.server.status

    @staticmethod
    def by_hub(server):
        try:
            import huggingface_hub
        except ImportError:
            return None
        return huggingface_hub.InferenceClient(server.url
                                               ).text_classification(TEXTS[0])

    def test_huggingface_hub(self):
        hub = imported(self, "huggingface_hub")
        for address in ("", "/embed"):
            client = hub.InferenceClient(self.server.url + address)
            np.testing.assert_array_equal(
                np.float32(client.feature_extraction(TEXTS[0])),
                self.vectors[:1])
        client = hub.InferenceClient(self.server.url)
        np.testing.assert_allclose(client.sentence_similarity(
            TEXTS[0], other_sentences=TEXTS), self.vectors @ self.vectors[0],
            0, 1e-6)
        self.assertEqual([(each.label, each.score)
                          for each in self.hub_classes],
                         [(each["label"], each["score"])
                          for each in self.classes])
        for text, words, status in (("w4 " * 99, {}, 413),
                                    ("w4", {"prompt_name": "x"}, 400)):
            with self.assertRaises(hub.errors.HfHubHTTPError) as raised:
                client.feature_extraction(text, **words)
            self.assertEqual(raised.exception.response.status_code, status)

    def test_langchain(self):
        langchain = imported(self, "langchain_openai")
        words = dict(base_url=self.server.url + "/v1", api_key="k",
                     model="sentence-mean", check_embedding_ctx_length=False)
        made = langchain.OpenAIEmbeddings(**words).embed_documents(TEXTS)
        np.testing.assert_array_equal(np.float32(made), self.vectors)
        with self.assertRaisesRegex(Exception, "dimensions"):
            langchain.OpenAIEmbeddings(dimensions=3, **words).embed_query("w4")

    def test_cohere(self):
        cohere = imported(self, "cohere")
        client = cohere.ClientV2("k", base_url=self.server.url)
        made = client.embed(texts=TEXTS, model="sentence-mean",
                            input_type="search_document",
                            embedding_types=["float"])
        np.testing.assert_array_equal(np.float32(made.embeddings.float_),
                                      self.vectors)
        made = client.rerank(model="bert-regression", query="w20",
                             documents=TEXTS, top_n=2)
        self.assertEqual([each.index for each in made.results],
                         [each["index"] for each in self.ranked()[:2]])
        with self.assertRaisesRegex(Exception, "model_not_found"):
            client.rerank(model="none", query="w20", documents=TEXTS)

    def ranked(self, path="/v2/rerank", **words):
        """What is answered to what cohere's client was recorded to send."""
        return self.server.ask(path, **{
            "model": "bert-regression", "query": "w20", "documents": TEXTS,
            **words})["results"]

    def test_what_coheres_clients_send(self):
        found = self.ranked(top_n=3)
        older = self.ranked("/v1/rerank", return_documents=True,
                            documents=[{"text": text} for text in TEXTS],
                            max_chunks_per_doc=1)
        self.assertEqual([(each["index"], each["relevance_score"])
                          for each in older],
                         [(each["index"], each["relevance_score"])
                          for each in found])
        self.assertEqual([each["document"]["text"] for each in older],
                         [TEXTS[each["index"]] for each in found])
        status, made, _ = self.server.post("/v2/rerank", {
            "model": "bert-regression", "query": "w20", "documents": [3]})
        self.assertEqual((status, made["error"]["param"]),
                         (400, "/documents/0"))

    def test_likeness_is_of_texts(self):
        status, made, _ = self.server.post("/", {"inputs": {
            "source_sentence": "w4"}})
        self.assertEqual(status, 400)
        self.assertIn("/inputs/sentences", made["error"])
