// What a pattern is before it becomes steps: the parser makes a tree, which is
// then written down.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_PATTERNTREE_H
#define TFC_RUNTIME_TEXT_PATTERNTREE_H

#include "runtime/text/Pattern.h"

#include <memory>

namespace tfc::text {

struct PatternNode {
  enum Kind { Empty, One, Sequence, Either, Loop, Look, Atomic, Edge };

  Kind kind = Empty;
  uint32_t set = 0;                           // One
  PatternStep::Kind edge = PatternStep::Done; // Edge
  PatternStep::Greed greed = PatternStep::Greedy;
  bool isNegative = false, isBehind = false;
  uint32_t least = 0, most = 0; // Loop
  std::vector<std::unique_ptr<PatternNode>> parts;
};

using PatternNodePtr = std::unique_ptr<PatternNode>;

/// How many characters a node takes.
struct PatternLength {
  uint64_t least = 0, most = 0;
};

/// Reads a pattern; the classes that it names go to `sets`.
rt::Result<PatternNodePtr> parsePattern(std::u32string_view text,
                                        std::vector<CharacterSet> &sets);

PatternLength lengthOf(const PatternNode &node);

/// The set of characters that a match begins with, added to `first`. False:
/// it may begin with none.
bool addFirst(const PatternNode &node, const std::vector<CharacterSet> &sets,
              CharacterSet &first);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_PATTERNTREE_H
