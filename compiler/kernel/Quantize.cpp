// How the elements of a row become integers, for whoever makes them: rows of a
// step, and those of a matrix when it is packed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/Quantize.h"

#include "compiler/kernel/NarrowFloat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

/// The bits of f32.
static constexpr int32_t kInfinity = 0x7f800000;
static constexpr int32_t kWithoutSign = 0x7fffffff;
static constexpr int32_t kLeast = (127 - 100) << 23;

/// Added to a number of a few bits, it leaves the nearest (even) integer in the
/// lowest ones: 1.5 times 2^23, and its bits.
static constexpr float kToInteger = 3 << 22;
static constexpr int32_t kToIntegerBits = 0x4b400000;

static constexpr float kGreatestInteger = 127;

/// Scales from which on -8 is the nearest integer to the extreme.
static constexpr float kNearestToEight = 8.5F;

static Value i32Constant(ImplicitLocOpBuilder &b, int32_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

static Value f32Constant(ImplicitLocOpBuilder &b, float value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

/// `element`, or a vector of as many as `like` has.
static Type typeLike(Value like, Type element) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? Type(vector.clone(element)) : element;
}

/// `number` in every lane of `like`, where that is a vector.
static Value constantLike(ImplicitLocOpBuilder &b, Value like,
                          TypedAttr number) {
  if (auto vector = dyn_cast<VectorType>(like.getType())) {
    number = DenseElementsAttr::get(vector.clone(number.getType()),
                                    Attribute(number));
  }
  return arith::ConstantOp::create(b, number);
}

static Value i32Like(ImplicitLocOpBuilder &b, Value like, int32_t value) {
  return constantLike(b, like, b.getI32IntegerAttr(value));
}

static Value f32Like(ImplicitLocOpBuilder &b, Value like, float value) {
  return constantLike(b, like, b.getF32FloatAttr(value));
}

static Value asFloat(ImplicitLocOpBuilder &b, Value bits) {
  return arith::BitcastOp::create(b, typeLike(bits, b.getF32Type()), bits);
}

static Value asBits(ImplicitLocOpBuilder &b, Value number) {
  return arith::BitcastOp::create(b, typeLike(number, b.getI32Type()), number);
}

Value tfc::buildLeastGreatest(ImplicitLocOpBuilder &b) {
  return i32Constant(b, kLeast);
}

Value tfc::buildGreater(ImplicitLocOpBuilder &b, Value greatest,
                        Value element) {
  Value size = arith::AndIOp::create(b, asBits(b, element),
                                     i32Like(b, element, kWithoutSign));
  return arith::MaxSIOp::create(b, greatest, size);
}

Value tfc::buildIsInfinite(ImplicitLocOpBuilder &b, Value greatest) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, greatest,
                               i32Like(b, greatest, kInfinity));
}

Value tfc::buildScale(ImplicitLocOpBuilder &b, Value greatest) {
  Value step = arith::DivFOp::create(b, asFloat(b, greatest),
                                     f32Like(b, greatest, kGreatestInteger));
  Value none = f32Like(b, greatest, std::numeric_limits<float>::quiet_NaN());
  return arith::SelectOp::create(b, buildIsInfinite(b, greatest), none, step);
}

Value tfc::buildInteger(ImplicitLocOpBuilder &b, Value element, Value greatest,
                        int32_t excess) {
  Value steps = arith::DivFOp::create(b, f32Like(b, greatest, kGreatestInteger),
                                      asFloat(b, greatest));
  Value quotient = arith::MulFOp::create(b, element, steps);
  Value rounded = arith::AddFOp::create(
      b, quotient,
      f32Like(b, element, kToInteger + static_cast<float>(excess)));
  return arith::SubIOp::create(b, asBits(b, rounded),
                               i32Like(b, element, kToIntegerBits));
}

static Value sizeOf(ImplicitLocOpBuilder &b, Value number) {
  return arith::AndIOp::create(b, asBits(b, number),
                               i32Constant(b, kWithoutSign));
}

Value tfc::buildLeastExtreme(ImplicitLocOpBuilder &b) {
  return asFloat(b, i32Constant(b, kLeast));
}

Value tfc::buildMoreExtreme(ImplicitLocOpBuilder &b, Value extreme,
                            Value element) {
  Value isMore = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                       sizeOf(b, element), sizeOf(b, extreme));
  return arith::SelectOp::create(b, isMore, element, extreme);
}

Value tfc::buildIsExtremeInfinite(ImplicitLocOpBuilder &b, Value extreme) {
  return buildIsInfinite(b, sizeOf(b, extreme));
}

Value tfc::buildFourScale(ImplicitLocOpBuilder &b, Value extreme) {
  return arith::MulFOp::create(b, extreme, f32Constant(b, -1.0F / kFourZero));
}

Value tfc::buildKeptScale(ImplicitLocOpBuilder &b, Value scale, Value extreme,
                          Type element) {
  Value kept = narrowFloat(b, scale, element);
  if (element.isBF16()) {
    // Near enough at any size: extremes are 2^-100 or more.
    return kept;
  }
  auto absolute = [&](Value x) { return asFloat(b, sizeOf(b, x)); };
  Value reached = arith::MulFOp::create(b, absolute(widenFloat(b, kept)),
                                        f32Constant(b, kNearestToEight));
  Value isBeyond = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                         absolute(extreme), reached);
  Value bits = arith::BitcastOp::create(b, b.getI16Type(), kept);
  Value next =
      arith::AddIOp::create(b, bits, arith::ConstantIntOp::create(b, 1, 16));
  Value chosen = arith::SelectOp::create(b, isBeyond, next, bits);
  return arith::BitcastOp::create(b, element, chosen);
}

Value tfc::buildFour(ImplicitLocOpBuilder &b, Value element, Value scale) {
  Value steps = arith::DivFOp::create(b, f32Constant(b, 1), scale);
  Value quotient = arith::MulFOp::create(b, element, steps);
  Value rounded =
      arith::AddFOp::create(b, quotient, f32Constant(b, kToInteger));
  Value integer = arith::SubIOp::create(b, asBits(b, rounded),
                                        i32Constant(b, kToIntegerBits));
  Value most =
      arith::MinSIOp::create(b, integer, i32Constant(b, kFourZero - 1));
  Value four = arith::AddIOp::create(b, most, i32Constant(b, kFourZero));
  return arith::AndIOp::create(b, four, i32Constant(b, kFourMask));
}
