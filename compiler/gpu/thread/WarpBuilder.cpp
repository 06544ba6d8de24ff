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
  return combine(ValueRange(value), count, how).front();
}

KernelBuilder::Values WarpBuilder::combine(ValueRange values, int32_t count,
                                           Combination how) {
  KernelBuilder::Values own(values);
  for (int32_t distance = count / 2; distance > 0; distance /= 2) {
    KernelBuilder::Values others;
    for (Value value : own) {
      others.push_back(gpu::ShuffleOp::create(k.builder(), value, distance,
                                              kLanes, gpu::ShuffleMode::XOR)
                           .getShuffleResult());
    }
    for (auto [value, other] : llvm::zip_equal(own, others)) {
      value = how(value, other);
    }
  }
  return own;
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

Value WarpBuilder::sumUpTo(Value value) {
  ImplicitLocOpBuilder &b = k.builder();
  auto word = [&](int64_t number) -> Value {
    return arith::ConstantIntOp::create(b, number, 32);
  };
  for (int64_t distance = 1; distance < kLanes; distance *= 2) {
    Value lower = gpu::ShuffleOp::create(b, value, word(distance), word(kLanes),
                                         gpu::ShuffleMode::UP)
                      .getShuffleResult();
    Value isAny = k.isLess(lane, k.constant(distance));
    lower = arith::SelectOp::create(b, isAny, word(0), lower);
    value = arith::AddIOp::create(b, value, lower);
  }
  return value;
}

Value WarpBuilder::valueOf(Value value, Value place) {
  ImplicitLocOpBuilder &b = k.builder();
  Value width = arith::ConstantOp::create(b, b.getI32IntegerAttr(kLanes));
  Value lane = arith::IndexCastOp::create(b, b.getI32Type(), place);
  return gpu::ShuffleOp::create(b, value, lane, width, gpu::ShuffleMode::IDX)
      .getShuffleResult();
}
