# Random tokenizer pipelines: small models of all kinds that are trained once,
# and around them whatever parts and switches a file may have.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import base64
import json

import text_corpus
from text_pipelines import LLAMA3, QWEN, train_unigram

GPT2 = (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|"
        r"\s+(?!\S)|\s+")
GPT4O = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*"
         r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
PATTERNS = [
    LLAMA3, QWEN, GPT2, GPT4O, r"\p{N}{1,3}", r"\s+$", r"^.", r"\b", r"\B.",
    r"\w+|[^\w\s]+", r"[\w']+|[^\w\s]", r"[^\W\d]+", r"\d(?=(\d{3})+\b)",
    r"(?<=\d)[.,](?=\d)", r"[[:alpha:]]+|[[:punct:]]", r"[[:^space:]]+",
    r"\p{Letter}+|\p{Decimal_Number}", r"\p{Han}+|\p{Hiragana}|\p{Katakana}+",
    r"[\p{L}&&[^a-m]]+", r"(?:ab)*?c|a{2,3}", r"x*\s+?\z", r"\p{Lu}\p{Ll}*+",
    r"[一-鿿぀-ヿ]+", r"(?i:the|of) ?", r"[\x{300}-\x{36f}]", r"\h+"]
# Of one character each.
CLASSES = [f"[[:{name}:]]" for name in (
    "alnum alpha ascii blank cntrl digit graph lower print punct space upper "
    "word xdigit ^alpha ^punct ^word").split()] + [
        rf"\p{{{name}}}" for name in (
            "Letter Uppercase_Letter lu Mark Number decimalnumber Punct Alnum "
            "Punctuation PosixPunct Symbol Separator Other Control Format Word "
            "Alphabetic uppercase LOWERCASE White_Space Graph Print Blank "
            "^Letter").split()] + [
                r"\w", r"\W", r"[\w]", r"[\W]", r"[^\w]", r"[^\W]", r"[\w\s]",
                r"[\p{L}&&\w]", r"\s", r"[\d]", r"\H", r"(?i:[[:alpha:]])"]
TEXTS = [" ", "▁", "a", "''", "``", "é", "\n", "ab", "  ", ".", "\u0301", "😀"]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
             "Contiguous"]
SCHEMES = ["always", "first", "never"]
FRESH = ["<new>", "ing", " of", "the ", "日本", "e\u0301", "É", "\n\n", "▁x",
         "12", "don't", "\u00a0", "<mask>", "ABC", "abc", "aba", "  ", "a"]
