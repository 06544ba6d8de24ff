// What the lanes of a warp tell each other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/thread/WarpBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace tfc;

Value WarpBuilder::exchange(Value value, int32_t distance, Combination how) {
  Value other = gpu::ShuffleOp::create(k.builder(), value, distance, kLanes,
                                       gpu::ShuffleMode::XOR)
                    .getShuffleResult();
  return how(value, other);
}

Value WarpBuilder::combine(Value value, int32_t count, Combination how) {
  for (int32_t distance = count / 2; distance > 0; distance /= 2) {
    value = exchange(value, distance, how);
  }
  return value;
}

Value WarpBuilder::sum(Value value) {
  return combine(value, kLanes, [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(k.builder(), x, y);
  });
}

Value WarpBuilder::maximum(Value value) {
  return combine(value, kLanes, [&](Value x, Value y) -> Value {
    return arith::MaximumFOp::create(k.builder(), x, y);
  });
}

Value WarpBuilder::valueOf(Value value, Value place) {
  ImplicitLocOpBuilder &b = k.builder();
  Value width = arith::ConstantOp::create(b, b.getI32IntegerAttr(kLanes));
  Value lane = arith::IndexCastOp::create(b, b.getI32Type(), place);
  return gpu::ShuffleOp::create(b, value, lane, width, gpu::ShuffleMode::IDX)
      .getShuffleResult();
}
