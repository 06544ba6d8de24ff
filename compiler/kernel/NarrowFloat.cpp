// Rounding f32 to f16 and bf16.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/NarrowFloat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tfc;

/// `element`, or a vector of it where `like` is one.
static Type typeLike(Value like, Type element) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? Type(vector.clone(element)) : element;
}

Value tfc::narrowFloat(ImplicitLocOpBuilder &b, Value value, Type element) {
  Type type = typeLike(value, element);
  if (!element.isBF16()) {
    return arith::TruncFOp::create(b, type, value);
  }
  Type words = typeLike(value, b.getI32Type());
  auto number = [&](int32_t n) -> Value {
    TypedAttr attr = b.getI32IntegerAttr(n);
    if (auto vector = dyn_cast<VectorType>(words)) {
      attr = DenseElementsAttr::get(vector, n);
    }
    return arith::ConstantOp::create(b, attr);
  };
  Value bits = arith::BitcastOp::create(b, words, value);
  Value upper = arith::ShRUIOp::create(b, bits, number(16));
  Value odd = arith::AndIOp::create(b, upper, number(1));
  Value half = arith::AddIOp::create(b, odd, number(0x7fff));
  Value rounded = arith::ShRUIOp::create(
      b, arith::AddIOp::create(b, bits, half), number(16));
  // Whose upper half may be zero.
  Value quiet = arith::OrIOp::create(b, upper, number(0x40));
  Value isNaN =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  Value chosen = arith::SelectOp::create(b, isNaN, quiet, rounded);
  Value word =
      arith::TruncIOp::create(b, typeLike(value, b.getI16Type()), chosen);
  return arith::BitcastOp::create(b, type, word);
}

Value tfc::widenFloat(ImplicitLocOpBuilder &b, Value value) {
  if (!getElementTypeOrSelf(value.getType()).isBF16()) {
    return arith::ExtFOp::create(b, typeLike(value, b.getF32Type()), value);
  }
  // The upper half of an f32.
  Type words = typeLike(value, b.getI32Type());
  Value half =
      arith::BitcastOp::create(b, typeLike(value, b.getI16Type()), value);
  Value word = arith::ExtUIOp::create(b, words, half);
  TypedAttr sixteen = b.getI32IntegerAttr(16);
  if (auto vector = dyn_cast<VectorType>(words)) {
    sixteen = DenseElementsAttr::get(vector, int32_t(16));
  }
  Value bits =
      arith::ShLIOp::create(b, word, arith::ConstantOp::create(b, sixteen));
  return arith::BitcastOp::create(b, typeLike(value, b.getF32Type()), bits);
}
