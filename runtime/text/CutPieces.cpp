// From matches to pieces: what becomes of what separates.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/PreTokenizers.h"

#include <algorithm>

namespace tfc::text {

namespace {

/// Joins neighbours: `joins` says whether a match goes to the one before it,
/// whose kind it gets too.
template <typename F>
std::vector<Match> joinToPrevious(const std::vector<Match> &matches, F joins) {
  std::vector<Match> joined;
  bool wasMatch = false;
  for (const Match &match : matches) {
    if (!joined.empty() && joins(match.isMatch, wasMatch)) {
      joined.back().end = match.end;
    } else {
      joined.push_back(match);
    }
    wasMatch = match.isMatch;
  }
  return joined;
}

std::vector<Match> joinToNext(const std::vector<Match> &matches) {
  std::vector<Match> joined;
  bool wasMatch = false;
  for (auto match = matches.rbegin(); match != matches.rend(); ++match) {
    if (!joined.empty() && match->isMatch && !wasMatch) {
      joined.back().begin = match->begin;
    } else {
      joined.push_back(*match);
    }
    wasMatch = match->isMatch;
  }
  std::reverse(joined.begin(), joined.end());
  return joined;
}

} // namespace

void cut(std::vector<Match> matches, Behavior behavior, uint32_t offset,
         std::vector<Piece> &out) {
  switch (behavior) {
  case Behavior::Removed:
    matches.erase(std::remove_if(matches.begin(), matches.end(),
                                 [](const Match &m) { return m.isMatch; }),
                  matches.end());
    break;
  case Behavior::Isolated:
    break;
  case Behavior::Contiguous:
    matches =
        joinToPrevious(matches, [](bool is, bool was) { return is == was; });
    break;
  case Behavior::MergedWithPrevious:
    matches =
        joinToPrevious(matches, [](bool is, bool was) { return is && !was; });
    break;
  case Behavior::MergedWithNext:
    matches = joinToNext(matches);
    break;
  }
  for (const Match &match : matches) {
    if (match.begin < match.end) {
      out.push_back({offset + static_cast<uint32_t>(match.begin),
                     offset + static_cast<uint32_t>(match.end), -1});
    }
  }
}

} // namespace tfc::text
