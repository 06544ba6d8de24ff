// Finds added tokens: the leftmost, and of those that begin there the longest.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/AddedTokens.h"

#include "runtime/text/Utf8.h"

#include <algorithm>

namespace tfc::text {

void AddedTokens::Finder::add(std::u32string_view text, size_t token) {
  uint32_t node = 0;
  for (char32_t c : text) {
    auto next = static_cast<uint32_t>(nodes.size());
    auto [child, isNew] = nodes[node].children.emplace(c, next);
    node = child->second;
    if (isNew) {
      nodes.emplace_back();
    }
  }
  // Of equal texts the first one counts.
  if (node != 0 && nodes[node].token < 0) {
    nodes[node].token = static_cast<int64_t>(token);
  }
}

const AddedTokens::Finder::Node *
AddedTokens::Finder::find(std::u32string_view text, size_t at,
                          size_t &end) const {
  const Node *node = &nodes[0], *found = nullptr;
  for (size_t i = at; i < text.size(); ++i) {
    auto child = node->children.find(text[i]);
    if (child == node->children.end()) {
      break;
    }
    node = &nodes[child->second];
    if (node->token >= 0) {
      found = node;
      end = i + 1;
    }
  }
  return found;
}

rt::Result<AddedTokens> AddedTokens::make(std::vector<AddedToken> tokens,
                                          const Normalizer *normalizer) {
  AddedTokens made;
  made.tokens = std::move(tokens);
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
        rt::Status status = normalizer->apply(text);
        if (!status) {
          return std::move(status.error());
        }
      }
      token.shown = encodeUtf8(text.chars);
      (token.normalized ? made.late : made.early).add(text.chars, i);
    }
  }
  for (size_t i = 0; i < made.tokens.size(); ++i) {
    made.byId[made.tokens[i].id] = i;
  }
  return made;
}

void AddedTokens::findIn(const Finder &finder, std::u32string_view text,
                         uint32_t offset, bool specialAsText,
                         std::vector<Piece> &out) const {
  static const CharacterSet &word = namedSet("word");
  static const CharacterSet &space = namedSet("white_space");
  size_t done = 0; // what is before has its piece
  auto add = [&](size_t begin, size_t end, int64_t token) {
    if (begin < end) {
      out.push_back({offset + static_cast<uint32_t>(begin),
                     offset + static_cast<uint32_t>(end), token});
    }
  };
  for (size_t at = 0; at < text.size();) {
    size_t begin = at, end = at;
    const Finder::Node *node =
        finder.nodes.size() > 1 ? finder.find(text, at, end) : nullptr;
    if (!node) {
      ++at;
      continue;
    }
    at = end;
    const AddedToken &token = tokens[node->token];
    bool isInWord =
        token.singleWord && ((begin > 0 && word.has(text[begin - 1])) ||
                             (end < text.size() && word.has(text[end])));
    if (isInWord || (specialAsText && token.special)) {
      continue;
    }
    // Spaces that another token has taken are not there any more.
    while (token.leftStrip && begin > done && space.has(text[begin - 1])) {
      --begin;
    }
    while (token.rightStrip && end < text.size() && space.has(text[end])) {
      ++end;
    }
    add(done, begin, -1);
    add(begin, end, token.id);
    done = end;
  }
  add(done, text.size(), -1);
}

rt::Result<Pieces> AddedTokens::split(TracedText text,
                                      const Normalizer *normalizer,
                                      bool specialAsText) const {
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
      rt::Status status = normalizer ? normalizer->apply(part) : rt::Status();
      status = status ? checkSize(offset + part.size()) : std::move(status);
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
