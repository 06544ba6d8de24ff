# What all peers have in common: workloads as tfc-bench has them, and a loop
# that does what compare.py asks, one JSON object a line.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import subprocess
import sys
import time

import numpy as np

# A turn has at most this many runs.
MOST_RUNS = 200


def parse_workload(text):
    """"decode:4x128" -> ("decode", [128, 128, 128, 128])."""
    kind, lengths = text.split(":")
    if "x" in lengths:
        count, length = lengths.split("x")
        return kind, [int(length)] * int(count)
    return kind, [int(length) for length in lengths.split(",")]


def token_ids(sequence, length, vocab):
    """The tokens that tfc-bench gives a sequence."""
    return [(t * 7919 + sequence * 104729 + 13) % vocab for t in range(length)]


def padded(lengths, vocab, pad=0):
    """Token ids [batch, longest] and their mask, padded on the right."""
    longest = max(lengths)
    ids = np.full((len(lengths), longest), pad, dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, length in enumerate(lengths):
        ids[row, :length] = token_ids(row, length, vocab)
        mask[row, :length] = 1
    return ids, mask


def most_growth(past):
    """A past that cannot stand still begins again when it has grown by this
    much."""
    return max(1, past // 8)


def read_config(folder):
    """config.json of a Hugging Face folder."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as stream:
        return json.load(stream)


def is_decoder(config):
    """Of what read_config gives."""
    return config["architectures"][0].endswith(("ForCausalLM", "LMHeadModel"))


def form():
    """Which of the ways to int4 that compare.FORMS has of a peer."""
    return os.environ["PEER_FORM"]


def convert(folder, cache, ending, module):
    """The path of the model as a peer wants it, NAME + ending, made by the
    convert(folder, path) of a script here when it is not there. In a process of
    its own: what a conversion needs, torch above all, is not in the measured
    one."""
    path = os.path.join(cache, os.path.basename(folder.rstrip("/")) + ending)
    if not os.path.exists(path):
        code = f"import {module}, sys; {module}.convert(*sys.argv[1:])"
        subprocess.run([sys.executable, "-c", code, folder, path],
                       check=True, cwd=os.path.dirname(__file__))
    return path


def has_vnni():
    """Whether the machine adds up products of bytes in 32 bits; where it does
    not, peers use 7 bits of 8, for sums of 16 would overflow."""
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        return "avx512_vnni" in (text := stream.read()) or "avx_vnni" in text


def timed(run):
    """Seconds by the clock and on the CPU, all threads together, of a call."""
    start, start_cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - start, time.process_time() - start_cpu


def measure(run, seconds, least):
    """One run to warm up, then at least `least` runs and at least `seconds`.
    run() either is what is timed, or times its part and returns timed()."""
    def once():
        pair = None

        def call():
            nonlocal pair
            pair = run()

        whole = timed(call)
        return pair if isinstance(pair, tuple) else whole

    once()
    begin, pairs = time.perf_counter(), []
    while len(pairs) < least or (time.perf_counter() - begin < seconds and
                                 len(pairs) < MOST_RUNS):
        pairs.append(once())
    wall = [pair[0] for pair in pairs]
    return {"seconds": wall, "cores": sum(pair[1] for pair in pairs) / sum(wall)}


class Server:
    """Answers one request a line: {"check": FILE, "out": FILE}, {"prepare":
    WORKLOAD}, {"seconds": S, "least": N} for what is prepared."""

    def __init__(self, peer):
        self.peer, self.run = peer, None

    def answer(self, request):
        if "check" in request:
            file = np.load(request["check"])
            np.save(request["out"], self.peer.check(file["ids"], file["mask"]))
            return {"ok": True}
        if "prepare" in request:
            self.run = self.peer.prepare(*parse_workload(request["prepare"]))
            self.run()
            return {"ok": True}
        return measure(self.run, request["seconds"], request["least"])

    def try_answer(self, request):
        try:
            return self.answer(request)
        except NotImplementedError as fault:
            return {"unsupported": str(fault)}
        except Exception as fault:  # a peer's fault is a result, too
            return {"error": f"{type(fault).__name__}: {fault}"}


def serve(make_peer):
    """make_peer(model folder, cache folder, threads, dtype) -> an object that
    computes in dtype, or with weights and a cache of it, as is fastest: f32,
    bf16, f16 or, of an f32 checkpoint, int8 or int4. It has version,
    prepare(kind, lengths) -> a function that runs once, and check(ids, mask)
    -> hidden states of an encoder; of a decoder, the logits of a step with the
    last tokens after a prompt of those before. Either may raise
    NotImplementedError with the reason."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--cache", required=True,
                        help="a folder for converted models")
    parser.add_argument("--dtype", default="f32",
                        choices=("f32", "bf16", "f16", "int8", "int4"))
    arguments = parser.parse_args()
    # Libraries print what they like; answers go where nobody else writes.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    os.makedirs(arguments.cache, exist_ok=True)

    def send(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        peer = make_peer(arguments.model, arguments.cache, arguments.threads,
                         arguments.dtype)
    except NotImplementedError as fault:
        send({"unsupported": str(fault)})
        return
    except Exception as fault:
        send({"error": f"{type(fault).__name__}: {fault}"})
        return
    send({"ok": True, "version": peer.version})
    server = Server(peer)
    for line in sys.stdin:
        send(server.try_answer(json.loads(line)))
