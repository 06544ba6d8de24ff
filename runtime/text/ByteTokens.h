// The tokens that stand for single bytes: "<0x00>" to "<0xFF>".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_BYTETOKENS_H
#define TFC_RUNTIME_TEXT_BYTETOKENS_H

#include "runtime/text/Vocabulary.h"

#include <algorithm>
#include <array>

namespace tfc::text {

class ByteTokens {
public:
  explicit ByteTokens(const Vocabulary &vocabulary) {
    static constexpr char digits[] = "0123456789ABCDEF";
    for (size_t byte = 0; byte < ids.size(); ++byte) {
      ids[byte] = vocabulary.find(std::string("<0x") + digits[byte >> 4] +
                                  digits[byte & 15] + ">");
    }
  }

  uint32_t find(unsigned char byte) const { return ids[byte]; }

  /// Whether every byte of a text has a token.
  bool has(std::string_view text) const {
    return std::all_of(text.begin(), text.end(), [&](unsigned char byte) {
      return ids[byte] != Vocabulary::none;
    });
  }

private:
  std::array<uint32_t, 256> ids{};
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_BYTETOKENS_H
