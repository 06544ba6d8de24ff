# Numbers and texts that C cannot take as they are: refused by name.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import unittest

import numpy as np

import shared
import tfcompiler as tfc


class Numbers(unittest.TestCase):
    def refused(self, words, call, *positional, **named):
        with self.assertRaisesRegex(tfc.Error, words) as raised:
            call(*positional, **named)
        self.assertEqual(raised.exception.code, tfc.Code.INVALID_ARGUMENT)

    def test_of_generation_fit(self):
        write = shared.stories().generate
        for word, value, words in (
                ("num_beams", 2**32 + 1, "from 0 to 4294967295, got 42949672"),
                ("num_beams", None, "expected an integer, got None"),
                ("num_beams", 2.0, "expected an integer, got 2.0"),
                ("top_k", -1, "from 0 to 4294967295, got -1"),
                ("seed", 2**64 + 3, "from 0 to 184467440737"),
                ("seed", None, "expected an integer, got None"),
                ("temperature", None, "expected a number, got None"),
                ("temperature", "1", "expected a number, got '1'"),
                ("top_p", 10**400, "expected a number"),
                ("do_sample", None, "expected an integer, got None"),
                ("do_sample", 2, "from 0 to 1, got 2"),
                ("early_stopping", "ever", "expected False, True or"),
                ("forced_eos_token_id", -2, "from 0 to"),
                ("max_new_tokens", 2**64 + 5, "from 1 to"),
                ("max_new_tokens", 0, "from 1 to 9223372036854775807, got 0"),
                ("max_new_tokens", 10**5000, "from 1 to .*, got int"),
                ("max_new_tokens", 3.5, "expected an integer, got 3.5"),
                ("eos_token_id", 2**63, r"\[0\]: expected"),
                ("eos_token_id", "x", r"\[0\]: expected")):
            self.refused(f"{word}.*{words}", write, "a", **{word: value})
            if word != "num_beams":  # streams have one
                self.refused(f"{word}.*{words}", list, shared.stories().stream(
                    "a", **{word: value}))

    def test_of_numpy_are_numbers(self):
        model = shared.stories()
        self.assertEqual(
            model.generate("a", max_new_tokens=np.int64(5),
                           num_beams=np.int32(2), do_sample=np.bool_(False),
                           length_penalty=np.float32(1),
                           eos_token_id=np.int64(1), seed=np.uint64(2)),
            model.generate("a", max_new_tokens=5, num_beams=2, seed=2,
                           eos_token_id=[1]))
        tokenizer = model.tokenizer
        self.assertEqual(tokenizer.decode(np.array([70, 71])),
                         tokenizer.decode([70, 71]))
        self.assertEqual(tokenizer.id_to_token(np.int64(70)),
                         tokenizer.id_to_token(70))
        self.assertEqual(
            tokenizer.encode("abc", max_tokens=np.int64(2)).ids,
            tokenizer.encode("abc", max_tokens=2).ids)

    def test_of_loads_fit(self):
        folder = os.path.join(shared.MODELS, "stories-tiny")
        for value in (2**32 + 1, -1, "2", None, 1.0):
            self.refused("threads: expected an integer", tfc.load, "model.so",
                         folder, threads=value)

    def test_of_tokens_fit(self):
        tokenizer = shared.stories().tokenizer
        self.refused(r"ids\[1\]: expected an integer from -92", tokenizer.
                     decode, [70, 2**64 + 70])
        self.refused(r"ids\[0\]: expected an integer, got 70.7", tokenizer.
                     decode, [70.7])
        self.refused(r"ids: expected a list", tokenizer.decode, 7)
        self.refused("id: expected an integer from -92",
                     tokenizer.id_to_token, 2**64 + 70)
        self.refused("id: expected an integer, got None",
                     tokenizer.stream().push, None)
        for value in (0, -5, 2**64 + 1):
            self.refused("max_tokens: expected an integer from 1",
                         tokenizer.encode, "a", max_tokens=value)

    def test_of_arrays_fit(self):
        model = shared.golden("bert-model")
        self.refused("expected integers of 64 bits", model,
                     input_ids=np.array([[2**63 + 5]], np.uint64))
        self.refused("expected integers of 64 bits", model,
                     input_ids=[[2**64]])
        self.refused("rows of one length", model, input_ids=[[1], [2, 3]])

    def test_of_pipelines_fit(self):
        for task, name in (("text-classification", "bert-sequence"),
                           ("fill-mask", "bert-mlm")):
            run = tfc.pipeline(task, shared.golden(name))
            self.refused("top_k: expected an integer from 1", run, "amb",
                         top_k=-1)
            self.assertEqual(run([]), [])

    def test_of_vectors_fit(self):
        encoder = tfc.SentenceEncoder(shared.golden("bert-model"))
        self.refused("batch_size: expected an integer from 1", encoder.encode,
                     "a", batch_size=0)
        self.refused("truncate_dim: expected an integer", encoder.encode, "a",
                     truncate_dim=2.5)


