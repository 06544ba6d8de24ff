// The classes of translators, whose vocab.json has the ids of sentencepiece's
// pieces, as transformers 5 has them (models/*/tokenization_*.py).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/CharsMap.h"
#include "runtime/text/TokenizerClass.h"
#include "runtime/text/VocabularyFiles.h"

namespace tfc::text {

using nlohmann::json;

namespace {

SentencePieceFile readPieces(const FolderFiles &files, const char *name,
                             const TokenizerClass &of) {
  using Kind = SentencePieceFile::PieceKind;
  auto file = readSentencePiece(takeFile(files, name, of));
  if (!file) {
    throw FileFault{
        rt::makeError(file.error().code, name, ": ", file.error().message)};
  }
  using Model = SentencePieceFile::Model;
  if (file->model != Model::Unigram && file->model != Model::Bpe) {
    throw FileFault{rt::makeError(rt::Code::Unsupported, name,
                                  ": expected a model of Unigram or BPE (of ",
                                  of.name, "), got model type ",
                                  static_cast<int>(file->model))};
  }
  for (size_t i = 0; i < file->pieces.size(); ++i) {
    if (file->pieces[i].kind == Kind::UserDefined ||
        file->pieces[i].kind == Kind::Byte) {
      throw FileFault{rt::makeError(
          rt::Code::Unsupported, name, ": piece ", i,
          ": expected no bytes and no pieces that a user defined (of ", of.name,
          "), got ", rt::quoteName(file->pieces[i].text))};
    }
  }
  return std::move(*file);
}

/// What is found in texts, and the unknown piece.
std::vector<Vocabulary::Entry> entriesOf(const SentencePieceFile &file) {
  std::vector<Vocabulary::Entry> entries;
  auto add = [&](const SentencePieceFile::Piece &piece) {
    entries.push_back(
        {piece.text, static_cast<uint32_t>(entries.size()), piece.score});
  };
  // First, for its place to be known.
  add(file.pieces[size_t(file.unknown)]);
  for (const SentencePieceFile::Piece &piece : file.pieces) {
    if (piece.kind == SentencePieceFile::PieceKind::Normal) {
      add(piece);
    }
  }
  return entries;
}

/// `further` tokens have the ids behind those of the file.
TokenizerMaker startTranslator(const FolderFiles &files,
                               const SentencePieceFile &pieces,
                               const TokenizerClass &of,
                               const std::vector<std::string> &further) {
  auto file = parseVocabulary(takeFile(files, "vocab.json", of));
  if (!file) {
    throw FileFault{
        rt::makeError(file.error().code, "vocab.json: ", file.error().message)};
  }
  auto next = static_cast<uint32_t>(file->vocabulary.size());
  for (const std::string &text : further) {
    file->vocabulary.push_back({text, next++, 0});
  }
  file->pieces = entriesOf(pieces);
  file->mergesPieces = pieces.model == SentencePieceFile::Model::Bpe;
  return TokenizerMaker(std::move(*file));
}

json replace(const char *kind, const char *pattern, const char *content) {
  return {{"type", "Replace"},
          {"pattern", {{kind, pattern}}},
          {"content", content}};
}

/// Texts as sentencepiece has them: a space where there are several, none at
/// the ends, one in front. They are cut as a whole: a word's scores are added
/// to those before it, and rounded.
void putText(TokenizerMaker &maker, const SentencePieceFile &pieces,
             const std::string &unknown) {
  json steps = json::array();
  if (!pieces.charsMap.empty()) {
    steps.push_back({{"type", "Precompiled"},
                     {"precompiled_charsmap", encodeBase64(pieces.charsMap)}});
  }
  if (pieces.removesSpaces) {
    steps.push_back(replace("Regex", " {2,}", " "));
    steps.push_back(replace("Regex", "\\A |[ \u2581]+\\z", ""));
  }
  // Also in front of a text that begins with one itself.
  if (pieces.addsPrefix) {
    steps.push_back({{"type", "Prepend"}, {"prepend", "\u2581"}});
  }
  json &tree = maker.tree();
  tree["normalizer"] = {{"type", "Sequence"},
                        {"normalizers", std::move(steps)}};
  tree["pre_tokenizer"] = {{"type", "Metaspace"},
                           {"replacement", "\u2581"},
                           {"prepend_scheme", "never"},
                           {"split", false}};
  tree["model"] = {{"type", "SentencePiece"}, {"unk_token", unknown}};
  constexpr uint32_t all = 1U << 20;
  tree["decoder"] = {{"type", "Sequence"},
                     {"decoders", json::array({replace("String", "\u2581", " "),
                                               {{"type", "Fuse"}},
                                               {{"type", "Strip"},
                                                {"content", " "},
                                                {"start", all},
                                                {"stop", all}}})}};
}

/// ">>fra<<" and the like: the language that a text is to be translated to.
bool isLanguageCode(const std::string &text) {
  return text.size() > 4 && text.compare(0, 2, ">>") == 0 &&
         text.compare(text.size() - 2, 2, "<<") == 0;
}

} // namespace

TokenizerFile makeMarian(const FolderFiles &files,
                         const TokenizerSettings &settings,
                         const TokenizerClass &of) {
  settings.expectFlag("separate_vocabs", false);
  SentencePieceFile pieces = readPieces(files, "source.spm", of);
  NamedTokens named(settings, of);
  TokenizerMaker maker = startTranslator(files, pieces, of, {});
  addAll(maker, settings.addedTokens());
  named.addTo(maker);
  addAll(maker, settings.extraTokens());
  for (const std::string &text : maker.texts()) {
    if (isLanguageCode(text)) {
      TokenSetting code;
      code.text = text;
      code.special = false;
      maker.add(code);
    }
  }
  putText(maker, pieces, named.text(Unk));
  std::string eos = named.text(Eos);
  maker.tree()["post_processor"] =
      maker.makeTemplate({{"$A"}, {eos}}, {{"$A"}, {"$B"}, {eos}});
  return std::move(maker).finish();
}

TokenizerFile makeM2m100(const FolderFiles &files,
                         const TokenizerSettings &settings,
                         const TokenizerClass &of) {
  // Of the pretrained models, in the order of their embeddings.
  static const std::vector<const char *> all = {
      "af",  "am", "ar", "ast", "az", "ba", "be", "bg", "bn", "br", "bs", "ca",
      "ceb", "cs", "cy", "da",  "de", "el", "en", "es", "et", "fa", "ff", "fi",
      "fr",  "fy", "ga", "gd",  "gl", "gu", "ha", "he", "hi", "hr", "ht", "hu",
      "hy",  "id", "ig", "ilo", "is", "it", "ja", "jv", "ka", "kk", "km", "kn",
      "ko",  "lb", "lg", "ln",  "lo", "lt", "lv", "mg", "mk", "ml", "mn", "mr",
      "ms",  "my", "ne", "nl",  "no", "ns", "oc", "or", "pa", "pl", "ps", "pt",
      "ro",  "ru", "sd", "si",  "sk", "sl", "so", "sq", "sr", "ss", "su", "sv",
      "sw",  "ta", "th", "tl",  "tn", "tr", "uk", "ur", "uz", "vi", "wo", "xh",
      "yi",  "yo", "zh", "zu"};
  static const std::vector<const char *> few = {"en", "ha", "is", "ja",
                                                "cs", "ru", "zh", "de"};
  std::string codes = settings.word("language_codes", "m2m100");
  if (codes != "m2m100" && codes != "wmt21") {
    throw FileFault{rt::makeError(
        rt::Code::Unsupported, "tokenizer_config.json: /language_codes: ",
        "expected \"m2m100\" or \"wmt21\", got ", rt::quoteName(codes))};
  }
  SentencePieceFile pieces = readPieces(files, "sentencepiece.bpe.model", of);
  NamedTokens named(settings, of);
  std::vector<std::string> languages;
  for (const char *code : codes == "wmt21" ? few : all) {
    languages.push_back(rt::concat("__", code, "__"));
  }
  // Special, and found in texts, where the files say so.
  TokenizerMaker maker = startTranslator(files, pieces, of, languages);
  addAll(maker, settings.addedTokens());
  named.addTo(maker);
  addAll(maker, settings.extraTokens());
  putText(maker, pieces, named.text(Unk));
  std::string eos = named.text(Eos);
  std::string language = "__" + settings.word("src_lang", "en") + "__";
  maker.tree()["post_processor"] = maker.makeTemplate(
      {{language}, {"$A"}, {eos}}, {{language}, {"$A"}, {"$B"}, {eos}});
  return std::move(maker).finish();
}

} // namespace tfc::text
