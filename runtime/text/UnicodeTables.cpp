// Looks into UnicodeTables.inc: its rows are sorted by their first column.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/UnicodeTables.h"

#include <algorithm>
#include <iterator>

namespace tfc::text {

namespace {

struct CharacterMapping {
  char32_t from;
  uint32_t begin, length;
};

struct Composition {
  char32_t first, second, whole;
};

struct CombiningClass {
  char32_t character;
  uint32_t value;
};

#include "runtime/text/UnicodeTables.inc"

/// The first character that has none of these is far behind most texts.
template <size_t n>
std::u32string_view find(const CharacterMapping (&map)[n], const char32_t *text,
                         char32_t c) {
  if (c < map[0].from) {
    return {};
  }
  const CharacterMapping *found = std::lower_bound(
      map, map + n, c,
      [](const CharacterMapping &row, char32_t to) { return row.from < to; });
  return found != map + n && found->from == c
             ? std::u32string_view(text + found->begin, found->length)
             : std::u32string_view();
}

} // namespace

Rows<NamedRanges> tableOfSets() { return {allSets, std::size(allSets)}; }

Rows<CharacterRange> rangesOf(const NamedRanges &set) {
  return {allRanges + set.begin, set.end - set.begin};
}

std::u32string_view decomposeCanonical(char32_t c) {
  return find(canonicalMap, canonicalText, c);
}

std::u32string_view decomposeCompatible(char32_t c) {
  std::u32string_view to = find(compatibleMap, compatibleText, c);
  return to.empty() ? decomposeCanonical(c) : to;
}

std::u32string_view lowerCase(char32_t c) {
  return find(lowerMap, lowerText, c);
}

char32_t composePair(char32_t first, char32_t second) {
  const Composition *end = std::end(allCompositions);
  const Composition *found = std::lower_bound(
      std::begin(allCompositions), end, Composition{first, second, 0},
      [](const Composition &a, const Composition &b) {
        return a.first != b.first ? a.first < b.first : a.second < b.second;
      });
  return found != end && found->first == first && found->second == second
             ? found->whole
             : 0;
}

uint32_t combiningClass(char32_t c) {
  if (c < allClasses[0].character) {
    return 0;
  }
  const CombiningClass *end = std::end(allClasses);
  const CombiningClass *found =
      std::lower_bound(std::begin(allClasses), end, c,
                       [](const CombiningClass &row, char32_t to) {
                         return row.character < to;
                       });
  return found != end && found->character == c ? found->value : 0;
}

} // namespace tfc::text
