# A process that serves, as the tests of the server use it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import signal
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

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
