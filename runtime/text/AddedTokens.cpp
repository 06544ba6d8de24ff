// Finds added tokens: the leftmost, and of those that begin there the longest.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/AddedTokens.h"

#include "runtime/text/Utf8.h"

#include <algorithm>
#include <unordered_set>

namespace tfc::text {

rt::Result<AddedTokens> AddedTokens::make(std::vector<AddedToken> tokens,
                                          const Normalizer *normalizer) {
  AddedTokens made;
  made.tokens = std::move(tokens);
  size_t length = 0;
  for (const AddedToken &token : made.tokens) {
    length += token.text.size();
  }
  Budget budget(length);
  std::vector<AhoCorasick::Entry> early, late;
  // Special ones first, where two are the same text.
  for (bool isSpecial : {true, false}) {
    for (size_t i = 0; i < made.tokens.size(); ++i) {
      AddedToken &token = made.tokens[i];
      if (token.special != isSpecial) {
        continue;
      }
      TracedText text;
      text.chars = decodeChecked(token.text);
      text.origins.resize(text.size());
      if (token.normalized && normalizer) {
        rt::Status status = normalizer->apply(text, budget);
        if (!status) {
          return std::move(status.error());
        }
      }
      token.shown = encodeUtf8(text.chars);
      token.length = static_cast<uint32_t>(text.size());
      (token.normalized ? late : early)
          .push_back({std::move(text.chars), static_cast<uint32_t>(i)});
    }
  }
  made.early = AhoCorasick(std::move(early));
  made.late = AhoCorasick(std::move(late));
  std::unordered_set<std::string> special;
  for (const AddedToken &token : made.tokens) {
    if (token.special) {
      special.insert(token.text);
    }
  }
  for (size_t i = 0; i < made.tokens.size(); ++i) {
    made.tokens[i].isSkipped = special.count(made.tokens[i].shown) != 0;
    made.byId[made.tokens[i].id] = i;
  }
  return made;
}

/// Whether a token that is at `begin` is one there.
bool AddedTokens::isFound(const AddedToken &token, std::u32string_view text,
                          size_t begin, bool specialAsText) const {
  static const CharacterSet &word = namedSet("word");
  size_t end = begin + token.length;
  bool isInWord =
      token.singleWord && ((begin > 0 && word.has(text[begin - 1])) ||
                           (end < text.size() && word.has(text[end])));
  bool isLate = token.onlyFirst && begin > 0;
  return !isInWord && !isLate && !(specialAsText && token.special);
}

void AddedTokens::findIn(const AhoCorasick &finder, std::u32string_view text,
                         uint32_t offset, bool specialAsText,
                         std::vector<Piece> &out) const {
  static const CharacterSet &space = namedSet("white_space");
  std::vector<std::pair<size_t, uint32_t>> found; // from the last one on
  finder.findAll(text,
                 [&](size_t at, uint32_t i) { found.emplace_back(at, i); });
  auto add = [&](size_t begin, size_t end, int64_t token) {
    if (begin < end) {
      out.push_back({offset + static_cast<uint32_t>(begin),
                     offset + static_cast<uint32_t>(end), token});
    }
  };
  size_t looked = 0, done = 0; // what is before has been; has its piece
  for (auto match = found.rbegin(); match != found.rend(); ++match) {
    auto [begin, i] = *match;
    const AddedToken &token = tokens[i];
    if (begin < looked) {
      continue;
    }
    size_t end = looked = begin + token.length;
    if (!isFound(token, text, begin, specialAsText)) {
      continue;
    }
    // What another token has taken is not there any more.
    while (token.leftStrip && begin > done && space.has(text[begin - 1])) {
      --begin;
    }
    begin = token.leftStrip ? std::max(begin, done) : begin;
    while (token.rightStrip && end < text.size() && space.has(text[end])) {
      ++end;
    }
    if (begin >= end) {
      continue;
    }
    add(done, begin, -1);
    add(begin, end, token.id);
    done = end;
  }
  add(done, text.size(), -1);
}

rt::Result<Pieces> AddedTokens::split(TracedText text,
                                      const Normalizer *normalizer,
                                      bool specialAsText,
                                      Budget &budget) const {
  std::vector<Piece> rough;
  findIn(early, text.chars, 0, specialAsText, rough);
  Pieces pieces;
  // Mostly there is one, and nothing has to be put together.
  bool isOne = rough.size() == 1 && rough[0].token < 0;
  for (const Piece &piece : rough) {
    TracedText part;
    if (isOne) {
      part = std::move(text);
    } else {
      part.append(text, piece.begin, piece.end);
    }
    auto offset = static_cast<uint32_t>(pieces.text.size());
    if (piece.token >= 0) {
      pieces.pieces.push_back(
          {offset, offset + static_cast<uint32_t>(part.size()), piece.token});
    } else {
      rt::Status status =
          normalizer ? normalizer->apply(part, budget) : rt::Status();
      status = status ? checkSize(offset + part.size()) : std::move(status);
      if (status && !budget.pass(part.size())) {
        status = budget.status();
      }
      if (!status) {
        return std::move(status.error());
      }
      findIn(late, part.chars, offset, specialAsText, pieces.pieces);
    }
    if (isOne) {
      pieces.text = std::move(part);
    } else {
      pieces.text.append(part, 0, part.size());
    }
  }
  return pieces;
}

} // namespace tfc::text
