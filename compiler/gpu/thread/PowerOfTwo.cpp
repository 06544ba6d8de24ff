// Powers of two for weights that are rounded to 16 bits.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/thread/PowerOfTwo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tfc;

/// 2^f for f in [-1/2, 1/2], from the constant term on: the polynomial of this
/// degree whose greatest relative error is least, by reweighted least squares.
static constexpr float kTerms[] = {0.9999992847F, 0.6931217909F, 0.2402474433F,
                                   0.0559178591F, 0.0095701013F};
/// Added to a small number, the sum's last bit counts ones: it is rounded.
static constexpr float kRounder = 12582912; // 1.5 * 2^23
static constexpr int32_t kFractionBits = 23;
static constexpr float kLeast = -125;

Value tfc::buildPowerOfTwo(ImplicitLocOpBuilder &b, Value x) {
  auto number = [&](float value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  };
  x = LLVM::MaximumOp::create(b, x, number(kLeast));
  Value rounded = arith::AddFOp::create(b, x, number(kRounder));
  Value whole = arith::SubFOp::create(b, rounded, number(kRounder));
  Value rest = arith::SubFOp::create(b, x, whole);
  Value power = number(kTerms[std::size(kTerms) - 1]);
  for (size_t i = std::size(kTerms) - 1; i-- > 0;) {
    power = math::FmaOp::create(b, power, rest, number(kTerms[i]));
  }
  // The whole part is added to the exponent.
  Type word = b.getI32Type();
  Value shift =
      arith::ConstantOp::create(b, b.getI32IntegerAttr(kFractionBits));
  Value exponent = arith::ShLIOp::create(
      b, arith::BitcastOp::create(b, word, rounded), shift);
  Value bits = arith::AddIOp::create(
      b, arith::BitcastOp::create(b, word, power), exponent);
  return arith::BitcastOp::create(b, b.getF32Type(), bits);
}
