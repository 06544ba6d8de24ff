# Models that several ranks share: threads of this process, whose sums meet at a
# barrier and are added in the order of ranks.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import shutil
import sys
import tempfile
import threading
import unittest

import numpy as np
import shared  # and the folder of the golden models' modules
import tensors
import tfcompiler as tfc

STORIES = os.path.join(shared.MODELS, "stories-tiny")
DATES = os.path.join(shared.MODELS, "dates-iso")


def golden(name):
    return os.path.join(shared.GOLDEN, name)


def even_gpt2(folder):
    """The golden GPT-2 with one column of its ffn less, which leaves 74."""
    shutil.copytree(golden("gpt2-lm"), folder)
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    inner = config["n_inner"] = config["n_inner"] - 1
    with open(path, "w") as file:
        json.dump(config, file)
    path = os.path.join(folder, "model.safetensors")
    kept = tensors.read(path)
    for name, value in kept.items():
        if "mlp.c_fc" in name or "mlp.c_proj.weight" in name:
            data = np.array(value.data).reshape(value.shape)
            data = data[:inner] if "c_proj" in name else data[..., :inner]
            kept[name] = tensors.Tensor(value.dtype, list(data.shape),
                                        data.reshape(-1))
    tensors.write(path, kept)
    return folder


class Team:
    """The ranks of a model: what one of them is asked, all are."""

    def __init__(self, folder, ranks, scratch, threads=1, options=(), **words):
        self.parts = [None] * ranks
        self.barrier = threading.Barrier(ranks)
        self.sums = 0
        words.setdefault("tokenizer", shared.Letters())
        library = os.path.join(scratch, f"of-{ranks}.so")
        make = {0: lambda **how: tfc.compile(
            folder, library, target="cpu",
            options=[f"--ranks={ranks}", *options], **how)}
        self.models = [
            make.get(rank, lambda **how: tfc.load(library, folder, **how))(
                threads=threads + rank, rank=rank, reduce=self.adder(rank),
                **words)
            for rank in range(ranks)]

    def adder(self, rank):
        def add(values):
            self.parts[rank] = values
            self.barrier.wait()
            total = self.parts[0].copy()
            for part in self.parts[1:]:
                total += part
            self.barrier.wait()
            values[:] = total
            self.sums += rank == 0
        return add

    def ask(self, function):
        """What function(model) gives, which is the same at each rank."""
        results = [None] * len(self.models)

        def run(rank):
            try:
                results[rank] = function(self.models[rank])
            except BaseException as error:
                results[rank] = error
                self.barrier.abort()
        workers = [threading.Thread(target=run, args=(rank,))
                   for rank in range(len(self.models))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for result in results:
            if isinstance(result, BaseException):
                raise result
        first, *others = results
        for other in others:
            np.testing.assert_equal(other, first)
        return first


def forward(ids, **words):
    return lambda model: model(input_ids=ids, **words)


def write(prompt, new=24):
    return lambda model: model.generate_ids(
        prompt, max_new_tokens=new, eos_token_id=None, num_beams=1,
        do_sample=False).sequences


def answers_of(prompts, pieces=0):
    """Each prompt's tokens and what they were chosen from, all at once."""
    def run(model):
        answers = {}
        with tfc.Session(model, max_step_tokens=pieces) as session:
            numbers = [session.add(each, max_new_tokens=12, eos_token_id=None,
                                   logprobs=1) for each in prompts]
            for new in session:
                answers.setdefault(new.sequence, []).append(
                    (new.token, new.logprob))
        return [answers[number] for number in numbers]
    return run


PROMPTS = [[3 + i * i % 50 for i in range(n)] for n in (1, 2, 11, 23)]


class Ranks(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name

    def assert_near(self, outputs, expected):
        self.assertEqual(set(outputs), set(expected))
        for name, value in expected.items():
            np.testing.assert_allclose(
                outputs[name], value, rtol=0,
                atol=1e-4 * max(1, float(np.abs(value).max())))

    def agree(self, folder, ranks, ids, sums, **words):
        """Outputs are those of one rank, but for the rounding of sums."""
        whole = tfc.compile(folder, target="cpu", tokenizer=shared.Letters(),
                            **words)
        team = Team(folder, ranks, self.scratch, **words)
        self.assert_near(team.ask(forward(ids)), whole(input_ids=ids))
        self.assertEqual(team.sums, sums)
        return whole, team

    def test_of_a_llama(self):
        ids = [PROMPTS[3], PROMPTS[3][::-1]]
        whole, team = self.agree(STORIES, 2, ids, sums=2 * self.layers())
        tokens = write([PROMPTS[2]])
        np.testing.assert_equal(team.ask(tokens), tokens(whole))

    def test_more_ranks_than_heads_of_keys(self):
        self.agree(STORIES, 4, [PROMPTS[3]], sums=2 * self.layers())

    def test_as_loops_come(self):
        self.agree(STORIES, 2, [PROMPTS[3]], sums=2 * self.layers(),
                   options=["--opt=none"])

    def test_with_matrices_of_bf16(self):
        whole = tfc.compile(STORIES, target="cpu", dtype="bf16",
                            tokenizer=shared.Letters())
        team = Team(STORIES, 2, self.scratch, options=["--dtype=bf16"])
        expected = whole(input_ids=[PROMPTS[3]])["logits"]
        logits = team.ask(forward([PROMPTS[3]]))["logits"]
        self.assertLess(float(np.abs(logits - expected).max()),
                        0.02 * float(np.abs(expected).max()))

    def layers(self):
        with open(os.path.join(STORIES, "config.json")) as file:
            return json.load(file)["num_hidden_layers"]

    def test_of_a_gpt2(self):
        folder = even_gpt2(os.path.join(self.scratch, "gpt2"))
        whole, team = self.agree(folder, 2, [PROMPTS[3]], sums=4)
        tokens = write([PROMPTS[2]])
        np.testing.assert_equal(team.ask(tokens), tokens(whole))

    def test_of_a_bert(self):
        self.agree(golden("bert-model"), 2, [PROMPTS[3], PROMPTS[3][::-1]],
                   sums=4)

    def test_of_heads_with_norms_and_one_head_of_keys(self):
        self.agree(golden("qwen3-tiles"), 2, [PROMPTS[3]], sums=2)

    def test_of_an_encoder_decoder(self):
        whole = tfc.compile(DATES, target="cpu")
        team = Team(DATES, 2, self.scratch, tokenizer=None)

        def say(model):
            return model.generate("24.12.1901", num_beams=1)
        self.assertEqual(team.ask(say), say(whole))

    def test_laws(self):
        """A sequence has its bits in any batch, by any pieces, with any
        threads, each time."""
        team = Team(STORIES, 2, self.scratch)
        alone = [team.ask(answers_of([each]))[0] for each in PROMPTS]
        for pieces in (0, 1, 3, 7):
            self.assertEqual(team.ask(answers_of(PROMPTS, pieces)), alone)
        again = Team(STORIES, 2, self.scratch, threads=3)
        self.assertEqual(again.ask(answers_of(PROMPTS)), alone)

    def test_packed_files_are_of_a_rank(self):
        team = Team(STORIES, 2, self.scratch)
        library = os.path.join(self.scratch, "of-2.so")
        packed = os.path.join(self.scratch, "packed")

        def load(rank):
            return tfc.load(library, STORIES, rank=rank, packed=packed,
                            reduce=team.adder(rank))
        load(1)
        load(1)
        with self.assertRaisesRegex(tfc.Error, "-rank0of2"):
            load(0)

    def test_faults(self):
        team = Team(STORIES, 2, self.scratch)
        library = os.path.join(self.scratch, "of-2.so")
        for words, message in (
                ({}, "expected reduce .it is a library for 2 ranks"),
                ({"rank": 1}, "expected reduce .it is a library for 2 ranks"),
                ({"rank": 2, "reduce": team.adder(0)},
                 "expected a rank from 0 to 1, got 2")):
            with self.assertRaisesRegex(tfc.Error, message):
                tfc.load(library, STORIES, **words)
        whole = os.path.join(self.scratch, "whole.so")
        tfc.compile(STORIES, whole, target="cpu")
        for words in ({"rank": 1}, {"reduce": team.adder(0)}):
            with self.assertRaisesRegex(tfc.Error, "expected no rank and no"):
                tfc.load(whole, STORIES, **words)

    def test_a_sum_that_fails_ends_the_call(self):
        def add(values):
            raise SystemExit("no other rank")
        hook, told = sys.excepthook, []
        sys.excepthook = lambda *error: told.append(str(error[1]))
        self.addCleanup(setattr, sys, "excepthook", hook)
        model = tfc.compile(STORIES, os.path.join(self.scratch, "of-2.so"),
                            target="cpu", options=["--ranks=2"], reduce=add)
        with self.assertRaisesRegex(tfc.Error, "reduce: expected 0, got 1"):
            model(input_ids=[[1, 2, 3]])
        self.assertEqual(told, ["no other rank"])

    def test_what_cannot_be_shared(self):
        for name, message in (
                ("gpt2-lm", "75 rows, which are not stored in 2 equal"),
                ("bloom-lm", "42 rows, which are not stored in 2 equal parts"),
                ("qwen3moe-tiles", "ranks"),
                ("mamba2-wide", "ranks"),
                ("deepseekv3-bias", "ranks")):
            with self.assertRaisesRegex(tfc.Error, message):
                tfc.compile(golden(name), os.path.join(self.scratch, "x.so"),
                            target="cpu", options=["--ranks=2"])
