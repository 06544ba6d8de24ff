# Some columns of a head: the bits of the whole's, in any order and company, and
# no more of the matrix is read than they need.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import json
import mmap
import os
import signal
import subprocess
import tempfile
import unittest
from unittest import mock

import numpy as np

import shared
import tfcompiler as tfc

# Tied tables with and without a bias, after other ops of a head, of every token,
# scaled, capped behind the product, and of an encoder-decoder.
MODELS = ("gpt2-lm", "bert-mlm", "cohere-lm", "gemma2-lm", "t5-lm")
WISHES = ([5], [40, 3, 41, 0], [7, 7, 2], list(range(60, 0, -1)))


def compiled(name, **words):
    return tfc.compile(os.path.join(shared.GOLDEN, name),
                       tokenizer=shared.Letters(), **words)


def inputs_of(model):
    ids = np.array([[9, 4, 6, 30], [8, 2, 7, 21], [11, 5, 5, 9]])
    return {port.name: ids for port in model.info.inputs
            if port.name.endswith("input_ids")}


class HeadRows(unittest.TestCase):
    def check(self, model):
        inputs = inputs_of(model)
        whole = model(outputs=["logits"], **inputs)["logits"]
        for wishes in WISHES:
            some = model(outputs=["logits"], head_rows=wishes,
                         **inputs)["logits"]
            self.assertEqual(some.shape, (*whole.shape[:-1], len(wishes)))
            np.testing.assert_array_equal(
                some.view(np.int32), whole[..., wishes].view(np.int32))

    def test_are_the_wholes_bits(self):
        for name in MODELS:
            for target in ("cpu:x86-64-v3", "cpu:x86-64-v4-emulated"):
                with self.subTest(model=name, target=target):
                    self.check(compiled(name, target=target))

    def test_are_the_wholes_bits_in_fewer_bits(self):
        for dtype in ("f16", "bf16", "int8"):
            with self.subTest(dtype=dtype):
                self.check(compiled("gpt2-lm", target="cpu", dtype=dtype))

    def test_are_picked_where_all_are_computed(self):
        self.check(compiled("gpt2-lm", target="cpu", options=["--opt=none"]))

    @unittest.skipUnless("TFC_FAKE_DRIVER" in os.environ,
                         "expected a stand-in for CUDA's driver")
    def test_are_picked_of_a_devices(self):
        driver = {"TFC_CUDA_DRIVER": os.environ.get("TFC_FAKE_DRIVER", ""),
                  "TFC_FAKECUDA": "races=0"}
        with mock.patch.dict(os.environ, driver):
            for opt in ("none", "full"):
                with self.subTest(opt=opt):
                    self.check(compiled("gpt2-lm", target="cuda:sm_80",
                                        options=["--opt=" + opt]))

    def test_say_what_they_cannot_be(self):
        model = shared.golden("bert-mlm")
        for wishes, message in (([3, 97], "below|from 0 to"), ([-1], "from 0"),
                                ([2**40], "from 0"), (["a"], "head_rows")):
            with self.assertRaisesRegex(tfc.Error, message):
                model(head_rows=wishes, **inputs_of(model))
        with self.assertRaisesRegex(tfc.Error, "output over the vocabulary"):
            model = shared.golden("bert-model")
            model(head_rows=[3], **inputs_of(model))

    def scores(self, model, wishes, together):
        """Of the next token behind each of some prompts, by token."""
        prompts = [[3, 4, 5], [9], [7, 7, 8, 9, 2, 30]]
        session = tfc.Session(model)
        made = {}
        for prompt, each in zip(prompts, wishes):
            number = session.add(prompt, max_new_tokens=1, eos_token_id=None,
                                 logprobs=len(each) or 97, head_rows=each)
            made[number] = None
            if not together:
                for token in session:
                    made[token.sequence] = dict(token.likeliest)
        for token in session:
            made[token.sequence] = dict(token.likeliest)
        return list(made.values())

    def test_of_a_session_are_alike_in_any_company(self):
        model = shared.golden("gpt2-lm")
        for wishes in ([[5, 40], [40], [5, 40]], [[5, 40], [], [8, 1, 2]],
                       [list(range(50)), [3], [4, 5]]):
            alone = self.scores(model, wishes, together=False)
            self.assertEqual(self.scores(model, wishes, together=True), alone)
            for each, found in zip(wishes, alone):
                if each:
                    self.assertEqual(set(found), set(each))
                self.assertAlmostEqual(
                    sum(np.exp(np.array(list(found.values())))), 1, 5)
        logits = model(input_ids=[[3, 4, 5]])["logits"][0, -1]
        self.assertAlmostEqual(alone[0][7] - alone[0][8],
                               float(logits[7] - logits[8]), 4)
        with self.assertRaisesRegex(tfc.Error, "head_rows: expected token ids"):
            tfc.Session(model).add([3], head_rows=[97])

    def test_of_a_scheduler(self):
        model = shared.golden("gpt2-lm")
        with tfc.Scheduler(model) as scheduler:
            jobs = [scheduler.submit([3, 4, 5], max_new_tokens=1, logprobs=2,
                                     eos_token_id=None, head_rows=[40, 5])
                    for _ in range(3)]
            for job in jobs:
                (answer,) = job.result()
                self.assertEqual({token for token, _
                                  in answer.logprobs[0][1]}, {5, 40})


