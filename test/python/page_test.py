# The page of a server, drawn and used in Chromium; skips where there is none.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import tempfile
import unittest

import shared
from browser import Browser, find_browser
from serving import Served, word_folder

PROMPT = "Once upon a time"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not find_browser():
            raise unittest.SkipTest("no Chromium here to draw the page")
        try:
            cls.browser = Browser(find_browser())
        except OSError as error:
            raise unittest.SkipTest(f"a Chromium that draws nothing: {error}")
        cls.scratch = tempfile.TemporaryDirectory()
        template = os.path.join(cls.scratch.name, "chat.jinja")
        with open(template, "w") as stream:
            stream.write("{% for m in messages %}{{ m.content }} {% endfor %}")
        cls.server = Served(
            os.path.join(shared.MODELS, "stories-tiny"),
            word_folder(cls.scratch.name, "sentence-mean"),
            "--chat-template", template).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.browser.__exit__()
        cls.scratch.cleanup()
        assert cls.server.status == 0, cls.server.status

    def setUp(self):
        self.browser.open(self.server.url + "/")
        self.browser.until("document.getElementById('model').length === 2")

    def fill(self, **values):
        for name, value in values.items():
            self.browser.value(f"at('{name}').value = {json.dumps(value)}")

    def ask(self):
        """What the page shows when the answer is whole."""
        self.browser.value("at('ask').click()")
        self.browser.until("!at('ask').disabled")
        return self.browser.value("at('answer').textContent")

    def completion(self):
        return self.server.ask("/v1/completions", prompt=PROMPT, max_tokens=20,
                               temperature=0)["choices"][0]["text"]

    def test_goes_on_with_a_text(self):
        self.fill(tokens=20, text=PROMPT)
        self.assertEqual(self.ask(), PROMPT + self.completion())

    def test_talks(self):
        said = []
        self.fill(tokens=12, how="chat")
        for text in ("Once upon", "There was"):
            said.append({"role": "user", "content": text})
            wanted = self.server.ask(
                "/v1/chat/completions", messages=said, max_tokens=12,
                temperature=0)["choices"][0]["message"]
            self.fill(text=text)
            self.assertEqual(self.ask(), wanted["content"])
            said.append({"role": "assistant", "content": wanted["content"]})

    def test_shows_a_vector(self):
        wanted = self.server.ask("/v1/embeddings", model="sentence-mean",
                                 input="w4 w5")["data"][0]["embedding"]
        self.fill(model="sentence-mean", how="vector", text="w4 w5")
        self.assertEqual(
            self.ask(), f"{len(wanted)} numbers: "
            + ", ".join(f"{value:.4f}" for value in wanted[:12]) + ", ...")

    def test_shows_what_is_wrong(self):
        self.fill(tokens=-1)
        self.assertIn("/max_tokens", self.ask())

    def test_counts(self):
        self.fill(tokens=20)
        self.ask()
        self.browser.until("/generation tokens total: [1-9]/.test("
                           "at('counters').textContent)")


if __name__ == "__main__":
    unittest.main()
