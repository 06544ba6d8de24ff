// WordPiece: the longest token that fits, then the longest that continues it.
// And WordLevel, where a word is a token.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/PrefixTree.h"
#include "runtime/text/TokenModel.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace tfc::text {

namespace {

rt::Error missingUnknown(const std::string &token) {
  return rt::makeError(rt::Code::InvalidArgument,
                       "expected a vocabulary with its unknown token ",
                       rt::quoteName(token),
                       " (the text has a word without tokens), got none");
}

class WordLevel : public TokenModel {
public:
  WordLevel(Vocabulary vocabulary, std::string unknown)
      : TokenModel(std::move(vocabulary)), unknown(std::move(unknown)),
        unknownId(words.find(this->unknown)) {}

  rt::Status encode(std::u32string_view word, std::vector<WordToken> &out,
                    Budget &) const override {
    uint32_t id = words.find(encodeUtf8(word));
    id = id == Vocabulary::none ? unknownId : id;
    if (id == Vocabulary::none) {
      return missingUnknown(unknown);
    }
    out.push_back({id, 0, static_cast<uint32_t>(word.size())});
    return {};
  }

private:
  std::string unknown;
  uint32_t unknownId;
};

class WordPiece : public TokenModel {
public:
  WordPiece(Vocabulary vocabulary, WordPieceOptions given)
      : TokenModel(std::move(vocabulary)), options(std::move(given)),
        unknownId(words.find(options.unknown)) {
    std::vector<PrefixTree::Entry> whole, rest;
    for (const Vocabulary::Entry &entry : words.all()) {
      std::string_view text = entry.text;
      bool continues = text.size() > options.prefix.size() &&
                       text.substr(0, options.prefix.size()) == options.prefix;
      whole.push_back({text, entry.id});
      if (continues) {
        rest.push_back({text.substr(options.prefix.size()), entry.id});
      }
    }
    firsts = PrefixTree(std::move(whole));
    others = PrefixTree(std::move(rest));
  }

  rt::Status encode(std::u32string_view word, std::vector<WordToken> &out,
                    Budget &budget) const override {
    size_t before = out.size();
    if (word.size() <= options.maxCharacters &&
        encodePieces(word, out, budget)) {
      return {};
    }
    if (rt::Status status = budget.status(); !status) {
      return status;
    }
    out.resize(before);
    if (unknownId == Vocabulary::none) {
      return missingUnknown(options.unknown);
    }
    out.push_back({unknownId, 0, static_cast<uint32_t>(word.size())});
    return {};
  }

private:
  /// False: a part has no token, or the budget ends.
  bool encodePieces(std::u32string_view word, std::vector<WordToken> &out,
                    Budget &budget) const {
    std::string bytes = encodeUtf8(word);
    std::string_view rest = bytes;
    for (uint32_t begin = 0; !rest.empty();) {
      const PrefixTree &tree = begin == 0 ? firsts : others;
      size_t longest = 0;
      uint32_t id = Vocabulary::none;
      size_t walked = tree.walk(rest, [&](size_t length, uint32_t found) {
        longest = length;
        id = found;
      });
      if (!budget.spend(PrefixTree::stepsOf(walked)) || longest == 0) {
        return false;
      }
      uint32_t end = begin + countCharacters(rest.substr(0, longest));
      out.push_back({id, begin, end});
      rest.remove_prefix(longest);
      begin = end;
    }
    return true;
  }

  static uint32_t countCharacters(std::string_view text) {
    return static_cast<uint32_t>(
        std::count_if(text.begin(), text.end(), [](char c) {
          return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
        }));
  }

  WordPieceOptions options;
  uint32_t unknownId;
  /// What a word begins with; what continues it, without the prefix.
  PrefixTree firsts, others;
};

} // namespace

TokenModelPtr makeWordLevel(Vocabulary vocabulary, std::string unknown) {
  return std::make_unique<WordLevel>(std::move(vocabulary), std::move(unknown));
}

TokenModelPtr makeWordPiece(Vocabulary vocabulary, WordPieceOptions options) {
  return std::make_unique<WordPiece>(std::move(vocabulary), std::move(options));
}

} // namespace tfc::text
