// The classes of sentencepiece's models, as transformers 5 has them
// (models/*/tokenization_*.py, convert_slow_tokenizer.py).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/CharsMap.h"
#include "runtime/text/TokenizerClass.h"
#include "runtime/text/VocabularyFiles.h"

namespace tfc::text {

using nlohmann::json;

namespace {

json metaspace(const char *scheme, bool splits) {
  return {{"type", "Metaspace"},
          {"replacement", "\u2581"},
          {"prepend_scheme", scheme},
          {"split", splits}};
}

using Entries = std::vector<Vocabulary::Entry>;

void append(Entries &entries, const std::string &text, double score = 0) {
  entries.push_back({text, static_cast<uint32_t>(entries.size()), score});
}

SentencePieceFile readPieces(const FolderFiles &files, const TokenizerClass &of,
                             SentencePieceFile::Model model) {
  for (const char *name :
       {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model"}) {
    auto file = files.find(name);
    if (file == files.end()) {
      continue;
    }
    auto pieces = readSentencePiece(file->second);
    if (pieces && pieces->model != model) {
      bool isBpe = model == SentencePieceFile::Model::Bpe;
      pieces =
          rt::makeError(rt::Code::Unsupported, "expected a model of ",
                        isBpe ? "BPE" : "Unigram", " (of ", of.name,
                        "), got model type ", static_cast<int>(pieces->model));
    }
    if (!pieces) {
      throw FileFault{rt::makeError(pieces.error().code, name, ": ",
                                    pieces.error().message)};
    }
    return std::move(*pieces);
  }
  throw FileFault{rt::makeError(
      rt::Code::NotFound, "expected spiece.model, sentencepiece.bpe.model or ",
      "tokenizer.model (of ", of.name,
      "), or a tokenizer.json, got none of them")};
}

TokenizerFile asFile(Entries entries, bool isScored) {
  TokenizerFile file;
  file.hasVocabulary = true;
  file.isScored = isScored;
  file.vocabulary = std::move(entries);
  return file;
}

/// Those that sentencepiece never finds in a text, and those that it always
/// takes whole.
void addPieces(TokenizerMaker &maker, const SentencePieceFile &file) {
  using Kind = SentencePieceFile::PieceKind;
  for (const SentencePieceFile::Piece &piece : file.pieces) {
    if (piece.kind == Kind::Control || piece.kind == Kind::UserDefined) {
      TokenSetting token;
      token.text = piece.text;
      token.special = piece.kind == Kind::Control;
      maker.add(token);
    }
  }
}

json charsMapOf(const SentencePieceFile &file) {
  return {{"type", "Precompiled"},
          {"precompiled_charsmap", encodeBase64(file.charsMap)}};
}

/// What Unigram's classes have in common.
TokenizerMaker startUnigram(const SentencePieceFile &file, Entries entries,
                            uint32_t unknown,
                            const TokenizerSettings &settings) {
  TokenizerMaker maker(asFile(std::move(entries), true));
  addAll(maker, settings.addedTokens());
  json &tree = maker.tree();
  if (!file.charsMap.empty()) {
    tree["normalizer"] = charsMapOf(file);
  }
  bool addsPrefix = settings.flag("add_prefix_space", true) && file.addsPrefix;
  json words = metaspace(addsPrefix ? "always" : "never", true);
  tree["decoder"] = words;
  tree["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       json::array({{{"type", "WhitespaceSplit"}}, std::move(words)})}};
  tree["model"] = {{"type", "Unigram"},
                   {"unk_id", unknown},
                   {"byte_fallback", file.fallsBackToBytes}};
  return maker;
}

Entries entriesOf(const SentencePieceFile &file) {
  Entries entries;
  for (const SentencePieceFile::Piece &piece : file.pieces) {
    append(entries, piece.text, piece.score);
  }
  return entries;
}

} // namespace

TokenizerFile makeT5(const FolderFiles &files,
                     const TokenizerSettings &settings,
                     const TokenizerClass &of) {
  constexpr uint64_t mostExtra = 10000;
  SentencePieceFile file =
      readPieces(files, of, SentencePieceFile::Model::Unigram);
  Entries entries = entriesOf(file);
  std::vector<TokenSetting> sentinels;
  for (uint64_t i = settings.count("extra_ids", mostExtra, 100); i-- > 0;) {
    TokenSetting token;
    token.text = rt::concat("<extra_id_", i, ">");
    append(entries, token.text);
    sentinels.push_back(std::move(token));
  }
  NamedTokens named(settings, of);
  TokenizerMaker maker = startUnigram(
      file, std::move(entries), static_cast<uint32_t>(file.unknown), settings);
  named.addTo(maker);
  addPieces(maker, file);
  addAll(maker, sentinels);
  addAll(maker, settings.extraTokens());
  std::string eos = named.text(Eos);
  maker.tree()["post_processor"] =
      maker.makeTemplate({{"$A"}, {eos}}, {{"$A"}, {eos}, {"$B"}, {eos}});
  return std::move(maker).finish();
}

TokenizerFile makeAlbert(const FolderFiles &files,
                         const TokenizerSettings &settings,
                         const TokenizerClass &of) {
  SentencePieceFile file =
      readPieces(files, of, SentencePieceFile::Model::Unigram);
  NamedTokens named(settings, of);
  TokenizerMaker maker = startUnigram(
      file, entriesOf(file), static_cast<uint32_t>(file.unknown), settings);
  named.addTo(maker);
  addPieces(maker, file);
  addAll(maker, settings.extraTokens());
  json steps = json::array();
  for (const char *quotes : {"``", "''"}) {
    steps.push_back({{"type", "Replace"},
                     {"pattern", {{"String", quotes}}},
                     {"content", "\""}});
  }
  if (!settings.flag("keep_accents", false)) {
    steps.push_back({{"type", "NFKD"}});
    steps.push_back({{"type", "StripAccents"}});
  }
  if (settings.flag("do_lower_case", true)) {
    steps.push_back({{"type", "Lowercase"}});
  }
  if (!file.charsMap.empty()) {
    steps.push_back(charsMapOf(file));
  }
  maker.tree()["normalizer"] = {{"type", "Sequence"},
                                {"normalizers", std::move(steps)}};
  maker.tree()["post_processor"] = bertTemplate(maker, named);
  return std::move(maker).finish();
}

namespace {

/// fairseq's order: four tokens, then the pieces behind sentencepiece's first
/// three (unknown, begin, end).
Entries fairseqEntries(const SentencePieceFile &file,
                       const NamedTokens &named) {
  constexpr size_t numReplaced = 3;
  Entries entries;
  for (Named name : {Bos, Pad, Eos, Unk}) {
    append(entries, named.text(name));
  }
  for (size_t i = numReplaced; i < file.pieces.size(); ++i) {
    append(entries, file.pieces[i].text, file.pieces[i].score);
  }
  return entries;
}

constexpr uint32_t fairseqUnknown = 3;

} // namespace

TokenizerFile makeXlmRoberta(const FolderFiles &files,
                             const TokenizerSettings &settings,
                             const TokenizerClass &of) {
  SentencePieceFile file =
      readPieces(files, of, SentencePieceFile::Model::Unigram);
  NamedTokens named(settings, of);
  Entries entries = fairseqEntries(file, named);
  append(entries, named.text(Mask));
  TokenizerMaker maker =
      startUnigram(file, std::move(entries), fairseqUnknown, settings);
  named.addTo(maker);
  addPieces(maker, file);
  addAll(maker, settings.extraTokens());
  std::string bos = named.text(Bos), eos = named.text(Eos);
  maker.tree()["post_processor"] = maker.makeTemplate(
      {{bos}, {"$A"}, {eos}}, {{bos}, {"$A"}, {eos}, {eos}, {"$B"}, {eos}});
  return std::move(maker).finish();
}

TokenizerFile makeUnigramOf(const SentencePieceFile &file,
                            const TokenizerSettings &settings,
                            const TokenizerClass &of) {
  NamedTokens named(settings, of);
  TokenizerMaker maker = startUnigram(
      file, entriesOf(file), static_cast<uint32_t>(file.unknown), settings);
  named.addTo(maker);
  addPieces(maker, file);
  bool addsBos = settings.flag("add_bos_token", false),
       addsEos = settings.flag("add_eos_token", false);
  json around = plainTemplate(maker, named, addsBos, addsEos);
  if (addsBos && addsEos) {
    // A second text has an end in front of it, too.
    std::string bos = named.text(Bos), eos = named.text(Eos);
    around = maker.makeTemplate({{bos}, {"$A"}, {eos}},
                                {{bos}, {"$A"}, {eos}, {eos}, {"$B"}, {eos}});
  }
  maker.tree()["post_processor"] = std::move(around);
  return std::move(maker).finish();
}

TokenizerFile makeMBart(const FolderFiles &files,
                        const TokenizerSettings &settings,
                        const TokenizerClass &of) {
  // Of the pretrained model, in the order of its embedding.
  static const char *const languages[] = {
      "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI",
      "fr_XX", "gu_IN", "hi_IN", "it_IT", "ja_XX", "kk_KZ", "ko_KR",
      "lt_LT", "lv_LV", "my_MM", "ne_NP", "nl_XX", "ro_RO", "ru_RU",
      "si_LK", "tr_TR", "vi_VN", "zh_CN"};
  SentencePieceFile file =
      readPieces(files, of, SentencePieceFile::Model::Unigram);
  NamedTokens named(settings, of);
  named.stripBeforeMask();
  Entries entries = fairseqEntries(file, named);
  for (const char *language : languages) {
    append(entries, language);
  }
  append(entries, named.text(Mask));
  TokenizerMaker maker =
      startUnigram(file, std::move(entries), fairseqUnknown, settings);
  named.addTo(maker);
  addPieces(maker, file);
  for (const char *language : languages) {
    TokenSetting token;
    token.text = language;
    maker.add(token);
  }
  addAll(maker, settings.extraTokens());
  std::string eos = named.text(Eos);
  std::string language = settings.word("src_lang", "en_XX");
  maker.tree()["post_processor"] = maker.makeTemplate(
      {{"$A"}, {eos}, {language}}, {{"$A"}, {"$B"}, {eos}, {language}});
  return std::move(maker).finish();
}

TokenizerFile makeLlama(const FolderFiles &files,
                        const TokenizerSettings &settings,
                        const TokenizerClass &of) {
  SentencePieceFile file = readPieces(files, of, SentencePieceFile::Model::Bpe);
  return makeLlamaOf(file, makeMerges(entriesOf(file)), settings, of);
}

TokenizerFile makeLlamaOf(const SentencePieceFile &file,
                          std::vector<Merge> merges,
                          const TokenizerSettings &settings,
                          const TokenizerClass &of) {
  NamedTokens named(settings, of);
  Entries entries = entriesOf(file);
  TokenizerFile start = asFile(std::move(entries), false);
  start.hasMerges = true;
  start.merges = std::move(merges);
  TokenizerMaker maker(std::move(start));
  addAll(maker, settings.addedTokens());
  named.addTo(maker);
  addPieces(maker, file);
  addAll(maker, settings.extraTokens());
  json &tree = maker.tree();
  bool addsPrefix = settings.flag("add_prefix_space", true) && file.addsPrefix;
  tree["pre_tokenizer"] = metaspace(!addsPrefix                      ? "never"
                                    : settings.flag("legacy", false) ? "always"
                                                                     : "first",
                                    false);
  json steps = {{{"type", "Replace"},
                 {"pattern", {{"String", "\u2581"}}},
                 {"content", " "}},
                {{"type", "ByteFallback"}},
                {{"type", "Fuse"}}};
  if (addsPrefix) {
    steps.push_back(
        {{"type", "Strip"}, {"content", " "}, {"start", 1U}, {"stop", 0U}});
  }
  tree["decoder"] = {{"type", "Sequence"}, {"decoders", std::move(steps)}};
  tree["model"] = {{"type", "BPE"},
                   {"unk_token", named.text(Unk)},
                   {"fuse_unk", true},
                   {"byte_fallback", true}};
  tree["post_processor"] =
      plainTemplate(maker, named, settings.flag("add_bos_token", true),
                    settings.flag("add_eos_token", false));
  return std::move(maker).finish();
}

} // namespace tfc::text
