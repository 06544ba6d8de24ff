// Where vectors of a row begin in memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/rows/RowAlignment.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;
using namespace tfc;

/// Bytes of the widest access of a thread.
static constexpr int64_t kAccessBytes = 16;

/// One row of a buffer begins where the buffer's rows do, or a constant number
/// of columns behind.
static std::pair<Value, int64_t> findRows(Value row, int64_t multiple) {
  auto part = row.getDefiningOp<memref::SubViewOp>();
  if (!part || ShapedType::isDynamic(part.getStaticOffsets().back()) ||
      part.getStaticStrides().back() != 1) {
    return {row, multiple};
  }
  return {part.getSource(), std::gcd(multiple, part.getStaticOffsets().back())};
}

llvm::Align tfc::alignmentOfRow(Value buffer, int64_t multiple) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  if (int64_t offset; succeeded(type.getStridesAndOffset(strides, offset)) &&
                      ShapedType::isDynamic(offset)) {
    std::tie(buffer, multiple) = findRows(buffer, multiple);
    type = cast<MemRefType>(buffer.getType());
  }
  strides.clear();
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
