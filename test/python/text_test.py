# Texts: tokenizers, generation, streams, sentence vectors, pipelines.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import contextlib
import io
import json
import os
import tempfile
import unittest

import numpy as np

import shared
import tfcompiler as tfc


class Tokens(unittest.TestCase):
    def test_go_there_and_back(self):
        tokenizer = shared.stories().tokenizer
        encoding = tokenizer.encode("Ana été 😀")
        self.assertEqual(tokenizer.decode(encoding.ids), "Ana été 😀")
        self.assertEqual(len(encoding.ids), len(encoding.offsets))
        self.assertEqual(encoding.offsets[-1], (8, 9))
        self.assertEqual(tokenizer.encode("abc", max_tokens=2).ids,
                         tokenizer.encode("abc").ids[:2])

    def test_stream_whole_characters(self):
        tokenizer = shared.stories().tokenizer
        stream = tokenizer.stream()
        pieces = [stream.push(id) for id in tokenizer.encode("é😀").ids]
        self.assertEqual("".join(pieces) + stream.finish(), "é😀")
        self.assertIn("é", pieces)

    def test_refuse_what_is_no_text(self):
        with self.assertRaisesRegex(tfc.Error, "expected a text"):
            shared.stories().tokenizer.encode(7)
        with self.assertRaisesRegex(tfc.Error, "lone surrogates"):
            shared.stories().tokenizer.encode("a\ud800")


class Generates(unittest.TestCase):
    def golden(self, name):
        with open(os.path.join(shared.MODELS, name, "golden.json")) as stream:
            return json.load(stream)

    def test_what_transformers_generates(self):
        found = self.golden("dates-iso")
        model = shared.dates()
        wanted = [model.tokenizer.decode(ids) for ids in found["greedy"]]
        self.assertEqual(model.generate(found["prompts"], num_beams=1), wanted)

    def test_one_text_as_it_comes(self):
        model = shared.stories()
        prompt = self.golden("stories-tiny")["prompts"][0]
        whole = model.generate(prompt, max_new_tokens=60)
        pieces = list(model.stream(prompt, max_new_tokens=60))
        self.assertEqual("".join(pieces), whole)
        self.assertGreater(len(pieces), 10)
        self.assertEqual(len(shared.dates().generate(["3 May 1999"])), 1)

    def test_until_a_stop(self):
        model = shared.stories()
        whole = model.generate("Once upon a time", max_new_tokens=60)
        stop = whole[10:13]
        text = "".join(model.stream("Once upon a time", max_new_tokens=60,
                                    stop=[stop]))
        self.assertEqual(text, whole[:whole.index(stop) + len(stop)])

    def test_several_sequences(self):
        made = shared.dates().generate(["3/4/1994"], num_beams=4,
                                       num_return_sequences=2)
        self.assertEqual(sorted(made[0]), ["1994-03-04", "1994-04-03"])

    def test_with_a_seed(self):
        draw = [shared.stories().generate("One day", max_new_tokens=20,
                                          do_sample=True, seed=seed)
                for seed in (1, 1, 2)]
        self.assertEqual(draw[0], draw[1])
        self.assertNotEqual(draw[0], draw[2])

    def test_refuses_other_words(self):
        with self.assertRaisesRegex(tfc.Error, "beam_count: expected one of"):
            shared.stories().generate("a", beam_count=2)


