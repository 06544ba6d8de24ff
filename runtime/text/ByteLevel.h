// Bytes as characters that one can see: the alphabet of GPT-2's vocabulary.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_BYTELEVEL_H
#define TFC_RUNTIME_TEXT_BYTELEVEL_H

#include "runtime/text/TracedText.h"

namespace tfc::text {

/// The character of a byte: itself where it can be seen, and of the others the
/// characters from U+0100 on, in their order.
char32_t characterOfByte(unsigned char byte);

/// The byte of such a character, or -1.
int byteOfCharacter(char32_t c);

/// The bytes of characters [begin, end) as characters; each is where the
/// character was that it is of.
TracedText toByteLevel(const TracedText &text, size_t begin, size_t end);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_BYTELEVEL_H
