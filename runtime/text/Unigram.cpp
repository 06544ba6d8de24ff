// Unigram: of all ways to cut a word into tokens the one whose scores have the
// greatest sum.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ByteTokens.h"
#include "runtime/text/PrefixTree.h"
#include "runtime/text/TokenModel.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace tfc::text {

namespace {

/// How much worse than the worst token an unknown character is.
constexpr double unknownPenalty = 10;
constexpr size_t nowhere = ~size_t(0);

/// The best way to a place.
struct Way {
  double score = 0;
  size_t from = nowhere;
  uint32_t id = 0;
};

class Unigram : public TokenModel {
public:
  Unigram(Vocabulary vocabulary, uint32_t unknown, bool fallsBackToBytes,
          bool roundsSums)
      : TokenModel(std::move(vocabulary)), unknown(unknown),
        fallsBackToBytes(fallsBackToBytes), roundsSums(roundsSums),
        byteTokens(words) {
    std::vector<PrefixTree::Entry> entries;
    double worst = 0;
    for (const Vocabulary::Entry &entry : words.all()) {
      worst = entries.empty() ? entry.score : std::min(worst, entry.score);
      entries.push_back({entry.text, words.find(entry.text)});
    }
    tree = PrefixTree(std::move(entries));
    unknownScore = worst - unknownPenalty;
  }

  rt::Status encode(std::u32string_view word, std::vector<WordToken> &out,
                    Budget &budget) const override;

  bool isShownAsWord(uint32_t id) const override { return id == unknown; }

private:
  rt::Status findWays(std::string_view bytes, std::vector<Way> &ways,
                      Budget &budget) const;
  rt::Status addToken(std::string_view text, uint32_t begin, uint32_t end,
                      std::vector<WordToken> &out) const;

  rt::Error missingUnknown() const {
    return rt::makeError(rt::Code::InvalidArgument,
                         "expected a vocabulary with an unknown token (the "
                         "text has a character without tokens), got none");
  }

  uint32_t unknown;
  bool fallsBackToBytes, roundsSums;
  ByteTokens byteTokens;
  PrefixTree tree;
  double unknownScore = 0;
};

size_t lengthOfCharacter(unsigned char lead) {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

rt::Status Unigram::findWays(std::string_view bytes, std::vector<Way> &ways,
                             Budget &budget) const {
  ways.assign(bytes.size() + 1, Way());
  auto offer = [&](size_t from, size_t to, double score, uint32_t id) {
    score = roundsSums ? double(float(score)) : score;
    if (ways[to].from == nowhere || score > ways[to].score) {
      ways[to] = {score, from, id};
    }
  };
  for (size_t at = 0; at < bytes.size();) {
    size_t next = at + lengthOfCharacter(static_cast<unsigned char>(bytes[at]));
    bool isKnown = false;
    size_t walked =
        tree.walk(bytes.substr(at), [&](size_t length, uint32_t id) {
          offer(at, at + length, ways[at].score + words.all()[id].score, id);
          isKnown |= at + length == next;
        });
    if (!budget.spend(PrefixTree::stepsOf(walked))) {
      return budget.status();
    }
    if (!isKnown) {
      if (unknown == Vocabulary::none) {
        return missingUnknown();
      }
      offer(at, next, ways[at].score + unknownScore, unknown);
    }
    at = next;
  }
  return {};
}

rt::Status Unigram::addToken(std::string_view text, uint32_t begin,
                             uint32_t end, std::vector<WordToken> &out) const {
  uint32_t id = words.find(text);
  if (id == Vocabulary::none && fallsBackToBytes && byteTokens.has(text)) {
    for (unsigned char byte : text) {
      out.push_back({byteTokens.find(byte), begin, end});
    }
    return {};
  }
  if (id == Vocabulary::none && unknown == Vocabulary::none) {
    return missingUnknown();
  }
  out.push_back({id == Vocabulary::none ? unknown : id, begin, end});
  return {};
}

rt::Status Unigram::encode(std::u32string_view word,
                           std::vector<WordToken> &out, Budget &budget) const {
  static thread_local std::vector<Way> ways;
  static thread_local std::vector<uint32_t> characters; // of places in bytes
  std::string bytes;
  characters.clear();
  for (uint32_t i = 0; i < word.size(); ++i) {
    appendUtf8(bytes, word[i]);
    characters.resize(bytes.size(), i);
  }
  characters.push_back(static_cast<uint32_t>(word.size()));
  rt::Status status = findWays(bytes, ways, budget);
  if (!status) {
    return status;
  }
  // From the end; unknown neighbours are one.
  std::vector<std::pair<size_t, size_t>> parts;
  bool wasUnknown = false;
  for (size_t end = bytes.size(); end > 0; end = ways[end].from) {
    bool isUnknown = ways[end].id == unknown;
    if (isUnknown && wasUnknown) {
      parts.back().first = ways[end].from;
    } else {
      parts.emplace_back(ways[end].from, end);
    }
    wasUnknown = isUnknown;
  }
  std::reverse(parts.begin(), parts.end());
  for (auto [begin, end] : parts) {
    status = addToken(std::string_view(bytes).substr(begin, end - begin),
                      characters[begin], characters[end], out);
    if (!status) {
      return status;
    }
  }
  return {};
}

} // namespace

TokenModelPtr makeUnigram(Vocabulary vocabulary, uint32_t unknown,
                          bool fallsBackToBytes, bool roundsSums) {
  return std::make_unique<Unigram>(std::move(vocabulary), unknown,
                                   fallsBackToBytes, roundsSums);
}

} // namespace tfc::text
