#!/usr/bin/env python3
# Random tokenizer pipelines against Hugging Face's `tokenizers`, live: ids,
# types, offsets and sequences of texts and pairs, cut or not; the text of the
# ids, whole and as a stream. What differs is made as small as it gets.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import collections
import copy
import json
import os
import random
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
SKIPPED = 77
os.environ.update(TOKENIZERS_PARALLELISM="false", RUST_BACKTRACE="0",
                  TRANSFORMERS_VERBOSITY="error")

import text_corpus
from text_binding import Fault, Library, Tokenizer

# Those of draw_pipelines' patterns that match no character.
EMPTY = [r"\b"]
CUTS = {"longest_first": 0, "only_first": 1, "only_second": 2}


class Raises:
    """A call that gave an error."""

    def __init__(self, error):
        self.text = str(error)
        # Not an answer of theirs: a fault in their code that ends the call.
        self.is_panic = type(error).__name__ == "PanicException"

    def __eq__(self, other):
        return isinstance(other, Raises)

    def __repr__(self):
        return f"the error {self.text[:100]!r}"


def answer(call, *arguments, **options):
    try:
        return call(*arguments, **options)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic is no Exception
        return Raises(error)


class Case:
    """One text and what is asked of it."""

    def __init__(self, text, pair=None, cut=0, what="longest_first", left=False,
                 special=True, as_text=False):
        self.text, self.pair, self.cut, self.what = text, pair, cut, what
        self.left, self.special, self.as_text = left, special, as_text

    def __repr__(self):
        named = {name: value for name, value in vars(self).items()
                 if value != vars(Case(self.text))[name]}
        return ascii({"text": self.text, **named})


class Both:
    """A file in both libraries. Raises Fault where ours refuses it."""

    def __init__(self, library, spec):
        import tokenizers
        written = json.dumps(spec, ensure_ascii=False)
        self.spec, self.theirs = spec, tokenizers.Tokenizer.from_str(written)
        self.theirs.no_truncation()
        self.theirs.no_padding()
        with tempfile.NamedTemporaryFile("w", suffix=".json",
                                         encoding="utf-8") as stream:
            stream.write(written)
            stream.flush()
            self.ours = Tokenizer(library, stream.name)

    def encode_theirs(self, case):
        if case.cut:
            self.theirs.enable_truncation(
                case.cut, strategy=case.what,
                direction="left" if case.left else "right")
        self.theirs.encode_special_tokens = case.as_text
        try:
            found = self.theirs.encode(case.text, case.pair,
                                       add_special_tokens=case.special)
        finally:
            self.theirs.no_truncation()
        return {"ids": found.ids, "type_ids": found.type_ids,
                "offsets": found.offsets,
                "sequences": [-1 if s is None else s
                              for s in found.sequence_ids]}

    def encode_ours(self, case):
        found = self.ours.encode(
            case.text, case.pair, max_tokens=case.cut,
            truncate=CUTS[case.what], truncate_left=int(case.left),
            no_special=int(not case.special),
            special_as_text=int(case.as_text))
        return {name: getattr(found, name)
                for name in ("ids", "type_ids", "offsets", "sequences")}

    def differences(self, case):
        """(what, theirs, ours) of everything that is not the same."""
        wanted = answer(self.encode_theirs, case)
        got = answer(self.encode_ours, case)
        if isinstance(wanted, Raises) or isinstance(got, Raises):
            if wanted != got:
                yield "error", wanted, got
            return
        different = [name for name in wanted if wanted[name] != got[name]]
        # Where the ids differ all else does.
        for name in different[:1] if "ids" in different else different:
            yield name, wanted[name], got[name]
        if "ids" not in different and not case.cut:
            yield from self.text_differences(wanted["ids"])

    def text_differences(self, ids):
        for skips in (True, False):
            wanted = answer(self.theirs.decode, ids, skip_special_tokens=skips)
            for name in ("decode", "stream"):
                got = answer(getattr(self.ours, name), ids, skip_special=skips)
                if got != wanted:
                    yield name, wanted, got


# ---- What may differ, and why ------------------------------------------------

def panics(both, case, what, theirs, ours):
    """Their code ends with a panic, where ours answers or says an error."""
    return isinstance(theirs, Raises) and theirs.is_panic


def cut_below_special(both, case, what, theirs, ours):
    """A limit that the special tokens alone exceed is an error here; there it
    is exceeded."""
    wanted = ("expected a limit of", "expected a second text")
    return (what == "error" and isinstance(ours, Raises) and
            ours.text.startswith(wanted) and
            case.cut < case.special * both.theirs.num_special_tokens_to_add(
                case.pair is not None))


