# What runs beside a server: the load generator, Prometheus, Kubernetes, Ray,
# Triton.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

import numpy as np
import shared
from serving import Served
from tfcompiler.serve import _main

LOAD = os.path.join(shared.SOURCE, "benchmarks", "serve_load.py")
SERVING = os.path.join(shared.SOURCE, "examples", "serving")
STORIES = os.path.join(shared.MODELS, "stories-tiny")


def load(url, *words):
    """Status, what it says of its run, and of faults."""
    made = subprocess.run([sys.executable, "-B", LOAD, url, *words],
                          capture_output=True, text=True, timeout=120)
    return made.returncode, made.stdout, made.stderr


class Loads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        spec = importlib.util.spec_from_file_location("serve_load", LOAD)
        cls.module = importlib.util.module_from_spec(spec)
        sys.modules["serve_load"] = cls.module
        spec.loader.exec_module(cls.module)

    def test_are_reported_as_they_were(self):
        quantile = self.module.quantile
        self.assertEqual([quantile([4, 1, 2, 3], at) for at in (0, .5, 1)],
                         [1, 2.5, 4])
        self.assertIsNone(quantile([], 0.5))

        def asked(due, times, **words):
            return self.module.Asked({}, due=due, times=times, tokens=len(
                times), **words)
        options = argparse.Namespace(first_ms=150, between_ms=60)
        made = self.module.report(options, [
            asked(1.0, [1.1, 1.15]), asked(2.0, [2.2, 2.25]),  # late
            asked(3.0, [3.1, 3.2]),  # slow
            asked(4.0, [4.1], fault="x"), asked(5.0, [5.1], is_cancelled=True),
            asked(6.0, [6.1])], 10)
        self.assertEqual([made[name] for name in (
            "requests", "whole", "failed", "cancelled")], [6, 4, 1, 1])
        self.assertAlmostEqual(made["goodput_per_second"], 0.2)
        self.assertAlmostEqual(made["tokens_per_second"], 0.7)
        self.assertAlmostEqual(made["first_token_ms"]["p50"], 100)
        self.assertAlmostEqual(made["between_tokens_ms"]["p99"], 99)
        self.assertAlmostEqual(made["end_to_end_ms"]["p50"], 175)

    def test_of_a_server(self):
        with Served(STORIES) as server:
            for words in (["--rate", "200", "--cancel", "0.3"],
                          ["--clients", "4", "--temperature", "1"]):
                status, out, errors = load(
                    server.url, "--requests", "16", "--max-tokens", "16",
                    "--check", *words)
                self.assertEqual((status, errors), (0, ""), out)
                made = json.loads(out)
                self.assertEqual(made["whole"] + made["cancelled"], 16)
                self.assertEqual(made["differ_from_alone"], 0)
                self.assertGreater(made["tokens_per_second"], 0)
            self.assertEqual(made["cancelled"], 0)
            self.check_metrics(server)
            status, out, errors = load(server.url, "--requests", "2",
                                       "--model", "none")
            self.assertEqual((status, json.loads(out)["failed"]), (1, 2))
            self.assertIn("404", errors)
        status, out, errors = load(server.url, "--requests", "2")  # that ended
        self.assertEqual((status, json.loads(out)["failed"]), (1, 2))
        self.assertEqual(load(server.url, "--rate", "0")[0], 2)

    def check_metrics(self, server):
        """The text is Prometheus', and has what others look for."""
        line = re.compile(r'([a-z0-9_:]+)(?:\{((?:[a-z_]+="[^"\\\n]*",?)*)\})? '
                          r'(-?[0-9.e+-]+|NaN)')
        text = server.get("/metrics")
        kinds, values = {}, {}
        for each in text.splitlines():
            if each.startswith("# TYPE "):
                _, _, name, kind = each.split(" ")
                self.assertNotIn(name, kinds, "once")
                kinds[name] = kind
            elif not each.startswith("# HELP "):
                found = line.fullmatch(each)
                self.assertTrue(found, each)
                self.assertIn(re.sub("_(bucket|sum|count)$", "", found[1])
                              if found[1] not in kinds else found[1], kinds)
                values[found[1]] = float(found[3])
        for name, kind in (
                ("vllm:num_requests_waiting", "gauge"),
                ("vllm:num_requests_running", "gauge"),
                ("vllm:kv_cache_usage_perc", "gauge"),
                ("vllm:gpu_cache_usage_perc", "gauge"),
                ("vllm:lora_requests_info", "gauge"),
                ("tfc_build_info", "gauge"),
                ("vllm:request_queue_time_seconds", "histogram"),
                ("vllm:time_to_first_token_seconds", "histogram"),
                ("vllm:generation_tokens_total", "counter")):
            self.assertEqual(kinds.get(name), kind, name)
        self.assertEqual(values["tfc_build_info"], 1)
        blocks = [each for each in text.splitlines()
                  if each.startswith("vllm:cache_config_info{")]
        self.assertEqual(len(blocks), 1, "of the model that generates")
        self.assertIn('block_size="64"', blocks[0])
        self.assertRegex(blocks[0], 'num_gpu_blocks="[1-9][0-9]*"')
        self.assertIn('enable_prefix_caching="True"', blocks[0])
        self.assertGreater(values["vllm:lora_requests_info"], 1.7e9)
        self.assertGreater(values["vllm:request_queue_time_seconds_count"], 16)


