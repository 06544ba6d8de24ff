# Spans of answers, as a collector takes them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import http.server
import json
import os
import threading
import unittest

import shared
from serving import Served
from tfcompiler.serve._traces import Exporter, read_origin

STORIES = os.path.join(shared.MODELS, "stories-tiny")
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Collector:
    """Takes spans at an address of its own."""

    def __enter__(self):
        self.spans = found = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(
                    int(self.headers["content-length"])))
                for resource in body["resourceSpans"]:
                    for scope in resource["scopeSpans"]:
                        found.extend(scope["spans"])
                self.send_response(200)
                self.end_headers()

            def log_message(self, *words):
                pass
        self._server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/traces"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *raised):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def attributes(span):
    return {each["key"]: next(iter(each["value"].values()))
            for each in span["attributes"]}


class Traces(unittest.TestCase):
    def test_have_a_request_and_its_parts(self):
        with Collector() as collector:
            with Served(STORIES, "--otlp-endpoint", collector.url) as server:
                body = {"prompt": "Once upon a time", "max_tokens": 8}
                server.post("/v1/completions", body, traceparent=f"00-{TRACE}-"
                            f"{SPAN}-01")
                server.stream("/v1/completions", **body)
                server.post("/v1/completions", {"prompt": 3})
            whole = [span for span in collector.spans if span["kind"] == 2]
            self.assertEqual(len(whole), 2)
            for span in whole:
                self.assertEqual(span["name"], "POST /v1/completions")
                self.assertNotIn("status", span)
                told = attributes(span)
                self.assertEqual((told["gen_ai.request.model"], told[
                    "gen_ai.usage.output_tokens"]), ("stories-tiny", "8"))
                parts = [part for part in collector.spans
                         if part.get("parentSpanId") == span["spanId"]]
                self.assertEqual([part["name"] for part in parts],
                                 ["queue", "prefill", "decode"])
                places = [int(span["startTimeUnixNano"])] + [
                    int(part["endTimeUnixNano"]) for part in parts]
                self.assertEqual(places, sorted(places))
                self.assertEqual(places[-1], int(span["endTimeUnixNano"]))
                self.assertEqual({part["traceId"] for part in parts},
                                 {span["traceId"]})
            self.assertEqual((whole[0]["traceId"], whole[0]["parentSpanId"]),
                             (TRACE, SPAN))
            self.assertNotEqual(whole[1]["traceId"], TRACE)
            self.assertNotIn("parentSpanId", whole[1])

    def test_without_a_collector_answers_come_all_the_same(self):
        with Collector() as collector:
            url = collector.url
        with Served(STORIES, "--otlp-endpoint", url) as server:
            self.assertTrue(server.ask("/v1/completions", prompt="a",
                                       max_tokens=2)["choices"])
        self.assertEqual(server.status, 0)
        with Exporter(url) as exporter:
            exporter.add([{}])
        self.assertEqual(exporter.dropped, 1)

    def test_of_headers_that_are_none_begin_anew(self):
        for header in (None, "", "00", f"00-{TRACE}-{SPAN}", "a" * 10**6,
                       f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{'0' * 16}-01",
                       f"00-{TRACE.upper()}-{SPAN}-01"):
            made = read_origin(header, "/")
            self.assertEqual((len(made.trace), made.parent), (32, ""))
            self.assertNotEqual(made.trace, TRACE)
