// Pages of 256 bits, of which those that are empty or full are shared.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/CharacterSet.h"

#include "runtime/text/UnicodeTables.h"

#include <algorithm>
#include <map>

namespace tfc::text {

CharacterSet::Block &CharacterSet::own(size_t page) {
  if (pages[page] <= full) {
    blocks.push_back(Block(blocks[pages[page]]));
    pages[page] = static_cast<uint16_t>(blocks.size() - 1);
  }
  return blocks[pages[page]];
}

void CharacterSet::add(char32_t first, char32_t last) {
  last = std::min(last, lastCharacter);
  for (char32_t c = first; c <= last;) {
    if ((c & 255) == 0 && last - c >= 255) {
      pages[c >> 8] = full;
      c += 256;
      continue;
    }
    own(c >> 8)[c >> 6 & 3] |= uint64_t(1) << (c & 63);
    ++c;
  }
}

void CharacterSet::add(const CharacterSet &other) {
  for (size_t page = 0; page < pages.size(); ++page) {
    if (other.pages[page] == full) {
      pages[page] = full;
    } else if (other.pages[page] != empty && pages[page] != full) {
      Block &block = own(page);
      for (size_t i = 0; i < block.size(); ++i) {
        block[i] |= other.blocks[other.pages[page]][i];
      }
    }
  }
}

void CharacterSet::intersect(const CharacterSet &other) {
  for (size_t page = 0; page < pages.size(); ++page) {
    if (other.pages[page] == empty) {
      pages[page] = empty;
    } else if (other.pages[page] != full && pages[page] != empty) {
      Block &block = own(page);
      for (size_t i = 0; i < block.size(); ++i) {
        block[i] &= other.blocks[other.pages[page]][i];
      }
    }
  }
}

void CharacterSet::invert() {
  for (size_t page = 0; page < pages.size(); ++page) {
    if (pages[page] <= full) {
      pages[page] = pages[page] == full ? empty : full;
      continue;
    }
    for (uint64_t &word : blocks[pages[page]]) {
      word = ~word;
    }
  }
}

/// All sets, made with the first question.
static const std::map<std::string_view, CharacterSet> &makeSets() {
  static const auto sets = [] {
    std::map<std::string_view, CharacterSet> made;
    for (const NamedRanges &from : tableOfSets()) {
      CharacterSet &set = made[from.name];
      for (const CharacterRange &range : rangesOf(from)) {
        set.add(range.first, range.last);
      }
    }
    return made;
  }();
  return sets;
}

const CharacterSet &namedSet(std::string_view name) {
  return makeSets().at(name);
}

std::vector<std::string_view> namesOfSets() {
  std::vector<std::string_view> names;
  for (const auto &[name, set] : makeSets()) {
    names.push_back(name);
  }
  return names;
}

} // namespace tfc::text