class Turns(unittest.TestCase):
    """Servers that take turns under the same loads."""

    def run_turns(self, *words):
        return subprocess.run(
            [sys.executable, "-B", os.path.join(
                os.path.dirname(LOAD), "serve_turns.py"), "--rounds", "1",
             *words], capture_output=True, text=True, timeout=120)

    def test_are_told_as_a_table(self):
        serve = f"{sys.executable} -B -m tfcompiler serve {STORIES} " \
                "--target cpu --port {port}"
        done = self.run_turns(
            "--server", f"remembers={serve}", "--server",
            f"forgets={serve} --no-prefix-cache", "--load",
            "all alike=--clients 4 --requests 12 --shared 1 --max-tokens 8")
        self.assertEqual(done.returncode, 0, done.stderr)
        title, _, head, _, *rows = done.stdout.splitlines()[:6]
        self.assertIn("**all alike**", title)
        self.assertEqual([row.split(" | ")[0] for row in rows],
                         ["| remembers", "| forgets"])
        for row in rows:
            self.assertEqual(row.count("|"), head.count("|"))
            cells = [cell.strip() for cell in row.strip("|").split("|")]
            p50, p95, p99 = map(float, cells[1].split(" / "))
            self.assertTrue(0 < p50 <= p95 <= p99)
            self.assertTrue(all(float(cell) > 0 for cell in cells[4:]), row)

    def test_end_with_a_server_that_does_not_begin(self):
        done = self.run_turns("--server", "none=false", "--load", "a=--seed 1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no server: false", done.stderr)


class Kubernetes(unittest.TestCase):
    def setUp(self):
        try:
            import yaml
        except ImportError as error:
            self.skipTest(str(error))
        with open(os.path.join(SERVING, "kubernetes.yaml")) as stream:
            self.kinds = {each["kind"]: each
                          for each in yaml.safe_load_all(stream)}

    def test_its_file_asks_for_what_there_is(self):
        pod = self.kinds["Deployment"]["spec"]["template"]
        container, = pod["spec"]["containers"]
        command, *words = container["args"]
        self.assertEqual((container["command"], command), (["tfc"], "serve"))
        parser = argparse.ArgumentParser()
        _main.add_arguments(parser)
        options = parser.parse_args(words)
        self.assertTrue(options.api_key_file)
        self.assertLess(options.drain_timeout + 5,
                        pod["spec"]["terminationGracePeriodSeconds"])
        port, = container["ports"]
        self.assertEqual(port["containerPort"], options.port)
        mounts = {each["name"] for each in container["volumeMounts"]}
        self.assertEqual(mounts, {each["name"]
                                  for each in pod["spec"]["volumes"]})
        paths = {container[name]["httpGet"]["path"] for name in (
            "startupProbe", "readinessProbe", "livenessProbe")}
        paths.add(pod["metadata"]["annotations"]["prometheus.io/path"])
        with Served(STORIES) as server:
            for path in paths:
                server.get(path)
            scaler = self.kinds["HorizontalPodAutoscaler"]["spec"]
            name = scaler["metrics"][0]["pods"]["metric"]["name"]
            self.assertIn(name.replace("vllm_", "vllm:") + "{",
                          server.get("/metrics"))
        labels = pod["metadata"]["labels"]
        for kind in ("Service", "PodDisruptionBudget", "Deployment"):
            selector = self.kinds[kind]["spec"]["selector"]
            self.assertEqual(selector.get("matchLabels", selector), labels)

    def test_its_file_is_kubernetes(self):
        try:
            import kubernetes_validate
        except ImportError as error:
            self.skipTest(str(error))
        for each in self.kinds.values():
            kubernetes_validate.validate(
                each, kubernetes_validate.latest_version(), strict=True)


