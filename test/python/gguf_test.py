# A GGUF file alone: its tokenizer and its chat template, in Python and served.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import pathlib
import random
import struct
import sys
import tempfile
import unittest
from unittest import mock

import shared
import tfcompiler as tfc
from tfcompiler._gguf import find_gguf, read_strings

sys.path.insert(0, os.path.join(shared.SOURCE, "test", "e2e"))
import gguf  # noqa: E402
import tensors  # noqa: E402

STORIES = os.path.join(shared.MODELS, "stories-tiny")
TEMPLATE = ("{{ bos_token }}{% for m in messages %}{{ m.content }}{{ eos_token "
            "}}{% endfor %}{% if tools %}tools{% endif %}")
TOOLS = "{% for m in messages %}{{ m.content }}{% endfor %} with tools"


def value(key, kind, data):
    return gguf.text(key) + struct.pack("<I", kind) + data


def texts(each):
    return struct.pack("<IQ", 8, len(each)) + b"".join(map(gguf.text, each))


def numbers(each):
    return struct.pack(f"<IQ{len(each)}i", 5, len(each), *each)


def more(tokenizer):
    """What says the tokens, and the templates."""
    tokens = [tokenizer.id_to_token(id) for id in range(len(tokenizer))]
    return [value("tokenizer.ggml.model", 8, gguf.text("gpt2")),
            value("tokenizer.ggml.pre", 8, gguf.text("gpt-2")),
            value("tokenizer.ggml.tokens", 9, texts(tokens)),
            value("tokenizer.ggml.token_type", 9, numbers(
                [3 if id < 3 else 1 for id in range(len(tokens))])),
            value("tokenizer.ggml.merges", 9, texts([])),
            value("tokenizer.chat_template", 8, gguf.text(TEMPLATE)),
            value("tokenizer.chat_template.tool_use", 8, gguf.text(TOOLS))]


class Alone(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.path = os.path.join(cls.scratch.name, "stories.gguf")
        cls.write(cls.path)

    @classmethod
    def write(cls, path, parts=1):
        whole = gguf.metadata
        model = shared.stories()
        with mock.patch.object(gguf, "metadata", lambda config: whole(config)
                               + more(model.tokenizer)):
            gguf.write_gguf(
                gguf.read_config(STORIES),
                {name: each.cast("F32") if each.dtype != "F16" else
                 tensors.Tensor("F32", each.shape, struct.unpack(
                     f"<{len(each.data)}e", each.data.tobytes()))
                 for name, each in tensors.read(os.path.join(
                     STORIES, "model.safetensors")).items()},
                path, gguf.in_f32, parts)

    def test_writes_what_the_folder_writes(self):
        model = tfc.compile(self.path, target="cpu")
        text = "Once upon a time"
        self.assertEqual(model.generate(text, max_new_tokens=12),
                         shared.stories().generate(text, max_new_tokens=12))
        try:
            made = model.apply_chat_template(
                [{"role": "user", "content": "hi"}], tokenize=False)
        except tfc.Error as error:
            if error.code == tfc.Code.NOT_FOUND and "jinja2" in str(error):
                self.skipTest(str(error))
            raise
        self.assertEqual(made, "<s>hi</s>")
        self.assertEqual(model._template.text_for(True), TOOLS)
        ids = model.apply_chat_template([{"role": "user", "content": "hi"}])
        self.assertEqual((ids[0], ids[-1]), (2, 1))

    def test_in_parts_is_the_same(self):
        folder = pathlib.Path(self.scratch.name, "parts")
        folder.mkdir()
        self.write(str(folder / "stories"), 3)
        first = folder / "stories-00001-of-00003.gguf"
        for path in (folder, first, folder / "stories-00003-of-00003.gguf"):
            self.assertEqual(find_gguf(path), first)
            model = tfc.compile(path, target="cpu")
            text = "Once upon a time"
            self.assertEqual(model.generate(text, max_new_tokens=4),
                             shared.stories().generate(text, max_new_tokens=4))
            self.assertEqual(model._template.text_for(True), TOOLS)
        self.assertIsNone(find_gguf(folder / "none.gguf"))
        (folder / "config.json").write_text("{}")
        self.assertIsNone(find_gguf(folder))

    def test_is_served_with_its_template(self):
        from serving import Served
        model = tfc.compile(self.path, target="cpu")
        with Served(self.path) as server:
            self.assertIn("stories.gguf", server.line)
            made = server.ask("/v1/chat/completions", messages=[
                {"role": "user", "content": "Once"}], max_tokens=8)
        ids = model.apply_chat_template([{"role": "user", "content": "Once"}])
        with tfc.Scheduler(model) as scheduler:
            answer, = scheduler.submit(ids, max_new_tokens=8).result()
        ends = model.info.eos
        self.assertEqual(
            made["choices"][0]["message"]["content"], model.tokenizer.decode(
                [id for id in answer.tokens if id not in ends]))

    def test_that_is_damaged_is_refused(self):
        whole = pathlib.Path(self.path).read_bytes()
        path = pathlib.Path(self.scratch.name, "damaged.gguf")
        end = whole.index(TOOLS.encode()) + len(TOOLS)
        draw = random.Random(1)
        cases = [whole[:cut] for cut in (
            0, 1, 4, 23, end - 1, *(draw.randrange(end) for _ in range(40)))]
        cases.append(whole[:4] + struct.pack("<IQQ", 3, 1, 1 << 40))
        cases.append(whole[:4] + struct.pack("<IQQ", 9, 1, 1) + whole[24:])
        cases.append(whole[:4] + struct.pack("<IQQ", 3, 1, 1) + value(
            "a", 9, struct.pack("<IQ", 9, 1)))
        cases.append(whole[:4] + struct.pack("<IQQ", 3, 1, 1) + value(
            "a", 9, struct.pack("<IQ", 8, 1 << 60)))
        cases.append(whole[:4] + struct.pack("<IQQ", 3, 1, 1) + value(
            "a", 8, struct.pack("<Q", 4) + b"\xff\xfe\xfd\xfc"))
        for each in cases:
            path.write_bytes(each)
            with self.assertRaisesRegex(tfc.Error, "damaged.gguf: expected"):
                read_strings(path)


if __name__ == "__main__":
    unittest.main()
