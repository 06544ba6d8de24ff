// "model" and "added_tokens".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ReadParts.h"
#include "runtime/text/VocabularyFiles.h"

#include <algorithm>

namespace tfc::text {

namespace {

/// Older files do not say what their model is.
std::string typeOf(const FileNode &node, const TokenizerFile &file) {
  if (node.has("type")) {
    return node.type();
  }
  return file.hasMerges                         ? "BPE"
         : file.isScored                        ? "Unigram"
         : node.has("max_input_chars_per_word") ? "WordPiece"
                                                : "WordLevel";
}

Vocabulary takeVocabulary(const FileNode &node, TokenizerFile &file,
                          bool isScored) {
  if (!file.hasVocabulary || file.isScored != isScored) {
    node.at("vocab").fail(rt::Code::InvalidArgument,
                          isScored ? "expected a list of tokens and scores"
                                   : "expected an object of tokens and ids");
  }
  Vocabulary vocabulary(std::move(file.vocabulary));
  for (size_t i = 0; !isScored && i < vocabulary.all().size(); ++i) {
    const Vocabulary::Entry &entry = vocabulary.all()[i];
    const std::string *other = vocabulary.text(entry.id);
    bool isTwice =
        vocabulary.find(entry.text) != entry.id || other != &entry.text;
    if (isTwice) {
      node.at("vocab").fail(rt::Code::InvalidArgument,
                            rt::concat("expected every token and every id "
                                       "once, got ",
                                       rt::quoteName(entry.text), " with ",
                                       entry.id, " and another"));
    }
  }
  return vocabulary;
}

TokenModelPtr readBpe(const FileNode &node, TokenizerFile &file) {
  node.allow({"dropout", "unk_token", "continuing_subword_prefix",
              "end_of_word_suffix", "fuse_unk", "byte_fallback",
              "ignore_merges", "vocab", "merges"});
  FileNode dropout = node.at("dropout");
  bool isZero = dropout.isNull() || dropout.isZero();
  if (!isZero) {
    dropout.fail("nothing (tokens at random are for training)");
  }
  if (!file.hasMerges) {
    node.at("merges").fail("a list of merges");
  }
  BpeOptions options;
  options.hasUnknown = node.has("unk_token");
  options.unknown = node.string("unk_token", "");
  options.prefix = node.string("continuing_subword_prefix", "");
  options.suffix = node.string("end_of_word_suffix", "");
  options.fusesUnknown = node.boolean("fuse_unk", false);
  options.fallsBackToBytes = node.boolean("byte_fallback", false);
  options.ignoresMerges = node.boolean("ignore_merges", false);
  return unwrap(node, makeBpe(takeVocabulary(node, file, false), file.merges,
                              std::move(options)));
}

TokenModelPtr readUnigram(const FileNode &node, TokenizerFile &file) {
  node.allow({"unk_id", "byte_fallback", "vocab"});
  Vocabulary vocabulary = takeVocabulary(node, file, true);
  if (vocabulary.all().empty()) {
    node.at("vocab").fail(rt::Code::InvalidArgument,
                          "expected tokens, got none");
  }
  uint32_t unknown = Vocabulary::none;
  if (node.has("unk_id")) {
    unknown = static_cast<uint32_t>(
        node.integer("unk_id", vocabulary.all().size() - 1));
  }
  return makeUnigram(std::move(vocabulary), unknown,
                     node.boolean("byte_fallback", false));
}

/// The ids that `tokenizers` gives to added tokens, whatever the file says:
/// those of the vocabulary, and the next ones. A list of scores may have a text
/// twice, and each has its id.
class AddedIds {
public:
  explicit AddedIds(const Vocabulary &vocabulary)
      : vocabulary(vocabulary),
        next(static_cast<uint32_t>(vocabulary.all().size())) {}

