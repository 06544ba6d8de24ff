// Reads their rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/gguf/GgufMatrices.h"

namespace tfc::rt {

int64_t GgufRows::storedRow(int64_t row) const {
  if (headWidth == 0) {
    return row;
  }
  int64_t head = row / headWidth, half = row % headWidth / (headWidth / 2),
          place = row % (headWidth / 2);
  return head * headWidth + place * 2 + half;
}

const uint8_t *GgufRows::block(int64_t row, int64_t columns,
                               int64_t number) const {
  int64_t before = storedRow(row) * (columns / type->elements) + number;
  return stored.data + static_cast<uint64_t>(before) * type->bytes;
}

void GgufMatrix::decode(int64_t first, int64_t count, float *out) const {
  float *begin = out;
  for (int64_t row = first; row < first + count; ++row) {
    if (!from.type->decode) {
      convertToF32(from.stored, from.storedRow(row) * columns, columns, out);
      out += columns;
      continue;
    }
    for (int64_t i = 0; i < columns / from.type->elements; ++i) {
      from.type->decode(from.block(row, columns, i), out);
      out += from.type->elements;
    }
  }
  for (; from.added != 0 && begin != out; ++begin) {
    *begin -= from.added;
  }
}

void GgufIntegers::readIntegers(int64_t row, int32_t *integers) const {
  for (int64_t i = 0; i < groups; ++i) {
    from.type->readIntegers(from.block(row, columns, i), integers);
    integers += from.type->elements;
  }
}

void GgufIntegers::readGroups(int64_t row, float *scales,
                              int32_t *zeros) const {
  for (int64_t i = 0; i < groups; ++i) {
    scales[i] = scaleOfBlock(from.block(row, columns, i));
    zeros[i] = middle;
  }
}

void GgufJoined::decode(int64_t first, int64_t count, float *out) const {
  auto parts = static_cast<int64_t>(from.size());
  for (int64_t row = first; row < first + count; ++row, out += columns) {
    int64_t expert = row / (parts * own), place = row % (parts * own);
    int64_t part = inTurns ? place % parts : place / own;
    int64_t inPart = inTurns ? place / parts : place % own;
    convertToF32(*from[static_cast<size_t>(part)],
                 (expert * own + inPart) * columns, columns, out);
  }
}

} // namespace tfc::rt
