// The polynomials: fit_polynomials.py makes the coefficients, and prints how
// far from the functions they are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/MathPolynomials.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

/// A constant of the type of `like`, in every lane.
static Value splat(ImplicitLocOpBuilder &b, Value like, float value) {
  FloatAttr scalar = b.getF32FloatAttr(value);
  if (auto type = dyn_cast<VectorType>(like.getType())) {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, scalar));
  }
  return arith::ConstantOp::create(b, scalar);
}

/// An integer constant in as many lanes as `like` has.
static Value splatBits(ImplicitLocOpBuilder &b, Value like, int32_t value) {
  IntegerAttr scalar = b.getI32IntegerAttr(value);
  if (auto type = dyn_cast<VectorType>(like.getType())) {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(type.clone(b.getI32Type()),
                                  ArrayRef<Attribute>(scalar)));
  }
  return arith::ConstantOp::create(b, scalar);
}

/// The bits of each float.
static Value toBits(ImplicitLocOpBuilder &b, Value x) {
  Type integer = b.getI32Type();
  if (auto type = dyn_cast<VectorType>(x.getType())) {
    integer = type.clone(integer);
  }
  return arith::BitcastOp::create(b, integer, x);
}

/// The polynomial in `x` with these coefficients, the highest power's first.
static Value evaluate(ImplicitLocOpBuilder &b, Value x,
                      ArrayRef<float> coefficients) {
  Value sum = splat(b, x, coefficients.front());
  for (float coefficient : coefficients.drop_front()) {
    sum = math::FmaOp::create(b, sum, x, splat(b, x, coefficient));
  }
  return sum;
}

/// The smaller of `x` and `bound`. In this form NaN passes, and it is one
/// instruction (arith.minimumf takes several).
static Value atMost(ImplicitLocOpBuilder &b, Value x, float bound) {
  Value most = splat(b, x, bound);
  Value above = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, most, x);
  return arith::SelectOp::create(b, above, most, x);
}

/// The larger of `x` and `bound`, likewise.
static Value atLeast(ImplicitLocOpBuilder &b, Value x, float bound) {
  Value least = splat(b, x, bound);
  Value below = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, least, x);
  return arith::SelectOp::create(b, below, least, x);
}

/// x (offset + P(u) / Q(u)) within [-1, 1], where u is x^2 and at most `bound`.
/// Past the bound that grows with x, so that it ends at 1 exactly.
static Value buildOddRational(ImplicitLocOpBuilder &b, Value x, float bound,
                              float offset, ArrayRef<float> p,
                              ArrayRef<float> q) {
  Value square = atMost(b, arith::MulFOp::create(b, x, x), bound);
  Value above = arith::MulFOp::create(b, x, evaluate(b, square, p));
  Value quotient = arith::DivFOp::create(b, above, evaluate(b, square, q));
  Value y = math::FmaOp::create(b, x, splat(b, x, offset), quotient);
  return atLeast(b, atMost(b, y, 1.0f), -1.0f);
}

Value tfc::buildExp(ImplicitLocOpBuilder &b, Value x) {
  // Within the bounds n is in [-126, 129]: a scale of 0 and one of infinity.
  x = atMost(b, atLeast(b, x, -87.0f), 89.5f);
  // Among floats of this size the distance is 1, so the sum is rounded to an
  // integer n, and n + 126 is in its low bits: the exponent of 2^(n - 1).
  Value shift = splat(b, x, 0x1.8p23f + 126);
  Value biased = math::FmaOp::create(b, x, splat(b, x, 1.44269504f), shift);
  Value n = arith::SubFOp::create(b, biased, shift);
  // r = x - n ln 2. With the nearest float to ln 2 the first difference is
  // exact; the second adds what that float lacks.
  Value r = math::FmaOp::create(b, n, splat(b, x, -0.693147182f), x);
  r = math::FmaOp::create(b, n, splat(b, x, 1.90465421e-9f), r);
  // 2 e^r 2^(n - 1), as 2^n overflows before e^x does. The price is at the
  // other end: 2^(n - 1) is 0 from n = -126 on.
  Value twice = evaluate(b, r,
                         {0.00276778429f, 0.0167383868f, 0.0833362043f,
                          0.333330333f, 0.999999881f, 2.0f, 2.0f});
  Value exponent =
      arith::ShLIOp::create(b, toBits(b, biased), splatBits(b, x, 23));
  Value scale = arith::BitcastOp::create(b, x.getType(), exponent);
  // A product, not a sum of exponents: NaN, 0 and infinity come out right.
  return arith::MulFOp::create(b, twice, scale);
}