def cut_to_nothing(both, case, what, theirs, ours):
    """Cutting all of the text that is to be cut is an error there; where the
    limit leaves only special tokens, the other text goes, too, which is an
    error here."""
    if what != "error" or case.what == "longest_first":
        return False
    if isinstance(ours, Raises):
        return case.cut == case.special * both.theirs.num_special_tokens_to_add(
            case.pair is not None)
    cut = 0 if case.what == "only_first" else 1
    return "too short" in theirs.text and cut not in ours["sequences"]


def drops_characters(both, case, what, theirs, ours):
    """BPE without an unknown token leaves out characters without a token; there
    the places of all tokens behind them are shifted."""
    model = both.spec["model"]
    if what != "offsets" or "merges" not in model or model["unk_token"]:
        return False
    prefix = model["continuing_subword_prefix"] or ""
    suffix = model["end_of_word_suffix"] or ""

    def has_all(word):
        return all((prefix if i else "") + c +
                   ("" if i + 1 < len(word) else suffix) in model["vocab"]
                   for i, c in enumerate(word))

    def words(text):
        theirs = both.theirs
        if theirs.normalizer:
            text = theirs.normalizer.normalize_str(text)
        if not theirs.pre_tokenizer:
            return [text]
        return [w for w, _ in theirs.pre_tokenizer.pre_tokenize_str(text)]

    return not all(has_all(word) for text in (case.text, case.pair or "")
                   for word in words(text))


def writes_between(both, case, what, theirs, ours):
    """What a Replace writes where its pattern matches no character belongs to
    no character of the text; there some of what follows says such text twice,
    or gives it another place, where it does not end with a panic."""
    steps = both.spec.get("normalizer") or {}
    return what in ("ids", "offsets") and any(
        step["type"] == "Replace" and
        step["pattern"].get("Regex") in EMPTY
        for step in steps.get("normalizers", [steps]) if step)


EXCEPTIONS = [panics, cut_below_special, cut_to_nothing, drops_characters,
              writes_between]


def normalizes_to_nothing(both):
    """An added token that the normalizer makes empty is found everywhere there,
    and nowhere here. Such pipelines are not compared."""
    return "" in normalized_tokens(both)


def normalizes_alike(both):
    """Of two added tokens that the normalizer makes the same, chance decides
    there which is found. Such pipelines are not compared."""
    texts = normalized_tokens(both)
    return len(set(texts)) < len(texts)


def normalized_tokens(both):
    normalizer = both.theirs.normalizer
    return [normalizer.normalize_str(token["content"])
            for token in both.spec["added_tokens"]
            if normalizer and token["normalized"]]


NOT_COMPARED = [normalizes_to_nothing, normalizes_alike]


def faults_of(both, case, counts=None):
    """The differences that none of the exceptions explains."""
    for what, theirs, ours in both.differences(case):
        known = next((e for e in EXCEPTIONS
                      if e(both, case, what, theirs, ours)), None)
        if counts is not None:
            counts[known.__name__ if known else what] += 1
        if not known:
            yield what, theirs, ours


# ---- Making it smaller -------------------------------------------------------

def shorter(text):
    size = max(len(text) // 2, 1) if text else 0
    while size >= 1:
        for begin in range(0, len(text) - size + 1, size):
            yield text[:begin] + text[begin + size:]
        size //= 2


def simpler_cases(case):
    for name in ("text", "pair"):
        if getattr(case, name):
            for text in shorter(getattr(case, name)):
                yield Case(**{**vars(case), name: text})
    plain = vars(Case(case.text))
    for name, value in vars(case).items():
        if name != "text" and value != plain[name]:
            yield Case(**{**vars(case), name: plain[name]})


def simpler_specs(spec):
    inner = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers",
             "post_processor": "processors", "decoder": "decoders"}
    for name, parts in inner.items():
        if spec[name] is None:
            continue
        yield {**spec, name: None}
        for i in range(len(spec[name].get(parts, []))):
            smaller = copy.deepcopy(spec[name])
            del smaller[parts][i]
            yield {**spec, name: smaller}
    tokens = spec["added_tokens"]
    for i, token in enumerate(tokens):
        # The ids of the others may be those behind the vocabulary.
        yield {**spec, "added_tokens": tokens[:i] + tokens[i + 1:]}
        for name in ("single_word", "lstrip", "rstrip", "normalized"):
            if token[name]:
                yield {**spec, "added_tokens":
                       tokens[:i] + [{**token, name: False}] + tokens[i + 1:]}


def shrink(library, both, case, what):
    """A pipeline and a case, both smaller, that differ in the same."""
    def still(both, case):
        return any(found[0] == what for found in faults_of(both, case))

    def try_spec(spec):
        try:
            return Both(library, spec)
        except BaseException:
            return None

    deadline = time.time() + 20
    has_shrunk = True
    while has_shrunk and time.time() < deadline:
        has_shrunk = False
        for smaller in simpler_cases(case):
            if still(both, smaller):
                case, has_shrunk = smaller, True
                break
        if has_shrunk:
            continue
        for spec in simpler_specs(both.spec):
            smaller = try_spec(spec)
            if smaller and still(smaller, case):
                both, has_shrunk = smaller, True
                break
    return both, case


