// Text from a file in quotes, for a message: one line of well-formed UTF-8 that
// does nothing to a terminal. Header only, for the compiler's readers too.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_QUOTETEXT_H
#define TFC_RUNTIME_SRC_QUOTETEXT_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tfc {

/// A character at the start of a text: its code point and its bytes. No bytes:
/// what stands there is not UTF-8.
struct Utf8Character {
  uint32_t point = 0;
  size_t length = 0;
};

inline Utf8Character firstCharacter(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  uint32_t lead = byte(0);
  size_t length = lead < 0x80   ? 1
                  : lead < 0xc0 ? 0
                  : lead < 0xe0 ? 2
                  : lead < 0xf0 ? 3
                  : lead < 0xf8 ? 4
                                : 0;
  if (length == 0 || length > text.size()) {
    return {};
  }
  uint32_t point = length == 1 ? lead : lead & (0xff >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return {};
    }
    point = point << 6 | (byte(i) & 0x3f);
  }
  // Longer than need be, half of a pair of UTF-16, or beyond Unicode.
  static constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  bool isHalf = point >= 0xd800 && point < 0xe000;
  return point < least[length] || isHalf || point > 0x10ffff
             ? Utf8Character()
             : Utf8Character{point, length};
}

/// Control characters of both sets, ends of lines and paragraphs, and the marks
/// that turn the direction of text.
inline bool actsOnTerminal(uint32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c ||
         point == 0x200e || point == 0x200f ||
         (point >= 0x2028 && point <= 0x202e) ||
         (point >= 0x2066 && point <= 0x2069);
}

/// `text` in double quotes, cut between two characters once there are more than
/// `maxBytes`. What is not UTF-8 or acts on a terminal is escaped byte by byte.
inline std::string quoteText(std::string_view text, size_t maxBytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    if (out.size() > maxBytes) {
      return out + "...\"";
    }
    Utf8Character character = firstCharacter(text);
    bool isPlain = character.length != 0 && !actsOnTerminal(character.point);
    size_t length = character.length ? character.length : 1;
    for (size_t i = 0; i < length; ++i) {
      unsigned char byte = static_cast<unsigned char>(text[i]);
      out += isPlain
                 ? std::string(1, text[i])
                 : std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
    }
    text.remove_prefix(length);
  }
  return out + "\"";
}

} // namespace tfc

#endif // TFC_RUNTIME_SRC_QUOTETEXT_H
