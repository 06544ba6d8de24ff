// Finds one text in others, in linear time whatever both are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_LITERALFINDER_H
#define TFC_RUNTIME_TEXT_LITERALFINDER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tfc::text {

template <typename Char> class LiteralFinder {
public:
  using View = std::basic_string_view<Char>;

  LiteralFinder() = default;
  explicit LiteralFinder(View text) : wanted(text) {
    if (wanted.size() > few) {
      makeBorders();
    }
  }

  size_t size() const { return wanted.size(); }

  /// The first place from `at` on where the text is, or View::npos.
  size_t find(View text, size_t at) const {
    if (wanted.size() <= few) {
      return text.find(wanted, at);
    }
    // Knuth, Morris and Pratt: no character is looked at again.
    for (size_t length = 0; at < text.size(); ++at) {
      length = grow(length, text[at]);
      if (length == wanted.size()) {
        return at + 1 - length;
      }
    }
    return View::npos;
  }

private:
  // Up to here trying every place is faster.
  static constexpr size_t few = 8;

  /// How much of the text is there, when `c` follows `length` characters of it.
  size_t grow(size_t length, Char c) const {
    while (length > 0 && wanted[length] != c) {
      length = borders[length - 1];
    }
    return length + (wanted[length] == c);
  }

  void makeBorders() {
    borders.resize(wanted.size());
    for (size_t i = 1; i < wanted.size(); ++i) {
      borders[i] = static_cast<uint32_t>(grow(borders[i - 1], wanted[i]));
    }
  }

  std::basic_string<Char> wanted;
  /// How long the longest beginning is that also ends the first i + 1
  /// characters, but is not all of them.
  std::vector<uint32_t> borders;
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_LITERALFINDER_H