class Ray(unittest.TestCase):
    def begin(self, errors):
        """The process and its address, or None where it ended."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        process = subprocess.Popen(
            [sys.executable, "-B", os.path.join(SERVING, "ray_app.py"),
             STORIES, "--target", "cpu", "--port", port],
            stdout=subprocess.PIPE, stderr=errors, text=True, env={
                **os.environ, "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "60",
                "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "60"})
        return process, next((line.strip() for line in process.stdout
                              if line.startswith("http://")), None)

    def end(self, process):
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        process.stdout.close()

    def test_its_replicas_answer_as_one(self):
        if not importlib.util.find_spec("ray"):
            self.skipTest("no package ray")
        shared.stories()
        with tempfile.TemporaryFile("w+") as errors:
            process, url = self.begin(errors)
            if not url:
                self.end(process)
                errors.seek(0)
                said = errors.read()
                # Before anything of ours runs Ray waits for its processes,
                # which a busy machine starts too late for it.
                own = re.search(r"in main\n +(ray.init|serve.start)\(", said)
                self.assertTrue(own, f"expected an address, got: {said}")
                self.skipTest(f"{own[1]}: {said.splitlines()[-1]}")
        try:
            status, out, errors = load(url, "--requests", "16", "--max-tokens",
                                       "16", "--check", "--cancel", "0.2")
            self.assertEqual((status, errors), (0, ""), out)
        finally:
            self.end(process)


class Triton(unittest.TestCase):
    """Its model, with a stand-in for the module that Triton brings."""

    class Module(types.ModuleType):
        class TritonError(Exception):
            pass

        class Tensor:
            def __init__(self, name, values):
                self.name, self.values = name, values

            def as_numpy(self):
                return self.values

        class InferenceResponse:
            def __init__(self, output_tensors=(), error=None):
                self.output_tensors, self.error = output_tensors, error

        @staticmethod
        def get_input_tensor_by_name(request, name):
            return request.get(name)

    def request(self, *texts, most=None):
        made = {"PROMPT": self.Module.Tensor("PROMPT", np.array(
            [text.encode() if isinstance(text, str) else text
             for text in texts], dtype=object))}
        if most is not None:
            made["MAX_TOKENS"] = self.Module.Tensor(
                "MAX_TOKENS", np.array([most], np.int32))
        return made

    def test_its_model_answers_as_alone(self):
        name = "triton_python_backend_utils"
        path = os.path.join(SERVING, "triton", "1", "model.py")
        with mock.patch.dict(sys.modules, {name: self.Module(name)}):
            found = importlib.util.spec_from_file_location("model", path)
            module = importlib.util.module_from_spec(found)
            found.loader.exec_module(module)
        with open(os.path.join(SERVING, "triton", "config.pbtxt")) as stream:
            parameters = dict(re.findall(
                r'key: "(\w+)", value: { string_value: "(.*?)" }',
                stream.read()))
        parameters.update(folder=STORIES, target="cpu")
        model = module.TritonPythonModel()
        model.initialize({"model_config": json.dumps({"parameters": {
            key: {"string_value": value}
            for key, value in parameters.items()}})})
        made = model.execute([
            self.request("Once upon a time", "There was", most=20),
            self.request("Once"), self.request(b"\xff"),
            self.request("Once", "Once", most=10**6)])
        model.finalize()
        alone = shared.stories().generate
        for response, prompts, most in (
                (made[0], ("Once upon a time", "There was"), 20),
                (made[1], ("Once",), 64)):
            self.assertIsNone(response.error)
            tensor, = response.output_tensors
            self.assertEqual(tensor.name, "TEXT")
            self.assertEqual([text.decode() for text in tensor.values], [
                alone(prompt, max_new_tokens=most) for prompt in prompts])
        self.assertIn("utf-8", str(made[2].error))
        self.assertIn("tokens", str(made[3].error))
