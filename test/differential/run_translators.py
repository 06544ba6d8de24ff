#!/usr/bin/env python3
# Folders of translators, whose vocab.json has the ids of sentencepiece's pieces,
# against transformers' tokenizers of the same files: ids of texts, and back.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import random
import shutil
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, ROOT)
SKIPPED = 77
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import run_text
import run_vocabularies
import text_corpus
from text_binding import Fault, Library, Tokenizer

SPECIAL = ["</s>", "<unk>", "<pad>"]
# What a text may begin with, and what means nothing in the middle of one.
CODES = [">>fra<<", ">>deu_Latn<<"]
# Characters that no piece has, alone, side by side, and before known ones.
UNKNOWN = ["\u2603", "a\u2603\u2603 b", "\u2603\u2604 c", "x\u2603y"]


def vocabulary(path, pieces, rng, special):
    """Ids in another order than the pieces', of most of them, and of some that
    texts never have."""
    texts = [piece for piece in pieces if piece not in SPECIAL + ["<s>"]]
    kept = [piece for piece in texts if rng.random() < 0.9]
    others = ["\u2581of", "the", "\u2581target", "\u2603"]
    kept += [text for text in others if text not in texts]
    rng.shuffle(kept)
    with open(path, "w") as stream:
        json.dump({text: i for i, text in enumerate(special + kept)}, stream)


def pieces_of(model):
    import sentencepiece
    made = sentencepiece.SentencePieceProcessor()
    made.Load(model)
    return [made.IdToPiece(i) for i in range(made.GetPieceSize())]


def write(folder, name, model, settings, rng):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    is_marian = name == "MarianTokenizer"
    for target in (("source.spm", "target.spm") if is_marian else
                   ("sentencepiece.bpe.model",)):
        shutil.copy(model, os.path.join(folder, target))
    special = (SPECIAL + CODES if is_marian else
               ["<s>", "<pad>", "</s>", "<unk>"])
    vocabulary(os.path.join(folder, "vocab.json"), pieces_of(model), rng,
               special)
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as stream:
        json.dump({"tokenizer_class": name, **settings}, stream)


def compare(ours, theirs, text):
    """What tfc does otherwise, or None."""
    wanted, got = theirs(text)["input_ids"], ours.encode(text).ids
    if got != wanted:
        return f"expected {wanted}, got {got}"
    wanted = theirs.decode(wanted, skip_special_tokens=True)
    for way in (ours.decode, ours.stream):
        if way(got) != wanted:
            return f"as text: expected {wanted!r}, got {way(got)!r}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True, help="libtfc_runtime.so")
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("TFC_SEED", "0")))
    parser.add_argument("--texts", type=int, default=120,
                        help="for each folder, half of them random")
    options = parser.parse_args()
    try:
        import sentencepiece  # noqa: F401
        import transformers
    except ImportError as missing:
        print(f"skipped: {missing} (folders are compared with what these "
              "packages make of them)")
        return SKIPPED
    seed = options.seed or random.SystemRandom().randrange(1, 2**31)
    print(f"seed {seed}: run_translators.py --seed {seed} (or TFC_SEED)",
          flush=True)
    rng = random.Random(seed)
    code = text_corpus.of_code()
    trained = random.Random(1).sample(code, min(1000, len(code)))
    library, faults = Library(options.library), []
    with tempfile.TemporaryDirectory(prefix="tfc-translators-") as scratch:
        def train(name, **how):
            return run_vocabularies.train(os.path.join(scratch, name), trained,
                                          vocab_size=600, **how)

        unigram = train("unigram")
        plain = train("plain", normalization_rule_name="identity")
        bpe = train("bpe", model_type="bpe")
        for name, model, settings in (
                ("MarianTokenizer", unigram, {}),
                ("MarianTokenizer", plain, {"source_lang": "en"}),
                ("MarianTokenizer", bpe, {}),
                ("M2M100Tokenizer", unigram, {"src_lang": "de"}),
                ("M2M100Tokenizer", bpe, {"language_codes": "wmt21"})):
            folder = os.path.join(scratch, "folder")
            write(folder, name, model, settings, rng)
            theirs = getattr(transformers, name).from_pretrained(folder)
            try:
                ours = Tokenizer(library, folder)
            except Fault as fault:
                faults.append(f"{name} {settings}: {fault}")
                print(faults[-1])
                continue
            half = options.texts // 2
            texts = (rng.sample(code, half) + text_corpus.CORNERS + UNKNOWN +
                     [text_corpus.draw(rng) for _ in range(half)])
            if name == "MarianTokenizer":
                texts += [f"{each} {rng.choice(code)}" for each in CODES]
                texts = [text for text in texts if not text.startswith(">>") or
                         text.startswith(tuple(CODES))]
            found = []
            for text in texts:
                if compare(ours, theirs, text) is None:
                    continue
                small = run_text.shrink(lambda t: compare(ours, theirs, t),
                                        text)
                found.append(f"{name} {settings} {os.path.basename(model)}: "
                             f"{ascii(small)}: "
                             f"{ascii(compare(ours, theirs, small))}")
                if len(found) == 3:
                    break
            faults += found
            print("\n".join(found) or f"{name} {os.path.basename(model)} "
                  f"{settings}: {len(texts)} texts agree", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
