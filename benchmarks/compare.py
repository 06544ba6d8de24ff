#!/usr/bin/env python3
# Measures tfc and its peers in turns: the same models, weights, workloads and
# threads. Writes one file a workload, of which report.py makes the tables.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import datetime
import json
import os
import subprocess
import sys
import time

import numpy as np

import pieces
import report
import turns

sys.path.insert(0, turns.PEERS)
import worker  # noqa: E402

# What a service of embeddings has: 32 sentences of 16 to 128 tokens.
SENTENCES = ",".join(str(16 + 112 * i // 31) for i in range(32))
WORKLOADS = {
    "minilm-l6": ["encode:1x16", "encode:" + SENTENCES],
    "bert-base": ["encode:1x128", "encode:1x384",
                  "encode:12,24,40,57,73,90,111,128"],
    "deberta-v3-base": ["encode:1x128", "encode:1x512"],
    "gpt2-124m": ["prefill:1x512", "decode:1x128", "decode:4x128",
                  "decode:16x128", "decode:1x1024", "decode:4x1024",
                  "decode:16x1024"],
    "mixtral-2.4b": ["decode:1x128", "decode:8x128"],
    "llama-1.1b": ["prefill:1x512", "decode:1x128", "decode:4x128"],
}
QUICK = {"bert-base": ["encode:1x128"], "gpt2-124m": ["decode:1x128"]}
PEERS = {
    "tfc": "tfc_runtime.py",
    "PyTorch": "pytorch.py",
    "PyTorch compile": "pytorch_compile.py",
    "ONNX Runtime": "onnxruntime_cpu.py",
    "OpenVINO": "openvino_cpu.py",
    "CTranslate2": "ctranslate2_cpu.py",
    "llama.cpp": "llama_cpp_cpu.py",
}
# Of the ways to int4 that a peer has the faster one may be the worse one.
FORMS = {"OpenVINO": ("32", "128"), "llama.cpp": ("Q4_0", "Q4_K_M")}
# As tfc is fastest: beside 16 bits of f16 its arithmetic is f32.
COMPILE_OPTIONS = {"f32": [], "f16": [], "bf16": ["--dtype", "bf16"],
                   "int8": ["--dtype", "int8"],
                   "int4": ["--dtype", "int4", "--group", "32"]}
# A round ends a turn after `least` runs and `seconds`; a workload ends after
# `rounds`, or `least_rounds` and `piece_seconds`.
PLAN = {"rounds": 9, "least_rounds": 4, "piece_seconds": 45, "seconds": 0.4,
        "least": 2, "repeats": 3}
QUICK_PLAN = dict(PLAN, rounds=3, least_rounds=2, piece_seconds=20)


def compile_model(build, model, cache, options):
    """The library where tfc_runtime.py looks for it; seconds and bytes."""
    stem = os.path.join(cache, os.path.basename(model))
    tfc = os.path.join(build, "bin", "tfc")
    subprocess.run([tfc, "import", model, "-o", stem + ".json"], check=True,
                   stdout=subprocess.DEVNULL)
    start = time.perf_counter()
    subprocess.run([tfc, "compile", stem + ".json", "-o", stem + ".so",
                    *options], check=True)
    seconds = time.perf_counter() - start
    if os.path.exists(stem + ".packed"):
        os.remove(stem + ".packed")
    return {"options": options, "seconds": seconds,
            "bytes": os.path.getsize(stem + ".so")}


def values_of(peer, model, cache):
    """The values of a small batch that all have in common, None of a peer
    that gives none."""
    config = worker.read_config(model)
    lengths = [24, 24] if worker.is_decoder(config) else [24, 17]
    ids, mask = worker.padded(lengths, config["vocab_size"])
    path, out = (os.path.join(cache, "check" + end) for end in (".npz", ".npy"))
    np.savez(path, ids=ids, mask=mask)
    if peer.fault or not peer.ask(check=path, out=out):
        return None
    # Logits have one position a sequence, hidden states all that exist.
    value = np.load(out)
    return (value[mask == 1] if value.shape[1] == mask.shape[1]
            else value).ravel().tolist()


def check_agreement(peers, expected, model, cache):
    """What pieces.difference and pieces.signal_to_noise say of each beside
    the expected values; nothing of those that gave none."""
    values = {name: values_of(peer, model, cache)
              for name, peer in peers.items()}
    return tuple({name: measure(value, expected)
                  for name, value in values.items() if value is not None}
                 for measure in (pieces.difference, pieces.signal_to_noise))


class Model:
    """All peers with one model, and with so many threads."""

    def __init__(self, name, threads, arguments):
        self.folder = os.path.join(arguments.models, name)
        self.peers = {}
        stem = os.path.join(arguments.cache, name)
        self.bench = turns.Bench(
            os.path.join(arguments.build, "bin", "tfc-bench"), stem + ".so",
            stem + ".packed", self.folder, threads)
        runtime = os.path.join(arguments.build, "lib", "libtfc_runtime.so")

        def start(peer, dtype, log, form=""):
            return turns.Peer(PEERS[peer], self.folder, arguments.cache,
                              threads, os.path.join(arguments.cache, log),
                              dtype, TFC_RUNTIME=runtime, PEER_FORM=form)

        # What all are held against is f32; where nobody is measured in that, it
        # leaves its memory to those who are.
        self.expected = None
        if arguments.dtype != "f32":
            reference = start("PyTorch", "f32", "reference.log")
            reference.wait_ready()
            self.expected = values_of(reference, self.folder,
                                      arguments.cache)
            reference.close()
        forms = FORMS if arguments.dtype == "int4" else {}
        for peer in arguments.peers:
            for form in forms.get(peer, ("",)):
                name = f"{peer} {form}".strip()
                self.peers[name] = start(peer, arguments.dtype,
                                         PEERS[peer] + form + ".log", form)
                # What the next form is made of, too, is made now.
                if form:
                    self.peers[name].wait_ready()
        for peer in self.peers.values():
            if not peer.version and not peer.fault:
                peer.wait_ready()

    def check(self, cache):
        expected = self.expected or values_of(self.peers["PyTorch"],
                                              self.folder, cache)
        return check_agreement(self.peers, expected, self.folder, cache)

    def measure(self, workload, plan, lock):
        for name, peer in self.peers.items():
            if not peer.fault:
                say(f"  {name} prepares")
                peer.ask(prepare=workload)
        with lock.alone():
            say("  turns")
            return turns.take_turns(workload, self.bench, self.peers, plan)

    def close(self):
        for peer in self.peers.values():
            peer.close()


def say(text):
    print(f"{datetime.datetime.now():%H:%M:%S} {text}", flush=True)


def measure_model(name, workloads, threads, compiled, arguments, lock):
    say(f"{name}, {threads} threads: starting {', '.join(arguments.peers)}")
    model = Model(name, threads, arguments)
    try:
        differences, qualities = model.check(arguments.cache)
        for peer, value in differences.items():
            say(f"  {peer}: differs by {value:.1e}, "
                f"{qualities[peer]:.0f} dB")
        for workload in workloads:
            say(f"{name}, {threads} threads: {workload}")
            before = {n: p.fault for n, p in model.peers.items()}
            piece = model.measure(workload, arguments.plan, lock)
            piece.update(
                model=name, workload=workload, threads=threads,
                dtype=arguments.dtype,
                commit=arguments.commit, cpu=report.cpu_name(),
                date=str(datetime.date.today()), compile=compiled,
                differences=differences, qualities=qualities,
                versions={n: p.version for n, p in model.peers.items()},
                faults={n: p.fault for n, p in model.peers.items() if p.fault})
            pieces.write_piece(piece, arguments.pieces)
            for peer, fault in before.items():
                model.peers[peer].fault = fault
    finally:
        model.close()
        lock.share()


def parse(arguments=None):
    parser = argparse.ArgumentParser(
        description="measures tfc and its peers in turns")
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--models", required=True, help="see make_models.py")
    parser.add_argument("--cache", required=True, help="converted models")
    parser.add_argument("--pieces", required=True, help="where results go")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", default=[], metavar="WORKLOAD",
                        help="instead of all, e.g. decode:1x128")
    parser.add_argument("--names", nargs="+", choices=list(WORKLOADS),
                        help="of the models these")
    parser.add_argument("--peers", nargs="+", choices=list(PEERS),
                        default=list(PEERS))
    parser.add_argument("--dtype", choices=tuple(COMPILE_OPTIONS),
                        default="f32", help="what the checkpoint is kept in, "
                        "and what everybody may compute in; int8, int4: of an "
                        "f32 checkpoint everybody makes integers")
    parser.add_argument("--quick", action="store_true",
                        help="two workloads, one thread, few rounds")
    parser.add_argument("--commit", default=report.commit(),
                        help="what the build is of, if not of this tree")
    parser.add_argument("--lock", help="a file to lock: shared while "
                        "preparing, alone while timing")
    options = parser.parse_args(arguments)
    for needed in ("tfc", "PyTorch"):
        if needed not in options.peers:
            options.peers.insert(0, needed)
    options.plan = QUICK_PLAN if options.quick else PLAN
    models = options.names or pieces.models_of(options.dtype)
    chosen = QUICK if options.quick else WORKLOADS
    chosen = {name: chosen[name] for name in models if name in chosen}
    if options.quick:
        options.threads = options.threads[:1]
    known = [w for name in models for w in WORKLOADS[name]]
    for text in options.only:
        if text not in known:
            parser.error(f"expected one of {', '.join(known)}, got {text}")
    if options.only:
        chosen = {name: [w for w in texts if w in options.only]
                  for name, texts in chosen.items()}
    options.workloads = {name: texts for name, texts in chosen.items() if texts}
    for name in ("build", "models", "cache", "pieces"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    return options


def main():
    arguments = parse()
    for folder in (arguments.cache, arguments.pieces):
        os.makedirs(folder, exist_ok=True)
    lock = turns.Lock(arguments.lock)
    lock.share()
    for base, workloads in arguments.workloads.items():
        name = pieces.name_of(base, arguments.dtype)
        compiled = compile_model(
            arguments.build, os.path.join(arguments.models, name),
            arguments.cache, COMPILE_OPTIONS[arguments.dtype])
        for threads in arguments.threads:
            measure_model(name, workloads, threads, compiled, arguments, lock)


if __name__ == "__main__":
    main()