class Texts(unittest.TestCase):
    def refused(self, words, call, *positional, **named):
        with self.assertRaisesRegex(tfc.Error, words):
            call(*positional, **named)

    def test_end_with_no_null_byte_in_them(self):
        tokenizer = shared.stories().tokenizer
        self.assertIsNotNone(tokenizer.token_to_id("a"))
        self.refused("token: expected no null", tokenizer.token_to_id, "a\0b")
        self.refused("token: .* surrogates", tokenizer.token_to_id, "\ud800")
        for name, words in (("library", ("m.so\0junk", "w")),
                            ("weights", ("m.so", "w\0junk"))):
            self.refused(f"{name}: expected no null", tfc.load, *words)
        self.refused("program: expected no null", tfc.load, "m.so", "w",
                     program="cpu\0junk")
        self.refused("tokenizer: expected no null", tfc.Tokenizer, "a\0b")
        self.refused("folder: expected no null", tfc.compile, "a\0b")
        self.refused("library: expected a path, got 7", tfc.load, 7)
        model = shared.golden("bert-model")
        self.refused("output: expected no null", model, input_ids=[[3]],
                     outputs=["pooler_output\0x"])
        self.refused("input: expected no null", model, **{"input_ids\0": [[3]]})

    def test_with_null_bytes_are_texts(self):
        tokenizer = shared.stories().tokenizer
        self.assertEqual(tokenizer.decode(tokenizer.encode("a\0b").ids),
                         "a\0b")

    def test_of_a_model_are_short(self):
        info = shared.stories().info
        self.assertGreater(len(info.spec), 1000)
        self.assertNotIn("spec", repr(info))
        self.assertLess(len(repr(info)), 1000)


class Lists(unittest.TestCase):
    def test_of_no_texts_give_nothing(self):
        self.assertEqual(shared.stories().generate([]), [])
        self.assertEqual(shared.stories().generate([], stop=["a"]), [])
        tokenizer = shared.stories().tokenizer
        self.assertEqual(tokenizer.encode_batch([]), [])
        self.assertEqual(tokenizer.decode_batch([]), [])
        model = shared.golden("bert-model")
        some, none = model.encode(["ab"]), model.encode([])
        self.assertEqual(
            {name: (array.ndim, array.shape[-1], array.dtype)
             for name, array in some.items()},
            {name: (array.ndim, array.shape[-1], array.dtype)
             for name, array in none.items()})
        self.assertEqual({len(array) for array in none.values()}, {0})

    def test_of_texts_are_each_text(self):
        tokenizer = shared.stories().tokenizer
        texts, pairs = ["Ana", "été 😀", ""], ["b", "c", "d"]
        made = tokenizer.encode_batch(texts, add_special_tokens=False)
        self.assertEqual(made, [tokenizer.encode(
            text, add_special_tokens=False) for text in texts])
        self.assertEqual(
            tokenizer.decode_batch([each.ids for each in made]), texts)
        self.assertEqual(tokenizer.encode_batch(texts, pairs),
                         list(map(tokenizer.encode, texts, pairs)))
        with self.assertRaisesRegex(tfc.Error, "pairs: expected 3, one a"):
            tokenizer.encode_batch(texts, pairs[:2])
        with self.assertRaisesRegex(tfc.Error, "expected a list of texts"):
            tokenizer.encode_batch("ab")
