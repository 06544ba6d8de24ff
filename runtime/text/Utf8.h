// UTF-8 to characters and back: strict for what a caller gives, lossy for what
// a model writes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_UTF8_H
#define TFC_RUNTIME_TEXT_UTF8_H

#include "runtime/src/Error.h"

namespace tfc::text {

/// The characters of a text. Errors: InvalidArgument, with the place of the
/// first byte that is not UTF-8.
rt::Result<std::u32string> decodeUtf8(std::string_view bytes);

/// The same of what is known to be UTF-8.
std::u32string decodeChecked(std::string_view bytes);

inline void appendUtf8(std::string &out, char32_t c) {
  auto put = [&](char32_t bits) { out += static_cast<char>(bits); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    put(0x80 | (c & 63));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 63));
    put(0x80 | (c & 63));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 63));
    put(0x80 | (c >> 6 & 63));
    put(0x80 | (c & 63));
  }
}

std::string encodeUtf8(std::u32string_view text);

/// Appends the text that bytes are, a wrong sequence (as long as it could have
/// been the beginning of a character) becoming U+FFFD. What may be the
/// beginning of a character at the very end is left, unless `isWhole`. Gives
/// the number of bytes that were read.
size_t appendLossy(std::string_view bytes, bool isWhole, std::string &out);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_UTF8_H
