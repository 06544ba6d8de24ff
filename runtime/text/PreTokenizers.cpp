// The pre-tokenizers: those that cut, and those that change what is cut.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/PreTokenizers.h"

#include "runtime/text/ByteLevel.h"
#include "runtime/text/Normalizers.h"

namespace tfc::text {

namespace {

/// A pre-tokenizer that is a function.
template <typename F> class Made : public PreTokenizer {
public:
  explicit Made(F function) : function(std::move(function)) {}
  rt::Status apply(Pieces &pieces, Budget &budget) const override {
    return function(pieces, budget);
  }

private:
  F function;
};

template <typename F> PreTokenizerPtr make(F function) {
  return std::make_unique<Made<F>>(std::move(function));
}

/// Cuts every piece that is no token: `find` gives the matches in its text.
template <typename F>
rt::Status cutPieces(Pieces &pieces, Behavior behavior, F find) {
  std::vector<Piece> out;
  out.reserve(pieces.pieces.size());
  std::u32string_view text = pieces.text.chars;
  for (const Piece &piece : pieces.pieces) {
    if (piece.token >= 0) {
      out.push_back(piece);
      continue;
    }
    rt::Result<std::vector<Match>> matches =
        find(text.substr(piece.begin, piece.end - piece.begin));
    if (!matches) {
      return std::move(matches.error());
    }
    cut(std::move(*matches), behavior, piece.begin, out);
  }
  pieces.pieces = std::move(out);
  return {};
}

/// Changes every piece that is no token: `change` appends its new text.
template <typename F> void rewritePieces(Pieces &pieces, F change) {
  TracedText out;
  out.reserve(pieces.text.size());
  for (Piece &piece : pieces.pieces) {
    uint32_t begin = static_cast<uint32_t>(out.size());
    if (piece.token >= 0) {
      out.append(pieces.text, piece.begin, piece.end);
    } else {
      change(piece, out);
    }
    piece.begin = begin;
    piece.end = static_cast<uint32_t>(out.size());
  }
  pieces.text = std::move(out);
}

/// Whether each character belongs to a part of its own.
std::vector<Match> findCharacters(std::u32string_view text,
                                  const IsSeparator &isSeparator) {
  std::vector<Match> found;
  size_t end = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (isSeparator(text[at])) {
      if (end < at) {
        found.push_back({end, at, false});
      }
      found.push_back({at, at + 1, true});
      end = at + 1;
    }
  }
  if (end < text.size()) {
    found.push_back({end, text.size(), false});
  }
  return found;
}

void findWords(const Piece &piece, std::u32string_view text,
               std::vector<Piece> &out) {
  static const CharacterSet &word = namedSet("word");
  static const CharacterSet &space = namedSet("white_space");
  auto kind = [&](uint32_t at) {
    return word.has(text[at]) ? 0 : space.has(text[at]) ? 1 : 2;
  };
  for (uint32_t begin = piece.begin; begin < piece.end;) {
    uint32_t end = begin + 1;
    while (end < piece.end && kind(end) == kind(begin)) {
      ++end;
    }
    if (kind(begin) != 1) {
      out.push_back({begin, end, -1});
    }
    begin = end;
  }
}

const Pattern &wordsOfGpt2() {
  static const Pattern pattern = [] {
    auto parsed = Pattern::parse(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+)"
                                 R"(| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)");
    return std::move(*parsed);
  }();
  return pattern;
}

} // namespace

PreTokenizerPtr makeSplit(Pattern pattern, Behavior behavior, bool inverted) {
  return make(
      [=, pattern = std::move(pattern)](Pieces &pieces, Budget &budget) {
        return cutPieces(pieces, behavior, [&](std::u32string_view text) {
          auto matches = pattern.find(text, budget);
          for (size_t i = 0; matches && inverted && i < matches->size(); ++i) {
            (*matches)[i].isMatch ^= true;
          }
          return matches;
        });
      });
}

PreTokenizerPtr makeSplitAt(IsSeparator isSeparator, Behavior behavior) {
  return make([=, isSeparator = std::move(isSeparator)](Pieces &pieces,
                                                        Budget &) {
    return cutPieces(pieces, behavior, [&](std::u32string_view text) {
      return rt::Result<std::vector<Match>>(findCharacters(text, isSeparator));
    });
  });
}

PreTokenizerPtr makeWords() {
  return make([](Pieces &pieces, Budget &) -> rt::Status {
    std::vector<Piece> out;
    for (const Piece &piece : pieces.pieces) {
      if (piece.token >= 0) {
        out.push_back(piece);
      } else {
        findWords(piece, pieces.text.chars, out);
      }
    }
    pieces.pieces = std::move(out);
    return {};
  });
}

PreTokenizerPtr makeByteLevel(bool addPrefixSpace, bool cuts) {
  return make([=](Pieces &pieces, Budget &budget) -> rt::Status {
    if (addPrefixSpace) {
      rewritePieces(pieces, [&](const Piece &piece, TracedText &out) {
        const TracedText &text = pieces.text;
        if (text.chars[piece.begin] != U' ') {
          out.push(U' ', text.origins[piece.begin]);
        }
        out.append(text, piece.begin, piece.end);
      });
    }
    rt::Status status;
    if (cuts) {
      status = cutPieces(pieces, Behavior::Isolated, [&](auto text) {
        return wordsOfGpt2().find(text, budget);
      });
    }
    rewritePieces(pieces, [&](const Piece &piece, TracedText &out) {
      TracedText bytes = toByteLevel(pieces.text, piece.begin, piece.end);
      out.append(bytes, 0, bytes.size());
    });
    return status;
  });
}

PreTokenizerPtr makeMetaspace(char32_t replacement, Prepend prepend,
                              bool cuts) {
  return make([=](Pieces &pieces, Budget &) -> rt::Status {
    rewritePieces(pieces, [&](const Piece &piece, TracedText &out) {
      const TracedText &text = pieces.text;
      char32_t first = text.chars[piece.begin];
      Span origin = text.origins[piece.begin];
      bool isWanted = prepend == Prepend::Always ||
                      (prepend == Prepend::First && origin.begin == 0);
      if (isWanted && first != U' ' && first != replacement) {
        out.push(replacement, origin);
      }
      for (uint32_t i = piece.begin; i < piece.end; ++i) {
        char32_t c = text.chars[i];
        out.push(c == U' ' ? replacement : c, text.origins[i]);
      }
    });
    if (!cuts) {
      return {};
    }
    return cutPieces(pieces, Behavior::MergedWithNext,
                     [&](std::u32string_view text) {
                       return rt::Result<std::vector<Match>>(findCharacters(
                           text, [=](char32_t c) { return c == replacement; }));
                     });
  });
}

PreTokenizerPtr makeSequence(std::vector<PreTokenizerPtr> parts) {
  return make(
      [parts = std::move(parts)](Pieces &pieces, Budget &budget) -> rt::Status {
        for (const PreTokenizerPtr &part : parts) {
          rt::Status status = part->apply(pieces, budget);
          status = status ? checkSize(pieces.text.size()) : std::move(status);
          if (status && !budget.pass(pieces.text.size())) {
            status = budget.status();
          }
          if (!status) {
            return status;
          }
        }
        return {};
      });
}

} // namespace tfc::text
