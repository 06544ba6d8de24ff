// Byte pair encoding: a word's characters, of which neighbours become one token
// as long as the list of merges has them, the earliest in the list first.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ByteTokens.h"
#include "runtime/text/PairTable.h"
#include "runtime/text/TokenModel.h"
#include "runtime/text/Utf8.h"

#include <array>
#include <queue>

namespace tfc::text {

namespace {

/// A part of the word, in a list of neighbours.
struct Symbol {
  uint32_t id;
  uint32_t begin, end;
  int32_t previous, next; // -1: none
};

/// A merge that could be done where it was seen.
struct Candidate {
  uint32_t rank, whole;
  int32_t at;
  bool operator<(const Candidate &other) const {
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

class Bpe : public TokenModel {
public:
  Bpe(Vocabulary vocabulary, PairTable merges, BpeOptions given)
      : TokenModel(std::move(vocabulary)), merges(std::move(merges)),
        options(std::move(given)), byteTokens(words),
        unknownId(options.hasUnknown ? words.find(options.unknown)
                                     : Vocabulary::none) {
    for (char32_t c = 0; c < common.size(); ++c) {
      common[c] = words.find(encodeUtf8({&c, 1}));
    }
  }

  rt::Status encode(std::u32string_view word, std::vector<WordToken> &out,
                    Budget &budget) const override {
    if (options.ignoresMerges) {
      uint32_t id = words.find(encodeUtf8(word));
      if (id != Vocabulary::none) {
        out.push_back({id, 0, static_cast<uint32_t>(word.size())});
        return {};
      }
    }
    // A token's buffers are the next one's.
    static thread_local std::vector<Symbol> symbols;
    symbols.clear();
    rt::Status status = split(word, symbols);
    if (!status) {
      return status;
    }
    constexpr size_t few = 24;
    if (symbols.size() <= few) {
      mergeFew(symbols);
    } else if (!mergeMany(symbols, budget)) {
      return budget.status();
    }
    for (int32_t at = symbols.empty() ? -1 : 0; at >= 0;
         at = symbols[at].next) {
      out.push_back({symbols[at].id, symbols[at].begin, symbols[at].end});
    }
    return {};
  }

private:
  rt::Status split(std::u32string_view word,
                   std::vector<Symbol> &symbols) const;
  uint32_t findCharacter(std::u32string_view word, size_t at,
                         std::string &text) const;
  void mergeFew(std::vector<Symbol> &symbols) const;
  bool mergeMany(std::vector<Symbol> &symbols, Budget &budget) const;

  /// What a symbol and the one behind it become, or null.
  const PairTable::Row *findMerge(const std::vector<Symbol> &symbols,
                                  int32_t at) const {
    int32_t next = at < 0 ? -1 : symbols[at].next;
    return next < 0 ? nullptr : merges.find(symbols[at].id, symbols[next].id);
  }

  static void merge(std::vector<Symbol> &symbols, int32_t at, uint32_t whole) {
    Symbol &left = symbols[at], &right = symbols[left.next];
    left.id = whole;
    left.end = right.end;
    left.next = right.next;
    right.id = Vocabulary::none;
    if (left.next >= 0) {
      symbols[left.next].previous = at;
    }
  }

  PairTable merges;
  BpeOptions options;
  ByteTokens byteTokens;
  uint32_t unknownId;
  std::array<uint32_t, 1024> common; // tokens of one character
};

/// The token of a character, or none; `text` gets what was looked for.
uint32_t Bpe::findCharacter(std::u32string_view word, size_t at,
                            std::string &text) const {
  bool isPlain = options.prefix.empty() && options.suffix.empty();
  if (isPlain && word[at] < common.size() &&
      common[word[at]] != Vocabulary::none) {
    return common[word[at]];
  }
  text.clear();
  if (at != 0) {
    text = options.prefix;
  }
  appendUtf8(text, word[at]);
  if (at + 1 == word.size()) {
    text += options.suffix;
  }
  return words.find(text);
}

rt::Status Bpe::split(std::u32string_view word,
                      std::vector<Symbol> &symbols) const {
  Symbol unknown{Vocabulary::none, 0, 0, -1, -1};
  bool isPending = false; // an unknown part, which may still grow
  auto add = [&](Symbol symbol) {
    symbol.previous = static_cast<int32_t>(symbols.size()) - 1;
    symbol.next = -1;
    if (!symbols.empty()) {
      symbols.back().next = static_cast<int32_t>(symbols.size());
    }
    symbols.push_back(symbol);
  };
  auto addPending = [&] {
    if (isPending) {
      add(unknown);
      isPending = false;
    }
  };
  std::string text;
  for (uint32_t at = 0; at < word.size(); ++at) {
    uint32_t id = findCharacter(word, at, text);
    if (id != Vocabulary::none) {
      addPending();
      add({id, at, at + 1, -1, -1});
      continue;
    }
    // Bytes stand before an unknown part that is still open, as they do in
    // `tokenizers`.
    if (options.fallsBackToBytes && byteTokens.has(text)) {
      for (unsigned char byte : text) {
        add({byteTokens.find(byte), at, at + 1, -1, -1});
      }
      continue;
    }
    if (!options.hasUnknown) {
      continue;
    }
    if (unknownId == Vocabulary::none) {
      return rt::makeError(rt::Code::InvalidArgument,
                           "expected a vocabulary with its unknown token ",
                           rt::quoteName(options.unknown),
                           " (the text has a character without tokens), got "
                           "none");
    }
    if (isPending && options.fusesUnknown) {
      unknown.end = at + 1;
      continue;
    }
    addPending();
    unknown = {unknownId, at, at + 1, -1, -1};
    isPending = true;
  }
  addPending();
  return {};
}

/// Looks at all neighbours again after each merge.
void Bpe::mergeFew(std::vector<Symbol> &symbols) const {
  std::array<const PairTable::Row *, 32> rows{};
  for (size_t i = 0; i < symbols.size(); ++i) {
    rows[i] = findMerge(symbols, static_cast<int32_t>(i));
  }
  for (;;) {
    int32_t best = -1;
    for (int32_t at = symbols.empty() ? -1 : 0; at >= 0;
         at = symbols[at].next) {
      if (rows[at] && (best < 0 || rows[at]->rank < rows[best]->rank)) {
        best = at;
      }
    }
    if (best < 0) {
      return;
    }
    merge(symbols, best, rows[best]->whole);
    rows[best] = findMerge(symbols, best);
    int32_t previous = symbols[best].previous;
    if (previous >= 0) {
      rows[previous] = findMerge(symbols, previous);
    }
  }
}

/// Keeps what could be merged in a queue, where some of it grows old. False:
/// the budget ends.
bool Bpe::mergeMany(std::vector<Symbol> &symbols, Budget &budget) const {
  std::priority_queue<Candidate> queue;
  auto look = [&](int32_t at) {
    if (const PairTable::Row *row = findMerge(symbols, at)) {
      queue.push({row->rank, row->whole, at});
    }
  };
  for (size_t i = 0; i < symbols.size(); ++i) {
    look(static_cast<int32_t>(i));
  }
  while (!queue.empty()) {
    Candidate top = queue.top();
    queue.pop();
    // A queue of what a word is long: few times that, each some hundred cycles.
    if (!budget.pass(8)) {
      return false;
    }
    bool isGone = symbols[top.at].id == Vocabulary::none;
    const PairTable::Row *row = isGone ? nullptr : findMerge(symbols, top.at);
    if (!row || row->whole != top.whole) {
      continue;
    }
    merge(symbols, top.at, top.whole);
    look(symbols[top.at].previous);
    look(top.at);
  }
  return true;
}

} // namespace

rt::Result<TokenModelPtr> makeBpe(Vocabulary vocabulary,
                                  const std::vector<Merge> &merges,
                                  BpeOptions options) {
  PairTable table(merges.size());
  std::string whole;
  for (size_t i = 0; i < merges.size(); ++i) {
    const auto &[left, right] = merges[i];
    size_t cut = std::min(options.prefix.size(), right.size());
    whole.assign(left).append(right, cut, std::string::npos);
    PairTable::Row row{vocabulary.find(left), vocabulary.find(right),
                       static_cast<uint32_t>(i), vocabulary.find(whole)};
    for (auto [id, text] :
         {std::pair(row.left, &left), std::pair(row.right, &right),
          std::pair(row.whole, &std::as_const(whole))}) {
      if (id == Vocabulary::none) {
        return rt::makeError(rt::Code::InvalidArgument, "merge ", i,
                             ": expected tokens of the vocabulary,"
                             " got ",
                             rt::quoteName(*text));
      }
    }
    table.put(row);
  }
  return TokenModelPtr(std::make_unique<Bpe>(
      std::move(vocabulary), std::move(table), std::move(options)));
}

} // namespace tfc::text