SPECIAL = ["<unk>", "<s>", "</s>", "[UNK]", "[CLS]", "[SEP]"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def train(texts):
    """Name -> the "model" of a file; the map of characters that sentencepiece
    has."""
    from tokenizers import Regex, Tokenizer, models, trainers
    from tokenizers import pre_tokenizers as cuts

    def of(model, cut, trainer, **options):
        tokenizer = Tokenizer(model)
        tokenizer.pre_tokenizer = cut
        tokenizer.train_from_iterator(
            texts, trainer(show_progress=False, **options))
        return json.loads(tokenizer.to_str())["model"]

    named, words = ["<unk>", "<s>", "</s>"], cuts.Whitespace()
    bert = ["[UNK]", "[CLS]", "[SEP]"]
    level = cuts.Sequence([cuts.Split(Regex(LLAMA3), "isolated"),
                           cuts.ByteLevel(add_prefix_space=False,
                                          use_regex=False)])
    made = {
        "bytes": of(models.BPE(), level, trainers.BpeTrainer, vocab_size=900,
                    initial_alphabet=cuts.ByteLevel.alphabet(),
                    special_tokens=named),
        "spaces": of(models.BPE(unk_token="<unk>"), cuts.Metaspace(),
                     trainers.BpeTrainer, vocab_size=1200, limit_alphabet=200,
                     special_tokens=named + BYTES),
        "suffix": of(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"),
                     words, trainers.BpeTrainer, vocab_size=900,
                     limit_alphabet=150, end_of_word_suffix="</w>",
                     special_tokens=named),
        "prefix": of(models.BPE(unk_token="<unk>",
                                continuing_subword_prefix="##"),
                     words, trainers.BpeTrainer, vocab_size=900,
                     limit_alphabet=150, continuing_subword_prefix="##",
                     special_tokens=named),
        "pieces": of(models.WordPiece(unk_token="[UNK]"),
                     cuts.BertPreTokenizer(), trainers.WordPieceTrainer,
                     vocab_size=1200, limit_alphabet=200, special_tokens=bert),
        "words": of(models.WordLevel(unk_token="[UNK]"), words,
                    trainers.WordLevelTrainer, vocab_size=800,
                    special_tokens=bert),
        "scores": of(models.Unigram(), cuts.Metaspace(),
                     trainers.UnigramTrainer, vocab_size=2500,
                     unk_token="<unk>", special_tokens=named + BYTES)}
    _, charsmap = train_unigram(texts[:50])
    return made, base64.b64encode(charsmap).decode()


class Drawer:
    """Draws parts of a file; `models` and `charsmap` are train()'s."""

    def __init__(self, random, models, charsmap):
        self.random, self.models, self.charsmap = random, models, charsmap

    def coin(self, chance=0.5):
        return self.random.random() < chance

    def one(self, *choices):
        return self.random.choice(choices)

    def many(self, draw, most):
        return [draw() for _ in range(self.random.randint(1, most))]

    def pattern(self):
        if self.coin(0.3):
            return {"String": self.random.choice(TEXTS)}
        return {"Regex": self.random.choice(PATTERNS)}

    def byte_level(self):
        return {"type": "ByteLevel", "add_prefix_space": self.coin(),
                "trim_offsets": self.coin(), "use_regex": self.coin()}

    def metaspace(self):
        return {"type": "Metaspace", "replacement": "▁",
                "prepend_scheme": self.one(*SCHEMES), "split": self.coin()}

    def normalizer(self, can_nest=True):
        if can_nest and self.coin(0.3):
            return None
        if can_nest and self.coin():
            return {"type": "Sequence", "normalizers": self.many(
                lambda: self.normalizer(False), 3)}
        kind = self.one("NFC", "NFD", "NFKC", "NFKD", "Lowercase",
                        "StripAccents", "Strip", "Prepend", "Replace",
                        "Replace", "BertNormalizer", "Precompiled", "ByteLevel")
        extra = {
            "Strip": lambda: {"strip_left": self.coin(),
                              "strip_right": self.coin()},
            "Prepend": lambda: {"prepend": self.one("▁", "x y", "é")},
            "Replace": lambda: {"pattern": self.pattern(),
                                "content": self.one("▁", "", "xy", "\u0301")},
            "BertNormalizer": lambda: {
                "clean_text": self.coin(), "handle_chinese_chars": self.coin(),
                "strip_accents": self.one(None, True, False),
                "lowercase": self.coin()},
            "Precompiled": lambda: {"precompiled_charsmap": self.charsmap}}
        return {"type": kind, **extra.get(kind, dict)()}

    def pre_tokenizer(self, can_nest=True):
        if can_nest and self.coin(0.1):
            return None
        if can_nest and self.coin(0.4):
            return {"type": "Sequence", "pretokenizers": self.many(
                lambda: self.pre_tokenizer(False), 3)}
        kind = self.one("BertPreTokenizer", "ByteLevel", "ByteLevel", "Digits",
                        "CharDelimiterSplit", "Metaspace", "Metaspace",
                        "Punctuation", "Split", "Split", "Split", "Whitespace",
                        "WhitespaceSplit")
        extra = {
            "ByteLevel": self.byte_level, "Metaspace": self.metaspace,
            "CharDelimiterSplit": lambda: {
                "delimiter": self.one(" ", "-", "▁")},
            "Digits": lambda: {"individual_digits": self.coin()},
            "Punctuation": lambda: {"behavior": self.one(*BEHAVIORS)},
            "Split": lambda: {"pattern": self.pattern(),
                              "behavior": self.one(*BEHAVIORS),
                              "invert": self.coin()}}
        return {"type": kind, **extra.get(kind, dict)()}

    def model(self):
        name = self.one("bytes", "bytes", "spaces", "suffix", "prefix",
                        "scores", "scores", "pieces", "words")
        model = dict(self.models[name])
        if "merges" in model:
            model["fuse_unk"] = self.coin()
            model["ignore_merges"] = self.coin()
            if self.coin(0.1):
                model["unk_token"] = None
        if name in ("spaces", "scores"):
            model["byte_fallback"] = self.coin()
        if name == "pieces":
            model["max_input_chars_per_word"] = self.one(100, 10, 3)
        return name, model

    def template(self, ids, is_pair):
        parts = [{"Sequence": {"id": "A", "type_id": self.one(0, 0, 1)}}]
        if is_pair:
            parts.append({"Sequence": {"id": "B", "type_id": self.one(0, 1)}})
        for _ in range(self.random.randint(0, 3)):
            parts.insert(self.random.randint(0, len(parts)), {"SpecialToken": {
                "id": self.one(*ids), "type_id": self.one(0, 1)}})
        return parts

    def processor(self, ids, can_nest=True):
        kind = self.one(None, "BertProcessing", "RobertaProcessing",
                        "ByteLevel", "TemplateProcessing", "Sequence")
        (sep, sep_id), (cls, cls_id) = ids.items()
        ends = {"sep": [sep, sep_id], "cls": [cls, cls_id]}
        if kind == "ByteLevel":
            return self.byte_level()
        if kind == "Sequence" and can_nest:
            return {"type": kind, "processors": [
                self.byte_level(), self.processor(ids, False)]}
        if kind == "RobertaProcessing":
            return {"type": kind, **ends, "trim_offsets": self.coin(),
                    "add_prefix_space": self.coin()}
        if kind == "BertProcessing":
            return {"type": kind, **ends}
        if kind is None and can_nest:
            return None
        return {"type": "TemplateProcessing",
                "single": self.template(ids, False),
                "pair": self.template(ids, True), "special_tokens": {
                    token: {"id": token, "ids": [number], "tokens": [token]}
                    for token, number in ids.items()}}

    def decoder(self, can_nest=True):
        if can_nest and self.coin(0.1):
            return None
        if can_nest and self.coin(0.6):
            return {"type": "Sequence", "decoders": self.many(
                lambda: self.decoder(False), 4)}
        kind = self.one("ByteLevel", "WordPiece", "Metaspace", "BPEDecoder",
                        "ByteFallback", "ByteFallback", "Fuse", "Replace",
                        "Strip")
        extra = {
            "ByteLevel": self.byte_level, "Metaspace": self.metaspace,
            "WordPiece": lambda: {"prefix": "##", "cleanup": self.coin()},
            "BPEDecoder": lambda: {"suffix": "</w>"},
            "Replace": lambda: {
                "pattern": {"String": self.one("▁", "a", " ", "on")},
                "content": self.one(" ", "", "b")},
            "Strip": lambda: {"content": self.one(" ", "▁", "a"),
                              "start": self.random.randint(0, 2),
                              "stop": self.random.randint(0, 2)}}
        return {"type": kind, **extra.get(kind, dict)()}

    def added(self, ids):
        known = [token for token in SPECIAL if token in ids]
        fresh = self.random.sample(FRESH, self.random.randint(0, 7))
        # A list of scores may have a text twice: it has more ids than texts.
        tokens, behind = [], max(ids.values(), default=-1) + 1
        for text in known + fresh:
            number = ids.get(text, behind)
            behind += number == behind
            tokens.append({
                "id": number, "content": text, "single_word": self.coin(0.3),
                "lstrip": self.coin(0.4), "rstrip": self.coin(0.4),
                "normalized": text in fresh and self.coin(),
                "special": text in known or self.coin(0.4)})
        return tokens

    def cuts(self):
        """What a file says of truncation and padding is left to callers."""
        if self.coin(0.8):
            return None, None
        return ({"direction": "Right", "max_length": 8, "stride": 0,
                 "strategy": "LongestFirst"},
                {"strategy": {"Fixed": 16}, "direction": "Left", "pad_id": 0,
                 "pad_to_multiple_of": None, "pad_type_id": 0,
                 "pad_token": "x"})

    def pipeline(self):
        """The name of its model, and a tokenizer.json."""
        name, model = self.model()
        ids = ids_of(model)
        ends = [token for token in SPECIAL if token in ids][1:]
        pre_tokenizer = self.pre_tokenizer()
        if name == "bytes" and self.coin(0.6):
            # Of its bytes the model knows all, of other characters none.
            pre_tokenizer = {"type": "Sequence", "pretokenizers": [
                pre_tokenizer or self.metaspace(), self.byte_level()]}
        truncation, padding = self.cuts()
        return name, {
            "version": "1.0", "truncation": truncation, "padding": padding,
            "added_tokens": self.added(ids), "normalizer": self.normalizer(),
            "pre_tokenizer": pre_tokenizer,
            "post_processor": self.processor({t: ids[t] for t in ends}),
            "decoder": self.decoder(), "model": model}

    def text(self, written, tokens):
        """Of what people write, or of awkward characters; and added tokens."""
        text = (self.random.choice(written) if self.coin(0.4)
                else text_corpus.draw(self.random))
        while tokens and self.coin(0.4):
            at = self.random.randint(0, len(text))
            token = self.one("", " ", "\n") + self.random.choice(tokens) + \
                self.one("", " ", "  ")
            text = text[:at] + token + text[at:]
        return text


def class_cut(pattern):
    """A tokenizer.json that drops all characters of a class."""
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [], "normalizer": None, "post_processor": None,
            "decoder": None, "pre_tokenizer": {
                "type": "Split", "pattern": {"Regex": pattern},
                "behavior": "Removed", "invert": False},
            "model": {"type": "WordLevel", "unk_token": "u",
                      "vocab": {"u": 0}}}


def ids_of(model):
    vocabulary = model["vocab"]
    return vocabulary if isinstance(vocabulary, dict) else \
        {piece: number for number, (piece, _) in enumerate(vocabulary)}
