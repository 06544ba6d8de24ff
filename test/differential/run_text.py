#!/usr/bin/env python3
# Tokenizers of a dozen pipelines against Hugging Face's `tokenizers`, live: ids,
# types and offsets of texts and pairs, cut or not, and the text of the ids,
# whole and as a stream.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import random
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, ROOT)
SKIPPED = 77
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import text_corpus
from text_binding import Fault, Library, Tokenizer


def encoded(theirs):
    return {"ids": theirs.ids, "type_ids": theirs.type_ids,
            "offsets": theirs.offsets}


def compare(ours, theirs, text, pair=None, cut=None):
    """What differs, or None."""
    if cut:
        theirs.enable_truncation(cut)
    wanted = encoded(theirs.encode(text, pair))
    if cut:
        theirs.no_truncation()
    try:
        got = ours.encode(text, pair, max_tokens=cut or 0)
    except Fault as fault:
        return f"expected {wanted['ids']}, got the error {fault}"
    for name, value in wanted.items():
        if getattr(got, name) != value:
            return f"{name}: expected {value}, got {getattr(got, name)}"
    return compare_text(ours, theirs, wanted["ids"]) if not cut else None


def compare_text(ours, theirs, ids):
    for skips in (True, False):
        wanted = theirs.decode(ids, skip_special_tokens=skips)
        for name in ("decode", "stream"):
            got = getattr(ours, name)(ids, skip_special=skips)
            if got != wanted:
                return f"{name}: expected {wanted!r}, got {got!r}"
    return None


def shrink(fails, text):
    """A shorter text that fails too."""
    size = len(text) // 2
    while size >= 1:
        for begin in range(0, len(text) - size + 1):
            shorter = text[:begin] + text[begin + size:]
            if fails(shorter):
                text = shorter
                break
        else:
            size //= 2
            continue
        size = min(size, len(text) // 2) or 1
        if len(text) < 2:
            break
    return text


def check(name, ours, theirs, texts, rng, most_faults):
    """The faults of one pipeline, one line each."""
    faults = []
    for text in texts:
        kinds = [(None, None)]
        if rng.random() < 0.1:
            kinds.append((rng.choice(texts), None))
            kinds.append((rng.choice(texts), rng.randint(8, 60)))
            kinds.append((None, rng.randint(8, 60)))
        for pair, cut in kinds:
            if compare(ours, theirs, text, pair, cut) is None:
                continue
            small = shrink(lambda t: compare(ours, theirs, t, pair, cut), text)
            if pair is not None:
                pair = shrink(lambda p: compare(ours, theirs, small, p, cut),
                              pair)
            faults.append(f"{name}: {ascii(small)}, pair {ascii(pair)}, cut "
                          f"{cut}: {ascii(compare(ours, theirs, small, pair, cut))}")
            if len(faults) >= most_faults:
                return faults
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True, help="libtfc_runtime.so")
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("TFC_SEED", "0")))
    parser.add_argument("--texts", type=int, default=600,
                        help="for each pipeline, half of them random")
    parser.add_argument("--only", help="the pipeline of this name")
    options = parser.parse_args()
    try:
        import google.protobuf  # noqa: F401
        import sentencepiece  # noqa: F401
        import tokenizers
        import transformers  # noqa: F401

        import text_pipelines
    except ImportError as missing:
        print(f"skipped: {missing} (tokenizers are compared with those of "
              "these packages)")
        return SKIPPED
    seed = options.seed or random.SystemRandom().randrange(1, 2**31)
    print(f"seed {seed}: run_text.py --seed {seed} (or TFC_SEED)",
          flush=True)
    rng = random.Random(seed)
    spoken, languages = text_corpus.of_programs()
    code = text_corpus.of_code()
    written = spoken + code
    print(f"{len(spoken)} texts in {languages} languages, {len(code)} of code, "
          f"{options.texts} for each pipeline")
    # What is trained is the same whatever the seed.
    trained = random.Random(1).sample(written, min(6000, len(written)))
    library, faults = Library(options.library), []
    with tempfile.TemporaryDirectory(prefix="tfc-text-") as scratch:
        for name, path in text_pipelines.make(scratch, trained):
            if options.only and name != options.only:
                continue
            if not path:
                print(f"{name}: not compared (its vocabulary is not here)")
                continue
            begin = time.time()
            theirs = tokenizers.Tokenizer.from_file(path)
            theirs.no_truncation()
            theirs.no_padding()
            ours = Tokenizer(library, path)
            half = options.texts // 2
            texts = (rng.sample(written, min(half, len(written))) +
                     [text_corpus.draw(rng) for _ in range(half)] +
                     text_corpus.CORNERS)
            found = check(name, ours, theirs, texts, rng, most_faults=5)
            faults += found
            print("\n".join(found) or f"{name}: {len(texts)} texts agree, "
                  f"{time.time() - begin:.1f} s", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
