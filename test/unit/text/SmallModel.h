// A model of sentencepiece of a few pieces, written by hand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_UNIT_TEXT_SMALLMODEL_H
#define TFC_TEST_UNIT_TEXT_SMALLMODEL_H

#include <cstdint>
#include <cstring>
#include <string>

namespace tfc::text::test {

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) {
    bytes += static_cast<char>(value | 0x80);
  }
  return bytes + static_cast<char>(value);
}

/// A field that is a number; one that is a text or a message.
inline std::string field(uint64_t number, uint64_t value) {
  return varint(number << 3) + varint(value);
}
inline std::string field(uint64_t number, const std::string &bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

/// kind: 1 normal, 2 unknown, 3 control, 4 user defined, 6 byte.
inline std::string piece(const std::string &text, float score,
                         uint64_t kind = 1) {
  uint32_t bits = 0;
  std::memcpy(&bits, &score, sizeof(bits));
  std::string bytes = varint(2 << 3 | 5);
  for (int i = 0; i < 4; ++i) {
    bytes += static_cast<char>(bits >> 8 * i);
  }
  return field(1, field(1, text) + bytes + field(3, kind));
}

/// T5's order: padding, end, unknown. model: 1 Unigram, 2 BPE.
inline std::string smallModel(uint64_t model = 1) {
  return piece("<pad>", 0, 3) + piece("</s>", 0, 3) + piece("<unk>", 0, 2) +
         piece("\u2581time", -1) + piece("\u2581", -2) + piece("t", -3) +
         piece("\u2581t", -4) + piece("<sep>", 0, 4) +
         field(2, field(3, model) + field(40, uint64_t(2))) +
         // What is not known is passed over.
         field(3, field(1, std::string("identity")) + field(77, uint64_t(5)));
}

} // namespace tfc::text::test

#endif // TFC_TEST_UNIT_TEXT_SMALLMODEL_H
