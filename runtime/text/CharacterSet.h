// Sets of characters: made of ranges, asked in constant time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_CHARACTERSET_H
#define TFC_RUNTIME_TEXT_CHARACTERSET_H

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tfc::text {

constexpr char32_t lastCharacter = 0x10ffff;

class CharacterSet {
public:
  CharacterSet() : blocks(2) { blocks[full].fill(~uint64_t(0)); }

  /// Characters `first` to `last`; nothing when there are none between.
  void add(char32_t first, char32_t last);
  void add(char32_t c) { add(c, c); }
  void add(const CharacterSet &other);
  void intersect(const CharacterSet &other);
  void invert();

  bool has(char32_t c) const {
    return c <= lastCharacter &&
           (blocks[pages[c >> 8]][c >> 6 & 3] >> (c & 63) & 1) != 0;
  }

private:
  using Block = std::array<uint64_t, 4>;
  static constexpr uint16_t empty = 0, full = 1;

  Block &own(size_t page);

  /// The block of every 256 characters; the first two are shared.
  std::array<uint16_t, (lastCharacter >> 8) + 1> pages{};
  std::vector<Block> blocks;
};

/// A set of UnicodeTables.inc, whose name is there: a property of a pattern
/// ("L", "Han"), or what a part of a pipeline asks of a character
/// ("bert.punctuation").
const CharacterSet &namedSet(std::string_view name);
std::vector<std::string_view> namesOfSets();

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_CHARACTERSET_H