class Sentences(unittest.TestCase):
    def test_are_pooled_as_the_folder_says(self):
        model = shared.golden("bert-model")
        texts = ["abc", "a longer one", "de"]
        encoder = tfc.SentenceEncoder(model)
        made = encoder.encode(texts, batch_size=2)
        for text, vector in zip(texts, made):
            hidden = model.encode(text)["last_hidden_state"][0]
            np.testing.assert_allclose(vector, hidden.mean(0), atol=1e-5)
            for pooling, wanted in (("first", hidden[0]), ("last", hidden[-1]),
                                    ("max", hidden.max(0))):
                encoder.pooling = pooling
                np.testing.assert_allclose(encoder.encode(text), wanted,
                                           atol=1e-5)
            encoder.pooling = "mean"
        short = encoder.encode(texts, truncate_dim=5, normalize=True)
        self.assertEqual(short.shape, (3, 5))
        np.testing.assert_allclose((short ** 2).sum(1), 1, atol=1e-5)
        self.assertEqual(encoder.encode([]).shape, (0, made.shape[1]))

    def test_the_library_pools_where_it_can(self):
        model = shared.golden("sentence-mean")
        encoder = tfc.SentenceEncoder(model)
        texts = ["abc", "a longer one"]
        inputs = model.batch(model.tokenize(texts))
        outputs = model(**inputs)
        np.testing.assert_array_equal(encoder.encode(texts),
                                      outputs["sentence_embedding"])
        # What it does not give is made of its rows.
        plain = encoder.encode("abc", normalize=False)
        hidden = model.encode("abc")["last_hidden_state"][0]
        np.testing.assert_allclose(plain, hidden.mean(0), atol=1e-5)
        np.testing.assert_allclose(
            encoder.encode("abc"),
            plain / np.sqrt((plain ** 2).sum()), atol=1e-5)
        self.assertEqual(encoder.encode([]).shape, (0, 26))

    def test_have_prompts(self):
        model = shared.golden("bert-model")
        encoder = tfc.SentenceEncoder(model, prompts={"query": "ask: "})
        with_prompt = encoder.encode("ask: ab")
        for words in ({"prompt_name": "query"}, {"prompt": "ask: "}):
            np.testing.assert_array_equal(encoder.encode("ab", **words),
                                          with_prompt)
        encoder.default_prompt_name = "query"
        np.testing.assert_array_equal(encoder.encode(["ab"])[0], with_prompt)
        np.testing.assert_array_equal(encoder.encode("ask: ab", prompt=""),
                                      with_prompt)
        with self.assertRaisesRegex(tfc.Error, "expected one of query, got"):
            encoder.encode("ab", prompt_name="answer")

    def test_read_their_folder(self):
        source = os.path.join(shared.GOLDEN, "bert-model")
        with tempfile.TemporaryDirectory() as folder:
            for name in ("config.json", "model.safetensors"):
                os.symlink(os.path.join(source, name),
                           os.path.join(folder, name))
            os.mkdir(os.path.join(folder, "1_Pooling"))
            for name, value in (
                    ("config_sentence_transformers.json", {
                        "prompts": {"query": "q: ", "plain": ""},
                        "default_prompt_name": "plain",
                        "similarity_fn_name": "dot"}),
                    ("modules.json", [{"type": "a.Pooling",
                                       "path": "1_Pooling"}]),
                    ("1_Pooling/config.json", {
                        "pooling_mode_mean_tokens": True,
                        "include_prompt": False})):
                with open(os.path.join(folder, name), "w") as stream:
                    json.dump(value, stream)
            encoder = tfc.SentenceEncoder(tfc.compile(
                folder, target="cpu", tokenizer=shared.Letters()))
        self.assertEqual(encoder.similarity_fn_name, "dot")
        np.testing.assert_array_equal(
            encoder.encode("ab"), tfc.SentenceEncoder(
                shared.golden("bert-model")).encode("ab"))
        with self.assertRaisesRegex(tfc.Error, "leaves prompts out"):
            encoder.encode("ab", prompt_name="query")

    def test_are_compared(self):
        encoder = tfc.SentenceEncoder(shared.golden("bert-model"))
        a, b = [[3, 4], [0, 2]], [[4, 3], [0, 1], [0, 0]]
        for name, wanted in (
                ("cosine", [[0.96, 0.8, 0], [0.6, 1, 0]]),
                ("dot", [[24, 4, 0], [6, 2, 0]]),
                ("euclidean", [[-2**0.5, -18**0.5, -5], [-17**0.5, -1, -2]]),
                ("manhattan", [[-2, -6, -7], [-5, -1, -2]])):
            encoder.similarity_fn_name = name
            made = encoder.similarity(a, b)
            np.testing.assert_allclose(made, wanted, rtol=1e-6)
            self.assertEqual(made.dtype, np.float32)
        self.assertEqual(encoder.similarity(a[0], b).shape, (1, 3))
        encoder.similarity_fn_name = "smell"
        with self.assertRaisesRegex(tfc.Error, "expected one of cosine, dot"):
            encoder.similarity(a, b)

    def test_show_how_far_they_are(self):
        encoder, said = tfc.SentenceEncoder(shared.golden("bert-model")), \
            io.StringIO()
        with contextlib.redirect_stderr(said):
            encoder.encode(["a", "b", "c"], batch_size=2)
            self.assertEqual(said.getvalue(), "")
            encoder.encode(["a", "b", "c"], batch_size=2,
                           show_progress_bar=True)
        self.assertEqual(said.getvalue(), "\r2 of 3 texts\r3 of 3 texts\n")

    def test_need_hidden_states(self):
        with self.assertRaisesRegex(tfc.Error, "last_hidden_state"):
            tfc.SentenceEncoder(shared.golden("bert-token")).encode("a")


class Pipelines(unittest.TestCase):
    def test_classify_texts(self):
        model = shared.golden("bert-sequence")
        run = tfc.pipeline("text-classification", model)
        best, ranked = run("abc"), run("abc", top_k=None)
        self.assertEqual(best, ranked[0])
        self.assertAlmostEqual(sum(each["score"] for each in ranked), 1, 5)
        logits = model.encode("abc")["logits"][0]
        self.assertEqual(ranked[-1]["label"], f"LABEL_{logits.argmin()}")

    def test_classify_tokens(self):
        run = tfc.pipeline("token-classification", shared.golden("bert-token"))
        made = run(["abc", "d"])
        self.assertEqual([len(each) for each in made], [3, 1])
        self.assertEqual((made[0][1]["start"], made[0][1]["index"]), (1, 2))

    def test_answer_questions(self):
        model = shared.golden("bert-question")
        made = tfc.pipeline("question-answering", model)(
            question="who", context="it was him")
        self.assertEqual(made["answer"],
                         "it was him"[made["start"]:made["end"]])
        self.assertGreater(made["score"], 0)

    def test_fill_masks(self):
        made = tfc.pipeline("fill-mask", shared.golden("bert-mlm"))("amb",
                                                                   top_k=3)
        self.assertEqual(len(made), 3)
        self.assertGreaterEqual(made[0]["score"], made[1]["score"])

    def test_write(self):
        made = tfc.pipeline("text2text-generation", shared.dates())(
            "3 May 1999")
        self.assertEqual(made, {"generated_text": "1999-05-03"})
        made = tfc.pipeline("text-generation", shared.stories())(
            "Once", max_new_tokens=5)
        self.assertTrue(made[0]["generated_text"].startswith("Once"))

    def test_refuse_a_model_without_the_outputs(self):
        with self.assertRaisesRegex(tfc.Error, "expected a model for fill"):
            tfc.pipeline("fill-mask", shared.golden("bert-model"))
        with self.assertRaisesRegex(tfc.Error, "task: expected one of"):
            tfc.pipeline("juggling", shared.golden("bert-model"))
