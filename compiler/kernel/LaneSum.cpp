// Sums through the columns of a row in one order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/LaneSum.h"

#include "compiler/kernel/ColumnPieces.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

/// Halves of the vectors side by side combined until one number is left.
static Value foldHalves(KernelBuilder &k, Values vectors,
                        function_ref<Value(Value, Value)> combine) {
  ImplicitLocOpBuilder &b = k.builder();
  for (size_t half = vectors.size() / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) {
      vectors[i] = combine(vectors[i], vectors[half + i]);
    }
  }
  Value vector = vectors.front();
  int64_t width = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t half = width / 2; half > 0; half /= 2) {
    auto part = [&](int64_t first) -> Value {
      return vector::ShuffleOp::create(
          b, vector, vector,
          llvm::to_vector(llvm::seq<int64_t>(first, first + half)));
    };
    vector = combine(part(0), part(half));
  }
  return vector::ExtractOp::create(b, vector, 0);
}

Value tfc::reduceColumns(KernelBuilder &k, int64_t columns, int64_t lanes,
                         Value init, Value start,
                         function_ref<Value(Value, int64_t, Value)> step,
                         function_ref<Value(Value, Value)> combine) {
  int64_t whole = lanes == 1 ? 0 : columns / kSumLanes * kSumLanes;
  if (whole > 0) {
    int64_t width = std::min(lanes, kSumLanes);
    Value begin =
        vector::BroadcastOp::create(k.builder(), f32Vector(k, width), start);
    Values sums(kSumLanes / width, begin);
    sums = k.loop(k.constant(0), k.constant(whole), kSumLanes, sums,
                  [&](Value column, ValueRange old) {
                    Values sums;
                    for (auto [number, sum] : llvm::enumerate(old)) {
                      sums.push_back(step(
                          k.add(column, int64_t(number) * width), width, sum));
                    }
                    return sums;
                  });
    init = combine(init, foldHalves(k, sums, combine));
  }
  return k
      .loop(k.constant(whole), k.constant(columns), 1, init,
            [&](Value column, ValueRange old) -> Values {
              return {step(column, 1, old[0])};
            })
      .front();
}
