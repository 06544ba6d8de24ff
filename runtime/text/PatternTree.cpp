// What can be said of a pattern before it is run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/PatternTree.h"

#include <algorithm>

namespace tfc::text {

PatternLength lengthOf(const PatternNode &node) {
  PatternLength length;
  switch (node.kind) {
  case PatternNode::One:
    return {1, 1};
  case PatternNode::Sequence:
  case PatternNode::Atomic:
    for (const PatternNodePtr &part : node.parts) {
      PatternLength one = lengthOf(*part);
      length.least += one.least;
      length.most += one.most;
    }
    break;
  case PatternNode::Either:
    length = lengthOf(*node.parts[0]);
    for (const PatternNodePtr &part : node.parts) {
      PatternLength one = lengthOf(*part);
      length.least = std::min(length.least, one.least);
      length.most = std::max(length.most, one.most);
    }
    break;
  case PatternNode::Loop:
    length = lengthOf(*node.parts[0]);
    length.least *= node.least;
    length.most *= node.most;
    break;
  default:
    break;
  }
  // Loops in loops: more than any use, and far from an overflow.
  constexpr uint64_t much = uint64_t(1) << 31;
  return {std::min(length.least, much), std::min(length.most, much)};
}

bool addFirst(const PatternNode &node, const std::vector<CharacterSet> &sets,
              CharacterSet &first) {
  switch (node.kind) {
  case PatternNode::One:
    first.add(sets[node.set]);
    return true;
  case PatternNode::Sequence:
  case PatternNode::Atomic:
    for (const PatternNodePtr &part : node.parts) {
      if (addFirst(*part, sets, first)) {
        return true;
      }
    }
    return false;
  case PatternNode::Either: {
    bool all = true;
    for (const PatternNodePtr &part : node.parts) {
      all &= addFirst(*part, sets, first);
    }
    return all;
  }
  case PatternNode::Loop:
    return addFirst(*node.parts[0], sets, first) && node.least > 0;
  default:
    return false;
  }
}

} // namespace tfc::text
