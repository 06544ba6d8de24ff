// What UnicodeTables.inc has: sets of characters, what characters become, and
// which of them compose. make_tables.py asks Hugging Face's `tokenizers`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_UNICODETABLES_H
#define TFC_RUNTIME_TEXT_UNICODETABLES_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tfc::text {

/// The rows of a table.
template <typename T> struct Rows {
  const T *first;
  size_t count;
  const T *begin() const { return first; }
  const T *end() const { return first + count; }
};

struct CharacterRange {
  char32_t first, last;
};

/// A set: its ranges are rows [begin, end) of one table.
struct NamedRanges {
  const char *name;
  uint32_t begin, end;
};

Rows<NamedRanges> tableOfSets();
Rows<CharacterRange> rangesOf(const NamedRanges &set);

/// What a character becomes; empty: it stays. Hangul syllables, which are
/// computed, are not among them.
std::u32string_view decomposeCanonical(char32_t c);
std::u32string_view decomposeCompatible(char32_t c);
std::u32string_view lowerCase(char32_t c);

/// The character that two are together, or 0.
char32_t composePair(char32_t first, char32_t second);

/// In which order marks stand behind their letter; 0: no mark.
uint32_t combiningClass(char32_t c);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_UNICODETABLES_H
