#!/usr/bin/env python3
# Writes golden.jsonl: small tokenizers of every kind of pipeline, and what
# Hugging Face's `tokenizers` makes of awkward texts by them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: make_golden.py, with transformers and sentencepiece."""
import glob
import json
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "test", "differential"))

import text_corpus
import text_pipelines
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        normalizers, pre_tokenizers, processors, trainers)

SENTENCES = ["time flies like an arrow", "Hello, world! It's 1,234.5 km.",
             "Na\u00efve caf\u00e9s, \ufb01ne \uff21\uff22 \u4e2d\u6587 \U0001f600",
             "  two  spaces\tand\n\nlines  ", "a[MASK] b <s>c</s> d<mask>",
             "I'll don't we've THE THat TH", "\u0130stanbul \u1e9e \u0345\u0301"]
# What the map of characters changes, in code points.
RULES = "FB01\t66 69\nFF21\t41\n41 301\tC1\n2003\t20\nAD\t\n65 301\tE9\n"


def end_tokens(tokenizer, first, last):
    return [(t, tokenizer.token_to_id(t)) for t in (first, last)]


def bert(texts):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]",
                                           max_input_chars_per_word=20))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(texts, trainers.WordPieceTrainer(
        vocab_size=400, show_progress=False,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    tokenizer.decoder = decoders.WordPiece()
    cls, sep = end_tokens(tokenizer, "[CLS]", "[SEP]")
    tokenizer.post_processor = processors.BertProcessing(sep, cls)
    return tokenizer


def roberta(texts):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=400, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<s>", "</s>"]))
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    tokenizer.decoder = decoders.ByteLevel()
    cls, sep = end_tokens(tokenizer, "<s>", "</s>")
    tokenizer.post_processor = processors.RobertaProcessing(sep, cls)
    return tokenizer


def llama(texts):
    """Words with bytes behind them, as sentencepiece's BPE has them."""
    specials = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True,
                                     byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=500, show_progress=False, special_tokens=specials,
        limit_alphabet=60, max_token_length=6))
    spec = json.loads(tokenizer.to_str())
    spec["added_tokens"] = spec["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace("\u2581", " "), decoders.ByteFallback(),
        decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1",
        special_tokens=end_tokens(tokenizer, "<s>", "</s>"))
    return tokenizer


def clip(texts):
    """Words that end with a mark, and a decoder that takes it off."""
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix="</w>",
                                     unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFD(), normalizers.StripAccents(),
        normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=300, show_progress=False, end_of_word_suffix="</w>",
        special_tokens=["[UNK]"]))
    tokenizer.decoder = decoders.BPEDecoder("</w>")
    return tokenizer


def letters(texts):
    vocabulary = {c: i for i, c in enumerate(sorted(set("".join(texts))))}
    vocabulary["<unk>"] = len(vocabulary)
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.NFKD()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.CharDelimiterSplit("\t"),
        pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")])
    return tokenizer


def make_all(texts):
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
        rules.write(RULES)
        rules.flush()
        unigrams = dict(text_pipelines.unigrams(
            texts, vocab_size=300, character_coverage=1.0,
            normalization_rule_tsv=rules.name))
    made = {"bert": bert(texts), "roberta": roberta(texts),
            "llama2": llama(texts), "clip": clip(texts),
            "letters": letters(texts)}
    specs = {name: json.loads(t.to_str()) for name, t in made.items()}
    for name, pattern, composes in (("qwen2", text_pipelines.QWEN, True),
                                    ("llama3", text_pipelines.LLAMA3, False)):
        specs[name] = text_pipelines.train_bytes(
            texts, pattern, composes, not composes, size=330)
    return {**specs, **unigrams, "awkward": text_pipelines.awkward()}


def cases(tokenizer, texts, rng):
    for i, text in enumerate(texts):
        pair = rng.choice(texts) if i % 4 == 0 else None
        cut = rng.randint(6, 12) if i % 8 == 0 else 0
        if cut:
            tokenizer.enable_truncation(cut)
        got = tokenizer.encode(text, pair)
        tokenizer.no_truncation()
        yield {"text": text, "pair": pair, "cut": cut, "ids": got.ids,
               "types": got.type_ids,
               "offsets": [place for pair in got.offsets for place in pair],
               "decoded": tokenizer.decode(got.ids),
               "whole": tokenizer.decode(got.ids, skip_special_tokens=False)}


def main():
    learned = []
    for path in sorted(glob.glob(os.path.join(ROOT, "docs", "*.md"))):
        with open(path, encoding="utf-8") as stream:
            learned += stream.read().split("\n")
    rng = random.Random(3)
    texts = SENTENCES + text_corpus.CORNERS + \
        [text_corpus.draw(rng) for _ in range(25)]
    with open(os.path.join(HERE, "golden.jsonl"), "w") as stream:
        for name, spec in make_all(learned[:1500] + SENTENCES).items():
            tokenizer = Tokenizer.from_str(json.dumps(spec))
            stream.write(json.dumps({
                "name": name, "tokenizer": json.dumps(spec),
                "cases": list(cases(tokenizer, texts, rng))}) + "\n")


if __name__ == "__main__":
    main()
