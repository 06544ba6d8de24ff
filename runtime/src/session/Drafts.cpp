// Prompt lookup, and when it is worth its rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/Drafts.h"

#include <algorithm>

namespace tfc::rt {

// A place that is like the end for so long is as good as any longer one.
static constexpr size_t longestMatch = 16;

// The least chance of a guess that is made, and the least rate at which any is:
// a row behind the known token costs a few hundredths of a step that reads all
// weights, and the more the smaller the model.
static constexpr double leastChance = 0.25, leastRate = 0.2;
static constexpr int64_t longestDraft = 16, longestPause = 64;

// Where a guess is another model's, what its row costs beside that, and the
// least that is worth it.
static constexpr double rowCost = 0.03, leastGain = 1.03;

namespace {

struct Place {
  size_t length = 0, end = 0; // how long it is alike, and where it ends
};

/// Where `text` is like the end of `tokens`; of `tokens` itself before its end.
Place findLike(const std::vector<int32_t> &text,
               const std::vector<int32_t> &tokens) {
  Place best;
  size_t size = tokens.size();
  int32_t last = tokens[size - 1], before = tokens[size - 2];
  for (size_t end = &text == &tokens ? size - 1 : text.size();
       end >= 2 && best.length < longestMatch; --end) {
    if (text[end - 1] != last || text[end - 2] != before) {
      continue;
    }
    size_t length = 2;
    while (length < std::min({longestMatch, end, size}) &&
           text[end - 1 - length] == tokens[size - 1 - length]) {
      ++length;
    }
    // Nothing follows the end of a source.
    if (length > best.length && end < text.size()) {
      best = {length, end};
    }
  }
  return best;
}

} // namespace

std::vector<int32_t> lookUpDraft(const std::vector<int32_t> &tokens,
                                 const std::vector<int32_t> *source,
                                 int64_t most, int64_t limit) {
  std::vector<int32_t> draft;
  if (most < 1 || tokens.size() < 2) {
    return draft;
  }
  const std::vector<int32_t> *text = &tokens;
  Place place = findLike(tokens, tokens);
  if (place.length == 0 && source) {
    text = source;
    place = findLike(*source, tokens);
  }
  size_t size = text->size(), at = place.end;
  for (; place.length != 0 && static_cast<int64_t>(draft.size()) < most; ++at) {
    // What repeats itself does so beyond its end.
    bool isBeyond = at >= size;
    if (isBeyond && text == source) {
      break;
    }
    int32_t token = isBeyond ? draft[at - size] : (*text)[at];
    if (token < 0 || token >= limit) {
      break;
    }
    draft.push_back(token);
  }
  return draft;
}

/// Of guesses that cost something: how many give most for it.
DraftLength::Best DraftLength::bestWith(double rate) const {
  Best best{1, 0};
  double tokens = 1, chance = 1;
  for (int64_t length = 1; length <= longestDraft; ++length) {
    chance *= rate;
    tokens += chance;
    double gain = tokens / (1 + double(length) * (cost + rowCost));
    if (gain > best.gain) {
      best = {length, gain};
    }
  }
  return best;
}

int64_t DraftLength::length() const {
  if (cost > 0) {
    return bestWith(rate).length;
  }
  int64_t length = 0;
  for (double chance = rate; chance >= leastChance && length < longestDraft;
       chance *= rate) {
    ++length;
  }
  return std::max<int64_t>(length, 1);
}

bool DraftLength::pays() const {
  return cost > 0 ? bestWith(rate).gain >= leastGain : rate >= leastRate;
}

int64_t DraftLength::next() {
  if (pause > 0) {
    --pause;
    return 0;
  }
  return cost > 0 && bestWith(1).gain < leastGain ? 0 : length();
}

void DraftLength::learn(int64_t drafted, int64_t accepted) {
  if (drafted == 0) {
    return;
  }
  // The first wrong one is the last that says something.
  int64_t tried = accepted + (accepted < drafted);
  double weight = double(tried) / double(tried + 4);
  rate += weight * (double(accepted) / double(tried) - rate);
  if (pays()) {
    nextPause = 1;
    return;
  }
  pause = nextPause;
  nextPause = std::min(2 * nextPause, longestPause);
}

} // namespace tfc::rt
