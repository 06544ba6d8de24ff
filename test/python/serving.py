# A process that serves, as the tests of the server use it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

import shared

try:
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    raise unittest.SkipTest(f"{error} (tfcompiler serve needs it)")


class Served:
    """A process that serves folders; `with` ends it by SIGTERM."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-m", "tfcompiler", "serve", "--port", "0",
             "--target", "cpu", *words], stdout=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline()
        self.url = self.line.split(" ")[0]

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.process.send_signal(signal.SIGTERM)
        self.status = self.process.wait(60)
        self.process.stdout.close()

    def post(self, path, body, **headers):
        """Status, what is answered, headers."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data,
            {"content-type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=60) as found:
                return found.status, json.load(found), found.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error), error.headers

    def ask(self, path, **body):
        """What is answered to what is right."""
        status, made, _ = self.post(path, body)
        assert status == 200, made
        return made

    def stream(self, path, **body):
        """The objects of a stream, and its last line."""
        request = urllib.request.Request(
            self.url + path, json.dumps({**body, "stream": True}).encode(),
            {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as found:
            lines = [line[6:] for line in found.read().decode().split("\n\n")
                     if line.startswith("data: ")]
        return [json.loads(line) for line in lines[:-1]], lines[-1]

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as found:
            return found.read().decode()


class Stories(unittest.TestCase):
    """Tests of examples/models that are served with a chat template."""

    template = ""
    models = ("stories-tiny",)

    @classmethod
    def setUpClass(cls):
        shared.stories(), shared.dates()  # compiled, as the server finds them
        cls.scratch = tempfile.TemporaryDirectory()
        template = os.path.join(cls.scratch.name, "chat.jinja")
        with open(template, "w") as stream:
            stream.write(cls.template)
        cls.server = Served(
            *(os.path.join(shared.MODELS, name) for name in cls.models),
            "--chat-template", template).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.scratch.cleanup()
        assert cls.server.status == 0, cls.server.status

    def refused(self, path, body, status, code, part):
        """The error, and the headers, of what is wrong."""
        got, made, headers = self.server.post(path, body)
        self.assertEqual(got, status, made)
        self.assertEqual(made["error"]["code"], code)
        self.assertIn(part, made["error"]["message"])
        return made["error"], headers


def word_folder(scratch, golden, named=None):
    """A golden model's folder with a tokenizer of a word a token; named: ids of
    special tokens that have names of their own."""
    named = named or {}
    made = os.path.join(scratch, golden)
    shutil.copytree(os.path.join(shared.GOLDEN, golden), made)
    with open(os.path.join(made, "config.json")) as stream:
        size = json.load(stream)["vocab_size"]
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    names += [named.get(number, f"w{number}") for number in range(4, size)]
    special = {"[CLS]": 2, "[SEP]": 3}

    def piece(name, type_id):
        kind = "SpecialToken" if name in special else "Sequence"
        return {kind: {"id": name, "type_id": type_id}}
    first = [piece("[CLS]", 0), piece("A", 0), piece("[SEP]", 0)]
    with open(os.path.join(made, "tokenizer.json"), "w") as stream:
        json.dump({
            "version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [
                {"id": id, "content": name, "special": True, "lstrip": False,
                 "rstrip": False, "normalized": False, "single_word": False}
                for id, name in named.items()], "normalizer": None,
            "pre_tokenizer": {"type": "WhitespaceSplit"},
            "post_processor": {
                "type": "TemplateProcessing", "single": first,
                "pair": first + [piece("B", 1), piece("[SEP]", 1)],
                "special_tokens": {
                    name: {"id": name, "ids": [id], "tokens": [name]}
                    for name, id in special.items()}},
            "decoder": None,
            "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {
                name: id for id, name in enumerate(names)}}}, stream)
    return made
