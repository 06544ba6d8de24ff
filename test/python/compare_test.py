# Whether answers depend on who else asks: of a folder, of servers that keep the
# law, and of one that does not.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import base64
import contextlib
import http.server
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import types
import unittest
from pathlib import Path

import shared
import tfcompiler as tfc
from tfcompiler import _compare

TEXTS = ["Once upon a time", "Once upon a time there was a frog", "The rain",
         "One night the wind blew", "a"]


class Server(http.server.ThreadingHTTPServer):
    """Answers with a text's length; with `breaks`, otherwise while another
    request is here."""

    daemon_threads = True

    def __init__(self, breaks):
        super().__init__(("127.0.0.1", 0), Handler)
        self.breaks, self.here, self.lock = breaks, 0, threading.Lock()
        self.gate = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(
            self.headers["content-length"])))
        text = body.get("input") or body.get("prompt") or \
            body["messages"][0]["content"]
        server = self.server
        with server.lock:
            server.here += 1
            crowd = server.here
        # Whoever comes while another one is here sees that.
        server.gate.wait(0.02)
        value = len(text) + (crowd > 1 and server.breaks)
        with server.lock:
            server.here -= 1
        if self.path == "/v1/embeddings":
            made = {"data": [{"embedding": base64.b64encode(
                struct.pack("<f", value)).decode()}]}
        elif self.path == "/v1/chat/completions":
            made = {"choices": [{"message": {"content": f"say {value}"}}]}
        else:
            made = {"choices": [{"text": f"say {value}"}]}
        data = json.dumps({"odd": 1} if "odd" in text else made).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Batches(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.texts = Path(self.folder.name, "texts")
        self.texts.write_text("\n".join(TEXTS) + "\n\n")

    def run_with(self, **words):
        """Exit status and what is printed."""
        options = types.SimpleNamespace(**{
            "folder": None, "texts": self.texts, "url": None, "kind": None,
            "model": "", "api_key_variable": "NO_KEY", "mixtures": 4,
            "at_once": 8, "max_tokens": 12, "seed": 3, "target": "cpu",
            "dtype": None, **words})
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = _compare.run(options)
        return status, out.getvalue()

    def test_of_a_decoder(self):
        status, said = self.run_with(folder=shared.stories().folder)
        self.assertEqual((status, said[-10:]), (0, " 0 differ\n"), said)

    def test_of_an_encoder_decoder(self):
        self.assertEqual(self.run_with(folder=shared.dates().folder)[0], 0)

    def test_of_an_encoder(self):
        model = shared.golden("bert-model")
        texts = ["one", "two words", "a longer text", "x"]
        with tfc.Scheduler(model) as one, tfc.Scheduler(
                model, max_batch_tokens=20) as many:
            found = _compare.compare(
                _compare._of_model(model, one, texts, None),
                _compare._of_model(model, many, texts, None), len(texts),
                mixtures=5, at_once=9, seed=1)
        self.assertGreater(found.answers, 5)
        self.assertEqual(found.differing, [])

    def serve(self, breaks):
        server = Server(breaks)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def test_of_a_server_that_keeps_the_law(self):
        server = self.serve(breaks=False)
        for kind in (None, "chat", "embeddings"):
            self.assertEqual(self.run_with(url=server.url + "/", kind=kind)[0],
                             0)

    def test_of_one_that_does_not(self):
        server = self.serve(breaks=True)
        for kind in ("completions", "embeddings"):
            status, said = self.run_with(url=server.url, kind=kind)
            self.assertEqual(status, 1)
            self.assertIn("is the first that differs", said)
            self.assertNotIn(" 0 differ", said)

    def test_wrong_input_is_named(self):
        server = self.serve(breaks=False)
        for words, expected in (
                ({}, "expected a folder or --url, got neither"),
                ({"folder": "x", "url": "y"}, "got both"),
                ({"folder": "x", "kind": "chat"}, "--kind"),
                ({"folder": "x", "at_once": 0}, "--at-once: expected 1 or "),
                ({"folder": "x", "texts": Path("none")}, "none: expected tex"),
                ({"url": "http://127.0.0.1:1"}, "expected an answer, got"),
                ({"url": "nowhere"}, "expected an answer, got")):
            with self.assertRaisesRegex(tfc.Error, expected):
                self.run_with(**words)
        self.texts.write_text("\n\n")
        with self.assertRaisesRegex(tfc.Error, "one a line, got none"):
            self.run_with(folder="x")
        self.texts.write_text("odd\n")
        with self.assertRaisesRegex(tfc.Error, "expected OpenAI's answer"):
            self.run_with(url=server.url)

    def test_is_a_command(self):
        run = subprocess.run(
            [sys.executable, "-B", "-m", "tfcompiler", "compare-batches",
             "--texts", "none", "--url", "x"], capture_output=True, text=True,
            timeout=60, env=dict(os.environ))
        self.assertEqual(run.returncode, 1)
        self.assertTrue(run.stderr.startswith(
            "tfcompiler: error: none: expected texts"), run.stderr)


if __name__ == "__main__":
    unittest.main()