/// x = 2^n m with m in [sqrt 1/2, sqrt 2), and ln m is the series of
/// 2 artanh(t), t = (m - 1) / (m + 1), whose sixth term is below 1e-9.
Value tfc::buildLog(ImplicitLocOpBuilder &b, Value x) {
  Value bits = toBits(b, x);
  Value n = arith::ShRSIOp::create(
      b, arith::SubIOp::create(b, bits, splatBits(b, x, 0x3f3504f3)),
      splatBits(b, x, 23));
  Value m = arith::BitcastOp::create(
      b, x.getType(),
      arith::SubIOp::create(b, bits,
                            arith::ShLIOp::create(b, n, splatBits(b, x, 23))));
  Value one = splat(b, x, 1.0f);
  Value t = arith::DivFOp::create(b, arith::SubFOp::create(b, m, one),
                                  arith::AddFOp::create(b, m, one));
  Value series = evaluate(b, arith::MulFOp::create(b, t, t),
                          {2.0f / 9, 2.0f / 7, 2.0f / 5, 2.0f / 3, 2.0f});
  return math::FmaOp::create(b, arith::SIToFPOp::create(b, x.getType(), n),
                             splat(b, x, 0.693147182f),
                             arith::MulFOp::create(b, t, series));
}

Value tfc::buildTanh(ImplicitLocOpBuilder &b, Value x) {
  return buildOddRational(
      b, x, 7.95f * 7.95f, 0.0179260876f,
      {1.58661642e-05f, 0.00310826604f, 0.126109377f, 0.982073903f},
      {8.58402132e-07f, 0.00034214466f, 0.026187459f, 0.467828989f, 1.0f});
}

Value tfc::buildErf(ImplicitLocOpBuilder &b, Value x) {
  return buildOddRational(b, x, 3.73f * 3.73f, 0.0554840192f,
                          {0.000224018106f, 0.00269667036f, 0.0457944572f,
                           0.155816138f, 1.07289517f},
                          {3.96669602e-05f, 0.00110934896f, 0.0144370608f,
                           0.111325033f, 0.4958013f, 1.0f});
}

Value tfc::buildRsqrt(ImplicitLocOpBuilder &b, Value x) {
  Value root = math::SqrtOp::create(b, x);
  return arith::DivFOp::create(b, splat(b, x, 1.0f), root);
}

/// sin (x + turns pi/2).
static Value buildTurned(ImplicitLocOpBuilder &b, Value x, int32_t turns) {
  // n = x / (pi/2), rounded to an integer as in exp: its low bits are those of
  // the sum.
  Value shift = splat(b, x, 0x1.8p23f);
  Value biased = math::FmaOp::create(b, x, splat(b, x, 0.636619772f), shift);
  Value n = arith::SubFOp::create(b, biased, shift);
  // r = x - n pi/2, with pi/2 in three floats. The first difference is exact
  // for |x| up to 2^17: below 1, a multiple of 2^-23.
  Value r = math::FmaOp::create(b, n, splat(b, x, -1.57079637f), x);
  r = math::FmaOp::create(b, n, splat(b, x, 4.37113883e-8f), r);
  r = math::FmaOp::create(b, n, splat(b, x, 1.71512451e-15f), r);
  Value u = arith::MulFOp::create(b, r, r);
  Value above =
      evaluate(b, u, {-0.000195182845f, 0.00833218917f, -0.166666552f});
  Value sine = math::FmaOp::create(b, arith::MulFOp::create(b, r, u), above, r);
  Value cosine = evaluate(
      b, u, {2.44323273e-05f, -0.00138873095f, 0.0416666456f, -0.5f, 1.0f});
  Value quarter =
      arith::AddIOp::create(b, toBits(b, biased), splatBits(b, x, turns));
  Value isOdd = arith::AndIOp::create(b, quarter, splatBits(b, x, 1));
  isOdd = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, isOdd,
                                splatBits(b, x, 0));
  Value y = arith::SelectOp::create(b, isOdd, cosine, sine);
  // Of the third and fourth quarter the sign is the other.
  Value sign = arith::AndIOp::create(b, quarter, splatBits(b, x, 2));
  sign = arith::ShLIOp::create(b, sign, splatBits(b, x, 30));
  Value bits = arith::XOrIOp::create(b, toBits(b, y), sign);
  return arith::BitcastOp::create(b, x.getType(), bits);
}

Value tfc::buildSin(ImplicitLocOpBuilder &b, Value x) {
  return buildTurned(b, x, 0);
}

Value tfc::buildCos(ImplicitLocOpBuilder &b, Value x) {
  return buildTurned(b, x, 1);
}
