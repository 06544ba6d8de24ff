// One value out of a vector's elements, in an order that the IR says.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/FoldLanes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

static int64_t widthOf(Value vector) {
  return cast<VectorType>(vector.getType()).getNumElements();
}

static Value slice(OpBuilder &builder, Location loc, Value vector,
                   int64_t first, int64_t width) {
  SmallVector<int64_t> lanes(width);
  std::iota(lanes.begin(), lanes.end(), first);
  return vector::ShuffleOp::create(builder, loc, vector, vector, lanes);
}

Value tfc::foldLanes(OpBuilder &builder, Location loc, Value vector,
                     function_ref<Value(Value, Value)> combine) {
  int64_t width = widthOf(vector);
  int64_t whole = llvm::bit_floor(static_cast<uint64_t>(width));
  Value rest;
  if (whole < width) {
    rest =
        foldLanes(builder, loc,
                  slice(builder, loc, vector, whole, width - whole), combine);
    vector = slice(builder, loc, vector, 0, whole);
  }
  for (int64_t half = whole / 2; half > 0; half /= 2) {
    vector = combine(slice(builder, loc, vector, 0, half),
                     slice(builder, loc, vector, half, half));
  }
  Value result = vector::ExtractOp::create(builder, loc, vector, 0);
  return rest ? combine(result, rest) : result;
}
