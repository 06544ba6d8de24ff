// The one order in which attention of f32 computes a query, whichever kernel
// does it: a row's bits are those that it has in any other step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/FloatOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;

static auto additionIn(ImplicitLocOpBuilder &b) {
  return [&b](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, x, y);
  };
}

static Value number(ImplicitLocOpBuilder &b, float value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

Value tfc::addTotalParts(WarpBuilder &warp, ImplicitLocOpBuilder &b,
                         Value part) {
  return warp.combine(part, kTotalParts, additionIn(b));
}

Value tfc::addChunkWeights(WarpBuilder &warp, ImplicitLocOpBuilder &b,
                           Value weight) {
  for (int32_t distance = WarpBuilder::kLanes / 2; distance >= kTotalParts;
       distance /= 2) {
    weight = warp.exchange(weight, distance, additionIn(b));
  }
  return weight;
}

Value tfc::buildShare(ImplicitLocOpBuilder &b, Value total) {
  return arith::DivFOp::create(b, number(b, 1), total);
}

Value tfc::buildMean(ImplicitLocOpBuilder &b, Value sum, Value share) {
  return arith::MulFOp::create(b, arith::AddFOp::create(b, sum, number(b, 0)),
                               share);
}
