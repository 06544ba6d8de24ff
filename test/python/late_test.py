# Late interaction: vectors of tokens, as sentence-transformers and PyLate make
# them of ColBERT's folders, and BGE-M3's three outputs of one pass.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import base64
import concurrent.futures
import json
import os
import pathlib
import pickle
import random
import tempfile
import unittest
import zipfile

import numpy as np

import tfcompiler as tfc
from run_tests import is_drawn
from serving import Served, word_folder  # which knows where tensors is
import tensors
from tfcompiler.serve._late import maxsim
from tfcompiler.serve._pickles import read_matrices

QUERIES = ["w6 w7", "w8 w9 . w10", "w11 " * 11 + "w12"]
TEXTS = ["w4 w5 . w6", "w7", "w8 . . w9 w10 w11 w12", "w5 w5", "w4 w9 w6 w7"]


def write(folder, name, value):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as stream:
        json.dump(value, stream)


def named(folder, names):
    """Gives tokens of a vocabulary of words other names; [Q] and [D] are found
    in texts, as in published folders."""
    path = os.path.join(folder, "tokenizer.json")
    with open(path) as stream:
        made = json.load(stream)
    vocabulary = made["model"]["vocab"]
    for old, new in names.items():
        vocabulary[new] = vocabulary.pop(old)
    made["added_tokens"] = [
        {"id": vocabulary[name], "content": name, "special": True,
         "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False} for name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                           *names.values()) if name != "."]
    with open(path, "w") as stream:
        json.dump(made, stream)
    write(folder, "tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]",
        "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]",
        "mask_token": "[MASK]"})


def matrix(seed, rows, columns):
    draw = random.Random(seed)
    return tensors.Tensor("F32", [rows, columns],
                          [draw.uniform(-1, 1) for _ in range(rows * columns)])


def colbert(scratch, name, told, transformer, kinds, dense):
    """A folder of late interaction over a small BERT."""
    folder = word_folder(os.path.join(scratch, name), "bert-model")
    named(folder, {"w40": "[MASK]", "w41": "[Q] ", "w42": "[D] ", "w43": "."})
    write(folder, "config_sentence_transformers.json", told)
    write(folder, "sentence_bert_config.json", transformer)
    write(folder, "modules.json", [
        {"idx": number, "name": str(number), "type": kind,
         "path": f"{number}_{kind.rsplit('.', 1)[-1]}" if number else ""}
        for number, kind in enumerate(kinds)])
    write(folder, "1_Dense/config.json", {
        "in_features": 52, "out_features": 8, "bias": False,
        "activation_function": "torch.nn.modules.linear.Identity", **dense})
    tensors.write(os.path.join(folder, "1_Dense", "model.safetensors"),
                  {"linear.weight": matrix(7, 8, 52)})
    return folder


def pylate(scratch):
    return colbert(
        scratch, "pylate", {
            "model_type": "ColBERT", "query_prefix": "[Q] ",
            "document_prefix": "[D] ", "query_length": 12,
            "document_length": 9, "attend_to_expansion_tokens": False,
            "skiplist_words": ["."], "similarity_fn_name": "MaxSim"},
        {"max_seq_length": 11, "do_lower_case": False},
        ["sentence_transformers.models.Transformer",
         "pylate.models.Dense.Dense"], {})


def native(scratch):
    st = "sentence_transformers."
    folder = colbert(
        scratch, "native", {
            "model_type": "MultiVectorEncoder",
            "prompts": {"query": "w30 ", "document": ""}},
        {"max_seq_length": 20, "query_expansion": {
            "strategy": "min", "attend": True, "length": 10, "token": None}},
        [st + "base.modules.transformer.Transformer",
         st + "base.modules.dense.Dense",
         st + "multi_vector_encoder.modules.multi_vector_mask.MultiVectorMask",
         st + "base.modules.normalize.Normalize"],
        {"module_input_name": "token_embeddings"})
    write(folder, "2_MultiVectorMask/config.json", {
        "skiplist_words": [".", "w9"], "skiplist_tasks": ["query",
                                                         "document"]})
    write(folder, "3_Normalize/config.json",
          {"module_input_name": "token_embeddings"})
    return folder


def m3(scratch):
    """A folder with BGE-M3's two files; as safetensors, or torch.save's."""
    folder = word_folder(os.path.join(scratch, "m3"), "sentence-cls")
    for name, rows in (("sparse_linear", 1), ("colbert_linear", 6)):
        tensors.write(os.path.join(folder, name + ".safetensors"), {
            "weight": matrix(rows, rows, 26), "bias": tensors.Tensor(
                "F32", [rows], [0.1 * i for i in range(rows)])})
    return folder


class Pickles(unittest.TestCase):
    """Files of torch.save, of which nothing is executed."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.path = pathlib.Path(self.scratch.name, "linear.pt")

    def save(self, pickled, data=b"\0" * 64, name="linear"):
        with zipfile.ZipFile(self.path, "w") as archive:
            archive.writestr(f"{name}/data.pkl", pickled)
            archive.writestr(f"{name}/data/0", data)

    def test_are_read_as_torch_reads_them(self):
        try:
            import torch
        except ImportError as error:
            self.skipTest(str(error))
        for kind in (torch.float32, torch.float16, torch.bfloat16):
            both = torch.arange(14).reshape(2, 7).to(kind) / 3
            wanted = {"weight": both[:, :], "bias": both[1], "one": both[0]}
            torch.save(wanted, self.path)
            made = read_matrices(self.path)
            self.assertEqual(list(made), list(wanted))
            for name, value in wanted.items():
                np.testing.assert_array_equal(made[name],
                                              value.float().numpy())
        torch.save({"weight": both.T}, self.path)
        with self.assertRaisesRegex(tfc.Error, "strides"):
            read_matrices(self.path)

    def test_call_nothing(self):
        flag = os.path.join(self.scratch.name, "called")

        class Calls:
            def __reduce__(self):
                return os.mkdir, (flag,)
        self.save(pickle.dumps({"weight": Calls()}, 2))
        with self.assertRaisesRegex(tfc.Error, "linear.pt: .*mkdir.*no tensor"):
            read_matrices(self.path)
        self.assertFalse(os.path.exists(flag))

    def test_that_are_damaged_are_refused(self):
        good = b"\x80\x02}."
        for wrong in (b"", good[:-1], pickle.dumps([1]), pickle.dumps(7),
                      pickle.dumps({"weight": 7}), b"\x80\x02Q.",
                      b"\x80\x02]Q.", b"(" * 5000):
            self.save(wrong)
            with self.assertRaisesRegex(tfc.Error, "linear.pt: expected"):
                read_matrices(self.path)
        self.save(good)
        self.assertEqual(read_matrices(self.path), {})
        whole = self.path.read_bytes()
        for end in (0, 1, 30, len(whole) - 1):
            self.path.write_bytes(whole[:end])
            with self.assertRaisesRegex(tfc.Error, "linear.pt: expected"):
                read_matrices(self.path)
        path = self.path.with_suffix(".safetensors")
        for wrong in (b"", b"\xff" * 8, b"\2" + bytes(7) + b"{}x",
                      b"\2" + bytes(7) + b"[]"):
            path.write_bytes(wrong)
            if wrong[-1:] != b"x":
                with self.assertRaisesRegex(tfc.Error, "expected tensors"):
                    read_matrices(path)


class Late(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folders = [make(cls.scratch.name)
                       for make in (pylate, native, m3)]
        cls.names = ["pylate", "native", "m3"]
        words = [word for name in cls.names
                 for word in ("--served-model-name", name)]
        cls.server = Served(*cls.folders, *words).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.scratch.cleanup()
        assert cls.server.status == 0, cls.server.status

    def vectors(self, name, inputs, task, **words):
        made = self.server.ask("/embed_all", model=name, inputs=inputs,
                               prompt_name=task, truncate=True, **words)
        return [np.float32(each) for each in made]

    def check_alone(self, name):
        """The same bytes alone, in any batch, and packed."""
        for task, texts in (("query", QUERIES), ("document", TEXTS)):
            together = self.vectors(name, texts, task)
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                alone = list(pool.map(lambda text: self.vectors(
                    name, [text], task)[0], texts * 3))
            for made, wanted in zip(alone, together * 3):
                np.testing.assert_array_equal(made, wanted)
            made = self.server.ask(
                "/embed_all", model=name, inputs=texts, prompt_name=task,
                truncate=True, encoding_format="base64")
            for rows, wanted in zip(made, together):
                np.testing.assert_array_equal(np.frombuffer(b"".join(
                    map(base64.b64decode, rows)), "<f4").reshape(
                        wanted.shape), wanted)
        made = self.server.ask("/v2/rerank", model=name, query=QUERIES[0],
                               documents=TEXTS)["results"]
        query, = self.vectors(name, QUERIES[:1], "query")
        divisor = len(query) if name == "m3" else 1
        wanted = np.array([maxsim(query, row) / divisor for row in
                           self.vectors(name, TEXTS, "document")])
        self.assertEqual([each["index"] for each in made],
                         np.argsort(-wanted, kind="stable").tolist())
        np.testing.assert_allclose(
            [each["relevance_score"] for each in made],
            sorted(wanted, reverse=True), 1e-6)

    def test_is_the_same_in_every_batch(self):
        for name in self.names:
            self.check_alone(name)

    def test_marks_grows_and_skips(self):
        query, longest = (self.vectors("pylate", [text], "query")[0]
                          for text in (QUERIES[0], QUERIES[2]))
        self.assertEqual(query.shape, (12, 8))
        self.assertEqual(longest.shape, (12, 8))
        # [CLS] [D] w4 w5 w6 [SEP], but not the point.
        self.assertEqual([len(each) for each in self.vectors(
            "pylate", TEXTS, "document")], [6, 4, 7, 5, 7])
        np.testing.assert_allclose(np.linalg.norm(query, axis=1), 1, 1e-5)
        self.assertEqual([len(each) for each in self.vectors(
            "native", QUERIES, "query")], [10, 8, 15])

    def test_gives_three_outputs_of_one_pass(self):
        model = tfc.compile(self.folders[2], target="cpu")
        files = [tensors.read(os.path.join(self.folders[2], name))
                 for name in ("sparse_linear.safetensors",
                              "colbert_linear.safetensors")]
        (sparse, sparse_bias), (multi, multi_bias) = (
            (np.reshape(each["weight"].data, each["weight"].shape),
             np.array(each["bias"].data)) for each in files)
        made = self.server.ask("/v1/embeddings", model="m3", input=TEXTS,
                               return_sparse=True, return_colbert_vecs=True)
        alone = self.server.ask("/v1/embeddings", model="m3", input=TEXTS)
        words = self.server.ask("/embed_sparse", model="m3", inputs=TEXTS)
        for text, each, plain, row in zip(TEXTS, made["data"], alone["data"],
                                          words):
            ids = model.tokenizer.encode(text).ids
            states = model(input_ids=[ids])["last_hidden_state"][0].astype(
                np.float64)
            self.assertEqual(each["embedding"], plain["embedding"])
            weights = np.maximum(states @ sparse.T + sparse_bias, 0)[:, 0]
            wanted = {}
            for id, weight in zip(ids, weights):
                if id > 3 and weight > 0:
                    wanted[id] = max(weight, wanted.get(id, 0))
            found = {int(id): weight for id, weight
                     in each["lexical_weights"].items()}
            self.assertEqual(set(found), set(wanted))
            for id, weight in wanted.items():
                self.assertAlmostEqual(found[id], weight, 4)
            self.assertEqual([(one["index"], one["value"]) for one in row],
                             sorted(found.items()))
            rows = states[1:] @ multi.T + multi_bias
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            np.testing.assert_allclose(each["colbert_vecs"], rows, 0, 1e-4)

    def test_is_refused_by_name(self):
        for path, body, status, part in (
                ("/embed_all", {"inputs": "w4", "prompt_name": "qery"}, 400,
                 "query, document"),
                ("/embed_all", {"inputs": "w4 " * 30}, 413, "truncate"),
                ("/embed_all", {"inputs": [[4, 5]]}, 400, "text"),
                ("/embed", {"inputs": "w4"}, 424, "vectors"),
                ("/v1/embeddings", {"input": "w4", "model": "m3",
                                    "return_sparse": 1}, 400, "true"),
                ("/embed_sparse", {"inputs": "w4"}, 424, "BGE-M3")):
            got, made, _ = self.server.post(path, body)
            error = made["error"]
            self.assertEqual(got, status, made)
            self.assertIn(part, error if isinstance(error, str)
                          else error["message"])
        for change, part in (
                ({"activation_function": "torch.nn.modules.activation.Tanh"},
                 "Tanh"), ({"use_residual": True}, "use_residual")):
            with tempfile.TemporaryDirectory() as scratch:
                folder = pylate(scratch)
                path = os.path.join(folder, "1_Dense", "config.json")
                with open(path) as stream:
                    config = json.load(stream)
                write(folder, "1_Dense/config.json", {**config, **change})
                with self.assertRaisesRegex(tfc.Error, part):
                    self.read(folder)
                write(folder, "1_Dense/config.json", config)
                tensors.write(os.path.join(folder, "1_Dense",
                                           "model.safetensors"),
                              {"linear.weight": matrix(1, 8, 51)})
                with self.assertRaisesRegex(tfc.Error, "52.*8, 51"):
                    self.read(folder)

    def read(self, folder):
        from tfcompiler.serve._late import ColBert
        from tfcompiler.serve._modules import read_modules
        with tfc.compile(folder, target="cpu") as model:
            return ColBert(model, read_modules(model.folder))

    def test_as_sentence_transformers(self):
        if not is_drawn(1, 4):
            self.skipTest("not drawn by the seed (TFC_SEED)")
        try:
            from sentence_transformers import MultiVectorEncoder
        except ImportError as error:
            self.skipTest(str(error))
        for name, folder in zip(self.names[:2], self.folders):
            encoder = MultiVectorEncoder(folder, device="cpu")
            for task, texts, encode in (
                    ("query", QUERIES, encoder.encode_query),
                    ("document", TEXTS, encoder.encode_document)):
                expected = encode(texts, convert_to_numpy=True)
                for made, wanted in zip(self.vectors(name, texts, task),
                                        expected):
                    self.assertEqual(made.shape, wanted.shape, (name, task))
                    np.testing.assert_allclose(made, wanted, 0, 1e-4)
            scores = encoder.similarity(
                encoder.encode_query(QUERIES[:1]),
                encoder.encode_document(TEXTS)).numpy()[0]
            made = self.server.ask("/rerank", model=name, query=QUERIES[0],
                                   texts=TEXTS, truncate=True)
            self.assertEqual([each["index"] for each in made],
                             np.argsort(-scores, kind="stable").tolist())
            np.testing.assert_allclose([each["score"] for each in made],
                                       sorted(scores, reverse=True), 1e-4)


if __name__ == "__main__":
    unittest.main()
