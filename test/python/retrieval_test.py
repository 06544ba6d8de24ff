# Retrieval: what folders of sentence-transformers say of vectors, words and
# scores, as sentence-transformers has them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import concurrent.futures
import json
import os
import pathlib
import tempfile
import unittest

import numpy as np

import tfcompiler as tfc
from run_tests import is_drawn
from serving import Served, word_folder
from tfcompiler.serve._modules import SparseEncoder

TEXTS = ["w4 w5 w6", "w7", "w8 w9 w10 w11 w12", "w5 w5", "w4 w9"]
# What a published reranker of this kind has, but shorter.
TEMPLATE = """{% for m in messages %}{% if m.role == 'system' %}w20 {{ m.content
}} {% elif m.role == 'query' %}w21 {{ m.content }} {% elif m.role == 'document'
%}w22 {{ m.content }} {% endif %}{% endfor %}{% if add_generation_prompt %}w23{%
endif %}"""


def write(folder, name, value):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as stream:
        if isinstance(value, str):
            stream.write(value)
        else:
            json.dump(value, stream)


def modules(folder, kind, transformer, second, config):
    """A folder of one of sentence-transformers' kinds of models."""
    write(folder, "config_sentence_transformers.json", {"model_type": kind})
    at = "1_" + second.rsplit(".", 1)[-1]
    write(folder, "modules.json", [
        {"idx": 0, "name": "0", "path": "",
         "type": "sentence_transformers." + transformer},
        {"idx": 1, "name": "1", "path": at,
         "type": "sentence_transformers." + second}])
    write(folder, at + "/config.json", config)


class Poolings(unittest.TestCase):
    def test_of_words(self):
        logits = np.float32([[1, -2, 0], [3, -1, 2]])
        once = np.log1p(np.maximum(logits, 0))
        for sums, twice, expected in (
                (False, False, once.max(0)), (True, False, once.sum(0)),
                (False, True, np.log1p(once).max(0)),
                (True, True, np.log1p(once).sum(0))):
            encoder = SparseEncoder.__new__(SparseEncoder)
            encoder._sums, encoder._is_twice = sums, twice
            np.testing.assert_array_equal(encoder.weights(logits), expected)

    def test_that_are_not_known_are_refused(self):
        for path, config, part in (
                ("1", {"pooling_strategy": "mean"}, "pooling_strategy"),
                ("1", {"activation_function": "x"}, "activation_function"),
                ("../1", {}, "inside"), ("/tmp", {}, "inside")):
            with tempfile.TemporaryDirectory() as folder:
                write(folder, "modules.json", [
                    {"type": "a.SpladePooling", "path": path}])
                write(folder, "1/config.json", config)
                encoder = SparseEncoder.__new__(SparseEncoder)
                with self.assertRaisesRegex(tfc.Error, part):
                    encoder._read(pathlib.Path(folder))