def describe(library, number, both, case, what):
    both, case = shrink(library, both, case, what)
    found = next(f for f in faults_of(both, case) if f[0] == what)
    model = {name: value for name, value in both.spec["model"].items()
             if name not in ("vocab", "merges")}
    spec = {name: value for name, value in both.spec.items() if value}
    return (f"pipeline {number}: {case!r}: {what}: expected "
            f"{ascii(found[1])}, got {ascii(found[2])}\n  "
            f"{ascii({**spec, 'model': model})}")


# ---- The test ----------------------------------------------------------------

def draw_cases(drawer, both, written, count):
    tokens = [token["content"] for token in both.spec["added_tokens"]]
    texts = [drawer.text(written, tokens) for _ in range(count)]
    for text in texts + [drawer.one(*text_corpus.CORNERS)]:
        yield Case(text)
        if drawer.coin(0.3):
            yield Case(
                text, pair=drawer.one(None, *texts), left=drawer.coin(),
                cut=drawer.one(0, drawer.random.randint(1, 40)),
                what=drawer.one("longest_first", *CUTS),
                special=drawer.coin(0.8), as_text=drawer.coin(0.2))


def compare(library, drawer, number, written, options, counts):
    """The faults of one pipeline, those of a kind once."""
    name, spec = drawer.pipeline()
    try:
        both = Both(library, spec)
    except Fault as fault:
        counts["refused here"] += 1
        return [f"pipeline {number}: expected a tokenizer, got the error "
                f"{fault}"]
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        counts["refused there"] += 1
        return []
    for reason in NOT_COMPARED:
        if reason(both):
            counts[reason.__name__] += 1
            return []
    counts["pipelines"] += 1
    seen, faults = set(), []
    for case in draw_cases(drawer, both, written, options.texts):
        counts["comparisons"] += 1
        for what, _, _ in list(faults_of(both, case, counts)):
            if what not in seen:
                seen.add(what)
                faults.append(describe(library, number, both, case, what))
    return faults


def compare_classes(library, rng):
    """Faults of classes of characters, by all that are common and some pages of
    256 others."""
    pages = [*range(0x30), *rng.sample(range(0x30, 0xd8), 20),
             *rng.sample(range(0xe0, 0x1100), 60)]
    text = "".join(chr(c) for page in pages
                   for c in range(page << 8, (page + 1) << 8))
    from draw_pipelines import CLASSES, class_cut
    for pattern in CLASSES:
        both = Both(library, class_cut(pattern))
        for what, _, _ in faults_of(both, Case(text)):
            yield describe(library, pattern, both, Case(text), what)
            break


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True, help="libtfc_runtime.so")
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("TFC_SEED", "0")))
    parser.add_argument("--pipelines", type=int, default=120)
    parser.add_argument("--texts", type=int, default=16,
                        help="for each pipeline")
    parser.add_argument("--first", type=int, default=0,
                        help="the number of the first pipeline")
    parser.add_argument("--faults", type=int, default=5,
                        help="how many to show before it ends")
    options = parser.parse_args()
    try:
        import google.protobuf  # noqa: F401
        import sentencepiece  # noqa: F401
        import tokenizers  # noqa: F401

        import draw_pipelines
    except ImportError as missing:
        print(f"skipped: {missing} (tokenizers are compared with those of "
              "these packages)")
        return SKIPPED
    # Panics are written there, whether they are caught or not.
    sys.stderr = os.fdopen(os.dup(2), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    seed = options.seed or random.SystemRandom().randrange(1, 2**31)
    print(f"seed {seed}: run_pipelines.py --seed {seed} (or TFC_SEED)",
          flush=True)
    written = text_corpus.of_programs()[0] + text_corpus.of_code()
    trained = draw_pipelines.train(
        random.Random(1).sample(written, min(1500, len(written))))
    library, counts, num_faults = Library(options.library), \
        collections.Counter(), 0
    for fault in compare_classes(library, random.Random(seed)):
        num_faults += 1
        print(fault, flush=True)
    for number in range(options.first, options.first + options.pipelines):
        drawer = draw_pipelines.Drawer(random.Random(f"{seed} {number}"),
                                       *trained)
        for fault in compare(library, drawer, number, written, options, counts):
            num_faults += 1
            print(fault, flush=True)
        if num_faults >= options.faults:
            break
    print(dict(counts))
    return 1 if num_faults else 0


if __name__ == "__main__":
    sys.exit(main())