  uint32_t give(const std::string &text) {
    uint32_t known = vocabulary.find(text);
    auto [place, isNew] =
        given.emplace(text, known == Vocabulary::none ? next : known);
    if (isNew) {
      next = std::max(next, place->second + 1);
    }
    return place->second;
  }

private:
  const Vocabulary &vocabulary;
  std::unordered_map<std::string, uint32_t> given;
  uint32_t next;
};

/// Of pieces that have other ids than the vocabulary.
TokenModelPtr readPieces(const FileNode &node, TokenizerFile &file) {
  std::string text = node.string("unk_token");
  Vocabulary vocabulary = takeVocabulary(node, file, false);
  uint32_t unknown = vocabulary.find(text);
  if (unknown == Vocabulary::none) {
    node.at("vocab").fail(rt::Code::InvalidArgument,
                          rt::concat("expected the unknown token ",
                                     rt::quoteName(text), ", got none"));
  }
  TokenModelPtr pieces;
  if (file.mergesPieces) {
    BpeOptions options;
    options.hasUnknown = options.fusesUnknown = true;
    options.unknown = file.pieces.front().text;
    std::vector<Merge> merges = makeMerges(file.pieces);
    pieces = unwrap(node, makeBpe(Vocabulary(std::move(file.pieces)), merges,
                                  std::move(options)));
  } else {
    pieces = makeUnigram(Vocabulary(std::move(file.pieces)), /*unknown=*/0,
                         /*fallsBackToBytes=*/false, /*roundsSums=*/true);
  }
  return makeRenumbered(std::move(vocabulary), unknown, std::move(pieces));
}

} // namespace

TokenModelPtr readModel(const FileNode &node, TokenizerFile &file) {
  std::string type = typeOf(node, file);
  if (file.hasMerges && type != "BPE") {
    node.at("merges").fail(rt::Code::InvalidArgument,
                           "expected merges of a BPE only");
  }
  if (type == "BPE") {
    return readBpe(node, file);
  }
  if (type == "Unigram") {
    return readUnigram(node, file);
  }
  if (type == "WordPiece") {
    node.allow({"unk_token", "continuing_subword_prefix",
                "max_input_chars_per_word", "vocab"});
    WordPieceOptions options;
    options.unknown = node.string("unk_token");
    options.prefix = node.string("continuing_subword_prefix");
    options.maxCharacters =
        node.integer("max_input_chars_per_word", uint64_t(1) << 32);
    return makeWordPiece(takeVocabulary(node, file, false), options);
  }
  if (type == "WordLevel") {
    node.allow({"unk_token", "vocab"});
    return makeWordLevel(takeVocabulary(node, file, false),
                         node.string("unk_token"));
  }
  if (type == "SentencePiece" && !file.pieces.empty()) {
    return readPieces(node, file);
  }
  node.at("type").fail(rt::Code::Unsupported,
                       "expected a known model, got " + rt::quoteName(type));
}

std::vector<AddedToken> readAddedTokens(const FileNode &node,
                                        const Vocabulary &vocabulary) {
  std::vector<AddedToken> tokens;
  AddedIds ids(vocabulary);
  if (node.isNull()) {
    return tokens;
  }
  for (const FileNode &item : node.items()) {
    item.allow({"id", "content", "single_word", "lstrip", "rstrip",
                "normalized", "special"});
    AddedToken token;
    token.text = item.string("content");
    token.id = static_cast<uint32_t>(item.integer("id", maxTokens - 1));
    token.special = item.boolean("special", false);
    token.singleWord = item.boolean("single_word", false);
    token.leftStrip = item.boolean("lstrip", false);
    token.rightStrip = item.boolean("rstrip", false);
    token.normalized = item.boolean("normalized", !token.special);
    if (token.text.empty()) {
      continue;
    }
    uint32_t id = ids.give(token.text);
    if (id != token.id) {
      item.at("id").fail(rt::concat(id, " (the id that tokenizers gives to ",
                                    rt::quoteName(token.text), ")"));
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

} // namespace tfc::text
