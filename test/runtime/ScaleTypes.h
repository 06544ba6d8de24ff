// Whether a type has a number, for the tests of readers of scales.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_RUNTIME_SCALETYPES_H
#define TFC_TEST_RUNTIME_SCALETYPES_H

#include "runtime/src/files/Safetensors.h"
#include "runtime/src/files/quantized/NarrowFloats.h"

#include <algorithm>
#include <cstring>

namespace tfc::rt::test {

inline bool isHeld(float number, DType type) {
  if (type == DType::BF16) {
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof(bits));
    return (bits & 0xffff) == 0;
  }
  bool isHalf = false;
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    isHalf |= f16Value(static_cast<uint16_t>(bits)) == number;
  }
  return type == DType::F32 || isHalf;
}

inline bool areHeld(const std::vector<float> &numbers, DType type) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](float number) { return isHeld(number, type); });
}

} // namespace tfc::rt::test

#endif // TFC_TEST_RUNTIME_SCALETYPES_H
