// WordPiece: the longest token that fits, then the longest that continues it.
// And WordLevel, where a word is a token.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

  rt::Status encode(std::u32string_view word,
                    std::vector<WordToken> &out) const override {
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
    for (const Vocabulary::Entry &entry : words.all()) {
      std::string_view text = entry.text;
      bool continues = text.size() > options.prefix.size() &&
                       text.substr(0, options.prefix.size()) == options.prefix;
      longestFirst = std::max(longestFirst, text.size());
      if (continues) {
        text.remove_prefix(options.prefix.size());
        others[text] = entry.id;
        longestOther = std::max(longestOther, text.size());
      }
    }
  }

  rt::Status encode(std::u32string_view word,
                    std::vector<WordToken> &out) const override {
    size_t before = out.size();
    if (word.size() <= options.maxCharacters && encodePieces(word, out)) {
      return {};
    }
    out.resize(before);
    if (unknownId == Vocabulary::none) {
      return missingUnknown(options.unknown);
    }
    out.push_back({unknownId, 0, static_cast<uint32_t>(word.size())});
    return {};
  }

private:
  bool encodePieces(std::u32string_view word,
                    std::vector<WordToken> &out) const {
    std::string bytes;
    std::vector<size_t> places; // of characters in bytes
    for (char32_t c : word) {
      places.push_back(bytes.size());
      appendUtf8(bytes, c);
    }
    places.push_back(bytes.size());
    std::string_view all = bytes;
    for (size_t begin = 0; begin < word.size();) {
      size_t end = word.size();
      uint32_t id = Vocabulary::none;
      for (; end > begin; --end) {
        id = findPiece(all.substr(places[begin], places[end] - places[begin]),
                       begin == 0);
        if (id != Vocabulary::none) {
          break;
        }
      }
      if (id == Vocabulary::none) {
        return false;
      }
      out.push_back(
          {id, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
      begin = end;
    }
    return true;
  }

  uint32_t findPiece(std::string_view text, bool isFirst) const {
    if (text.size() > (isFirst ? longestFirst : longestOther)) {
      return Vocabulary::none;
    }
    if (isFirst) {
      return words.find(text);
    }
    auto found = others.find(text);
    return found == others.end() ? Vocabulary::none : found->second;
  }

  WordPieceOptions options;
  uint32_t unknownId;
  /// Tokens that continue a word, without their prefix.
  std::unordered_map<std::string_view, uint32_t> others;
  size_t longestFirst = 0, longestOther = 0;
};

} // namespace

TokenModelPtr makeWordLevel(Vocabulary vocabulary, std::string unknown) {
  return std::make_unique<WordLevel>(std::move(vocabulary), std::move(unknown));
}

TokenModelPtr makeWordPiece(Vocabulary vocabulary, WordPieceOptions options) {
  return std::make_unique<WordPiece>(std::move(vocabulary), std::move(options));
}

} // namespace tfc::text
