// The table of bytes and characters, and texts by it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ByteLevel.h"

#include "runtime/text/Utf8.h"

#include <array>

namespace tfc::text {

namespace {

struct Alphabet {
  std::array<char32_t, 256> characters{};
  std::array<int16_t, 512> bytes{};

  Alphabet() {
    bytes.fill(-1);
    char32_t hidden = 256;
    for (int byte = 0; byte < 256; ++byte) {
      bool isSeen = (byte >= 0x21 && byte <= 0x7e) ||
                    (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
      char32_t c = isSeen ? static_cast<char32_t>(byte) : hidden++;
      characters[byte] = c;
      bytes[c] = static_cast<int16_t>(byte);
    }
  }
};

const Alphabet &alphabet() {
  static const Alphabet made;
  return made;
}

} // namespace

char32_t characterOfByte(unsigned char byte) {
  return alphabet().characters[byte];
}

int byteOfCharacter(char32_t c) {
  return c < alphabet().bytes.size() ? alphabet().bytes[c] : -1;
}

TracedText toByteLevel(const TracedText &text, size_t begin, size_t end) {
  const Alphabet &table = alphabet();
  TracedText out;
  out.reserve(end - begin);
  std::string bytes;
  for (size_t i = begin; i < end; ++i) {
    char32_t c = text.chars[i];
    if (c < 0x80) {
      out.push(table.characters[c], text.origins[i]);
      continue;
    }
    bytes.clear();
    appendUtf8(bytes, c);
    for (unsigned char byte : bytes) {
      out.push(table.characters[byte], text.origins[i]);
    }
  }
  return out;
}

} // namespace tfc::text
