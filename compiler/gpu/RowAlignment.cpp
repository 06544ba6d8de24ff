// Where vectors of a row begin in memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/RowAlignment.h"

#include <numeric>

using namespace mlir;
using namespace tfc;

/// Bytes of the widest access of a thread.
static constexpr int64_t kAccessBytes = 16;

llvm::Align tfc::alignmentOfRow(MemRefType type, int64_t multiple) {
  SmallVector<int64_t> strides;
  int64_t offset, bytes = type.getElementTypeBitWidth() / 8;
  if (failed(type.getStridesAndOffset(strides, offset))) {
    return llvm::Align(bytes);
  }
  strides.back() = offset; // what is between rows, and before the first one
  for (int64_t distance : strides) {
    multiple =
        ShapedType::isDynamic(distance) ? 1 : std::gcd(multiple, distance);
  }
  // The largest power of two that divides it.
  multiple &= -multiple;
  return llvm::Align(std::min(multiple * bytes, kAccessBytes));
}