class Retrieval(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        at = cls.scratch.name
        cls.vectors = word_folder(at, "sentence-mean")
        with open(os.path.join(cls.vectors, "config.json")) as stream:
            config = json.load(stream)
        write(cls.vectors, "config.json", {**config,
                                           "matryoshka_dimensions": [8, 16]})
        write(cls.vectors, "config_sentence_transformers.json", {
            "prompts": {"query": "w30 ", "passage": "w31 "},
            "default_prompt_name": None})
        cls.words = word_folder(at, "bert-mlm")
        write(cls.words, "sentence_bert_config.json", {"max_seq_length": 9})
        modules(cls.words, "SparseEncoder", "sparse_encoder.models.MLMTransformer",
                "sparse_encoder.models.SpladePooling",
                {"pooling_strategy": "max", "activation_function": "relu"})
        cls.judge = word_folder(at, "qwen3-lm")
        write(cls.judge, "chat_template.jinja", TEMPLATE)
        takes = {"method": "forward", "method_output_name": "logits"}
        write(cls.judge, "sentence_bert_config.json", {
            "transformer_task": "text-generation",
            "module_output_name": "causal_logits", "modality_config": {
                "text": takes, "message": {**takes, "format": "flat"}},
            "processing_kwargs": {
                "chat_template": {"add_generation_prompt": True}}})
        write(cls.judge, "tokenizer_config.json", {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "pad_token": "[PAD]", "unk_token": "[UNK]"})
        modules(cls.judge, "CrossEncoder", "base.modules.transformer.Transformer",
                "cross_encoder.modules.logit_score.LogitScore",
                {"true_token_id": 40, "false_token_id": 41})
        cls.server = Served(cls.vectors, cls.words, cls.judge).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.scratch.cleanup()
        assert cls.server.status == 0, cls.server.status

    def refused(self, path, body, status, part):
        got, made, _ = self.server.post(path, body)
        self.assertEqual(got, status, made)
        error = made["error"]
        self.assertIn(part, error if isinstance(error, str)
                      else error["message"])

    def test_vectors_cut_where_the_folder_says(self):
        encoder = tfc.SentenceEncoder(tfc.compile(self.vectors, target="cpu"))
        expected = encoder.encode(TEXTS, truncate_dim=8)
        np.testing.assert_allclose(np.linalg.norm(expected, axis=1), 1, 1e-6)
        for path, body, take in (
                ("/v1/embeddings", {"input": TEXTS, "dimensions": 8},
                 lambda made: [each["embedding"] for each in made["data"]]),
                ("/embed", {"inputs": TEXTS, "dimensions": 8},
                 lambda made: made),
                ("/v2/embed", {"texts": TEXTS, "output_dimension": 8},
                 lambda made: made["embeddings"]["float"])):
            made = self.server.ask(path, **body)
            np.testing.assert_array_equal(np.float32(take(made)), expected)
        self.refused("/v1/embeddings", {"input": "w4", "dimensions": 9}, 400,
                     "8, 16")

    def test_prompts_stand_before_texts(self):
        encoder = tfc.SentenceEncoder(tfc.compile(self.vectors, target="cpu"))
        expected = encoder.encode(TEXTS, prompt_name="query")
        self.assertGreater(np.abs(expected - encoder.encode(TEXTS)).max(),
                           1e-3)
        for path, body in (
                ("/embed", {"inputs": TEXTS, "prompt_name": "query"}),
                ("/embed", {"inputs": ["w30 " + text for text in TEXTS]})):
            np.testing.assert_array_equal(
                np.float32(self.server.ask(path, **body)), expected)
        made = self.server.ask("/v2/embed", texts=TEXTS,
                               input_type="search_query")
        np.testing.assert_array_equal(
            np.float32(made["embeddings"]["float"]), expected)
        made = self.server.ask("/v1/embeddings", input=TEXTS,
                               input_type="search_document")
        np.testing.assert_array_equal(
            np.float32([each["embedding"] for each in made["data"]]),
            encoder.encode(TEXTS, prompt_name="passage"))
        self.refused("/embed", {"inputs": "w4", "prompt_name": "qery"}, 400,
                     "query, passage")

    def sparse(self, inputs, **words):
        return self.server.ask("/embed_sparse", model="bert-mlm",
                               inputs=inputs, **words)

    def test_weights_of_words_are_those_of_each_text_alone(self):
        model = tfc.compile(self.words, target="cpu")
        encodings = model.tokenize(TEXTS)
        made = self.sparse(TEXTS)
        for encoding, row in zip(encodings, made):
            logits = model(input_ids=[encoding.ids])["logits"][0]
            expected = np.log1p(np.maximum(logits.max(0), 0))
            self.assertEqual([each["index"] for each in row],
                             np.flatnonzero(expected).tolist())
            np.testing.assert_array_equal(
                np.float32([each["value"] for each in row]),
                expected[expected > 0])
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(
                lambda text: self.sparse(text)[0], TEXTS * 4)), made * 4)
        long = "w4 w5 w6 w7 w8 w9 w10 w11"  # of 9 tokens with both marks
        self.assertEqual(self.sparse(long, truncate=True),
                         self.sparse(long[:-4]))
        self.refused("/embed_sparse", {"model": "bert-mlm", "inputs": long},
                     413, "truncate")
        self.refused("/embed_sparse", {"inputs": "w4"}, 424, "SpladePooling")
        self.refused("/embed", {"model": "bert-mlm", "inputs": "w4"}, 424,
                     "vectors")

    def rank(self, query="w6 w7", **words):
        made = self.server.ask("/v2/rerank", model="qwen3-lm", query=query,
                               documents=TEXTS, **words)
        return [(each["index"], each["relevance_score"])
                for each in made["results"]]

    def test_a_model_that_says_yes_or_no_ranks(self):
        model = tfc.compile(self.judge, target="cpu")
        logits = []
        for text in TEXTS:
            ids = model.tokenizer.encode(f"w21 w6 w7 w22 {text} w23",
                                         add_special_tokens=False).ids
            row = model(input_ids=[ids])["logits"][0, -1].astype(np.float64)
            logits.append(row[40] - row[41])
        scores = 1 / (1 + np.exp(-np.array(logits)))
        made = self.rank()
        self.assertEqual([index for index, _ in made],
                         np.argsort(-scores, kind="stable").tolist())
        np.testing.assert_allclose([score for _, score in made],
                                   sorted(scores, reverse=True), 1e-5)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for other in pool.map(lambda _: self.rank(), range(8)):
                self.assertEqual(other, made, "as alone")
        self.assertNotEqual(self.rank(instruction="w9"), made)
        raw = self.server.ask("/rerank", model="qwen3-lm", query="w6 w7",
                              texts=TEXTS, raw_scores=True)
        np.testing.assert_allclose([each["score"] for each in raw],
                                   sorted(logits, reverse=True), 1e-4, 1e-5)
        self.refused("/v2/rerank", {"model": "qwen3-lm", "query": "w4",
                                    "documents": ["w5 " * 999]}, 400,
                     "tokens")
        self.refused("/v2/rerank", {"query": "w4", "documents": ["w4"]}, 400,
                     "LogitScore")

    def test_as_sentence_transformers(self):
        if not is_drawn(0, 4):
            self.skipTest("not drawn by the seed (TFC_SEED)")
        try:
            from sentence_transformers import CrossEncoder, SparseEncoder
        except ImportError as error:
            self.skipTest(str(error))
        encoder = SparseEncoder(self.words, device="cpu")
        expected = encoder.encode(TEXTS, convert_to_sparse_tensor=False
                                  ).cpu().numpy()
        found = np.zeros_like(expected)
        for row, made in zip(found, self.sparse(TEXTS)):
            for each in made:
                row[each["index"]] = each["value"]
        np.testing.assert_allclose(found, expected, 0, 1e-4)
        ranked = CrossEncoder(self.judge, device="cpu").rank("w6 w7", TEXTS)
        made = self.rank()
        self.assertEqual([index for index, _ in made],
                         [each["corpus_id"] for each in ranked])
        np.testing.assert_allclose([score for _, score in made],
                                   [each["score"] for each in ranked], 1e-4)