class SignalAction(ctypes.Structure):
    """glibc's struct sigaction."""
    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_ubyte * 128),
                ("flags", ctypes.c_int), ("restorer", ctypes.c_void_p)]


class Touched:
    """Within the block the mappings of a file cannot be read; each page that
    is read nevertheless is counted and given back. The pages that a system says
    were looked at would tell less: where files are mapped by large folios it
    says so of all pages of one."""
    PAGE = mmap.PAGESIZE
    SIGINFO = 4
    NO_ACCESS = 0
    ADDRESS = 16  # of the fault, in siginfo_t

    def __init__(self, path):
        self.libc = ctypes.CDLL(None, use_errno=True)
        with open("/proc/self/maps") as stream:
            self.ranges = [
                tuple(int(each, 16) for each in line.split()[0].split("-"))
                for line in stream if line.rstrip().endswith(path)]
        self.pages = set()

    def protect(self, address, size, mode):
        if self.libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size),
                              mode):
            raise OSError(ctypes.get_errno(), "mprotect")

    def on_fault(self, signal_number, info, _):
        address = ctypes.c_void_p.from_address(info + self.ADDRESS).value or 0
        page = address // self.PAGE * self.PAGE
        if (page in self.pages or
                not any(begin <= page < end for begin, end in self.ranges)):
            os.abort()  # a fault of the code's own
        self.pages.add(page)
        self.protect(page, self.PAGE, mmap.PROT_READ)

    def __enter__(self):
        self.action = ctypes.CFUNCTYPE(
            None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(self.on_fault)
        new = SignalAction(handler=ctypes.cast(self.action, ctypes.c_void_p),
                           flags=self.SIGINFO)
        self.old = SignalAction()
        self.libc.sigaction(signal.SIGSEGV, ctypes.byref(new),
                            ctypes.byref(self.old))
        for begin, end in self.ranges:
            self.protect(begin, end - begin, self.NO_ACCESS)
        return self

    def __exit__(self, *_):
        for begin, end in self.ranges:
            self.protect(begin, end - begin, mmap.PROT_READ)
        self.libc.sigaction(signal.SIGSEGV, ctypes.byref(self.old), None)

    def bytes(self):
        return len(self.pages) * self.PAGE


class Reads(unittest.TestCase):
    """What of the packed weights is read, page by page."""

    def test_no_more_of_the_head_than_is_asked_for(self):
        vocabulary, hidden = 16003, 256
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "head.json")
            with open(path, "w") as stream:
                json.dump({
                    "tfc": 1, "extends": "preset:gpt2", "name": "head",
                    "dims": {"hidden": hidden, "vocab": vocabulary,
                             "max_positions": 16},
                    "decoder": {"layers": {"repeat": 0, "block": {
                        "attn": {"num_heads": 4}, "ffn": {"width": 8}}}},
                    "heads": {"lm": {"from": "decoder", "steps": [
                        {"op": "logits", "name": "proj",
                         "tied": "decoder.embeddings.token"}]}},
                    "outputs": {"logits": "lm"},
                    "weights": {"map": {"heads.lm.proj": "lm_head"}}},
                          stream)
            weights = os.path.join(folder, "model.safetensors")
            self.write(weights, {"wte.weight": (vocabulary, hidden),
                                 "wpe.weight": (16, hidden),
                                 "ln_f.weight": (hidden,),
                                 "ln_f.bias": (hidden,)})
            library = os.path.join(folder, "head.so")
            subprocess.run([os.environ["TFC"], "compile", path, "-o", library,
                            "--target=cpu"], check=True,
                           stderr=subprocess.DEVNULL)
            packed = os.path.join(folder, "head.packed")
            tfc.load(library, weights, packed=packed).close()
            model = tfc.load(library, weights, packed=packed,
                             share_packed=True, threads=1)
            table = vocabulary * hidden * 4
            runs = {}
            for wishes in (None, [4000], [5, 4000, 6, 5], [7]):
                with Touched(packed) as touched:
                    model(input_ids=[[3, 4]], head_rows=wishes)
                runs[str(wishes)] = touched.bytes()
            del model
        self.assertGreater(runs["None"], 0.95 * table)
        # A panel is at most 48 rows. The look-ups read of that of the prompt's
        # tokens, 5, 6 and 7 are in the same.
        panel = 48 * hidden * 4 + 2 * Touched.PAGE
        others = panel + 4 * Touched.PAGE
        self.assertLess(runs["[4000]"], panel + others, runs)
        self.assertLess(runs["[5, 4000, 6, 5]"], panel + others, runs)
        self.assertGreater(runs["[7]"], 16 * hidden * 4, runs)

    def write(self, path, shapes):
        import array

        import tensors
        numbers = np.random.default_rng(1)
        tensors.write(path, {
            name: tensors.Tensor("F32", list(shape), array.array(
                "f", numbers.standard_normal(shape, np.float32).tobytes()))
            for name, shape in shapes.items()})


if __name__ == "__main__":
    unittest.main()
