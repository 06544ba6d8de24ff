// Sinusoids, rotary angles, rotations and distance biases to linalg.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Parts.h"

#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tfc;

namespace {

/// sinusoid -> a map with sine, a map with cosine; where they take turns, one
/// map that chooses, as vectors are stored whole
struct LowerSinusoid : OpRewritePattern<transformer::SinusoidOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::SinusoidOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    ArrayRef<double> frequencies = op.getFrequencies();
    int64_t n = frequencies.size();
    AffineExpr t, i;
    bindDims(b.getContext(), t, i);
    AffineMap byToken = AffineMap::get(2, 0, t);
    AffineMap byColumn = AffineMap::get(2, 0, i);
    Parts y(b, op.getPositions(), {2 * n}, elementOf(op));
    if (op.getLayout() == transformer::RotaryStyle::Half) {
      Value table = f32Table(b, frequencies);
      for (bool isCosine : {false, true}) {
        y.write(isCosine ? n : 0, n, 1,
                {{op.getPositions(), byToken}, {table, byColumn}},
                [&](ImplicitLocOpBuilder &inner, ValueRange v) {
                  return pick(inner, op, v, [&](Value angle) {
                    return isCosine ? cosine(inner, angle) : sine(inner, angle);
                  });
                });
      }
    } else {
      SmallVector<double> twice, isCosine;
      for (double frequency : frequencies) {
        twice.append({frequency, frequency});
        isCosine.append({0, 1});
      }
      y.write(0, 2 * n, 1,
              {{op.getPositions(), byToken},
               {f32Table(b, twice), byColumn},
               {f32Table(b, isCosine), byColumn}},
              [&](ImplicitLocOpBuilder &inner, ValueRange v) {
                return pick(inner, op, v, [&](Value angle) -> Value {
                  Value isOdd =
                      arith::CmpFOp::create(inner, arith::CmpFPredicate::OGT,
                                            v[2], f32Constant(inner, 0.5));
                  return arith::SelectOp::create(
                      inner, isOdd, cosine(inner, angle), sine(inner, angle));
                });
              });
    }
    rewriter.replaceOp(op, y.get());
    return success();
  }

private:
  static Value sine(ImplicitLocOpBuilder &b, Value angle) {
    return math::SinOp::create(b, angle);
  }
  static Value cosine(ImplicitLocOpBuilder &b, Value angle) {
    return math::CosOp::create(b, angle);
  }

  /// `of` the angle of a position and a frequency; 0 in the row of zeros.
  static Value pick(ImplicitLocOpBuilder &b, transformer::SinusoidOp op,
                    ValueRange v, function_ref<Value(Value)> of) {
    Value row = v[0];
    if (op.getOffset() != 0) {
      Value offset = arith::ConstantIntOp::create(
          b, static_cast<int64_t>(op.getOffset()), 32);
      row = arith::AddIOp::create(b, row, offset);
    }
    Value position = arith::SIToFPOp::create(b, b.getF32Type(), row);
    Value y = of(arith::MulFOp::create(b, position, v[1]));
    if (!op.getZeroRow()) {
      return y;
    }
    Value zero = arith::ConstantIntOp::create(
        b, static_cast<int64_t>(*op.getZeroRow()), 32);
    Value isZero =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, row, zero);
    return arith::SelectOp::create(b, isZero, f32Constant(b, 0), y);
  }
};

/// rotary_angles -> a map with cosine, a map with sine
struct LowerRotaryAngles : OpRewritePattern<transformer::RotaryAnglesOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::RotaryAnglesOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t n = op.getFrequencies().size();
    AffineExpr t, i;
    bindDims(b.getContext(), t, i);
    AffineMap byColumn = AffineMap::get(2, 0, i);
    SmallVector<std::pair<Value, AffineMap>> inputs = {
        {op.getPositions(), AffineMap::get(2, 0, t)},
        {f32Table(b, op.getFrequencies()), byColumn}};
    if (op.getFactors().size() > 1) {
      inputs.emplace_back(f32Table(b, op.getFactors()), byColumn);
    }
    double factor = op.getFactors().front();
    Parts angles(b, op.getPositions(), {2 * n}, elementOf(op));
    for (bool isSine : {false, true}) {
      angles.write(
          isSine ? n : 0, n, 1, inputs,
          [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
            Value position =
                arith::SIToFPOp::create(inner, inner.getF32Type(), v[0]);
            Value angle = arith::MulFOp::create(inner, position, v[1]);
            Value y = isSine ? math::SinOp::create(inner, angle).getResult()
                             : math::CosOp::create(inner, angle);
            if (op.getFactors().size() > 1) {
              return arith::MulFOp::create(inner, y, v[2]);
            }
            return factor == 1 ? y
                               : arith::MulFOp::create(
                                     inner, y, f32Constant(inner, factor));
          });
    }
    rewriter.replaceOp(op, angles.get());
    return success();
  }
};

/// rotary -> a map for the first columns of the pairs, one for the second, and
/// one for what stays
struct LowerRotary : OpRewritePattern<transformer::RotaryOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::RotaryOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t heads = op.getNumHeads();
    int64_t headDim = transformer::widthOf(op.getInput()) / heads;
    int64_t kinds = op.getKinds();
    int64_t n = transformer::widthOf(op.getAngles()) / 2 / kinds;
    bool isHalf = op.getStyle() == transformer::RotaryStyle::Half;
    int64_t stride = isHalf ? 1 : 2, firsts[] = {0, isHalf ? n : 1};
    SmallVector<ReassociationIndices> split = {{0}, {1, 2}};
    Value input = op.getInput(), table = op.getAngles();
    Value x = tensor::ExpandShapeOp::create(
        b,
        RankedTensorType::get(
            {ShapedType::kDynamic, heads, headDim},
            cast<RankedTensorType>(input.getType()).getElementType()),
        input, split);
    Parts y(b, input, {heads, headDim}, elementOf(op));
    AffineExpr t, h, i;
    bindDims(b.getContext(), t, h, i);
    AffineMap same = b.getMultiDimIdentityMap(3),
              byToken = AffineMap::get(3, 0, {t, i}, b.getContext());
    auto angles = [&](int64_t first) {
      OpFoldResult column = b.getIndexAttr(first);
      if (op.getKind()) {
        Value own = arith::MulIOp::create(b, op.getKind(),
                                          arith::ConstantIndexOp::create(b, n));
        column = arith::AddIOp::create(b, own,
                                       arith::ConstantIndexOp::create(b, first))
                     .getResult();
      }
      return y.cut(table, column, n, 1);
    };
    Value cosines = angles(0), sines = angles(kinds * n);
    for (bool isSecond : {false, true}) {
      auto column = [&](bool second) { return b.getIndexAttr(firsts[second]); };
      Value own = y.cut(x, column(isSecond), n, stride);
      Value other = y.cut(x, column(!isSecond), n, stride);
      y.write(
          firsts[isSecond], n, stride,
          {{own, same}, {other, same}, {cosines, byToken}, {sines, byToken}},
          [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
            Value kept = arith::MulFOp::create(inner, v[0], v[2]);
            Value turned = arith::MulFOp::create(inner, v[1], v[3]);
            return isSecond
                       ? arith::AddFOp::create(inner, kept, turned).getResult()
                       : arith::SubFOp::create(inner, kept, turned);
          });
    }
    if (int64_t rest = headDim - 2 * n) {
      // Read by index: a map that does nothing would become a copy between
      // strided views, a call of a library that is not there.
      y.write(2 * n, rest, 1, {}, [&](ImplicitLocOpBuilder &inner, ValueRange) {
        SmallVector<Value> place;
        for (int64_t axis = 0; axis < 3; ++axis) {
          place.push_back(linalg::IndexOp::create(inner, axis));
        }
        Value first = arith::ConstantIndexOp::create(inner, 2 * n);
        place.back() = arith::AddIOp::create(inner, place.back(), first);
        return tensor::ExtractOp::create(inner, x, place);
      });
    }
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, y.get(), split);
    return success();
  }
};

} // namespace

/// T5's bucket of each distance in [-M, M]. In f32, as models were trained: at
/// the border of two buckets the logarithm is close to a whole number.
static SmallVector<int32_t> bucketsOf(transformer::DistanceBiasOp op) {
  bool isBidirectional = op.getMask() == transformer::Mask::Bidirectional;
  auto farthest = static_cast<int32_t>(op.getMaxDistance());
  auto count = static_cast<int32_t>(transformer::rowsOf(op.getTable()));
  int32_t perSide = isBidirectional ? count / 2 : count, exact = perSide / 2;
  auto span = static_cast<float>(std::log(double(farthest) / exact));
  SmallVector<int32_t> buckets;
  for (int32_t distance = -farthest; distance <= farthest; ++distance) {
    int32_t before = std::max(-distance, 0);
    int32_t length = isBidirectional ? std::abs(distance) : before;
    int32_t bucket = length;
    if (length >= exact) {
      float steps = std::log(float(length) / float(exact)) / span;
      bucket = exact + int32_t(steps * float(perSide - exact));
    }
    bucket = std::min(bucket, perSide - 1);
    buckets.push_back(bucket + (isBidirectional && distance > 0 ? perSide : 0));
  }
  return buckets;
}

namespace {

/// distance_bias -> gather of the table's columns
struct LowerDistanceBias : OpRewritePattern<transformer::DistanceBiasOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::DistanceBiasOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<int32_t> buckets = bucketsOf(op);
    auto type =
        RankedTensorType::get({int64_t(buckets.size())}, b.getI32Type());
    Value numbers = arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, ArrayRef<int32_t>(buckets)));
    Value init =
        tensor::EmptyOp::create(b, op.getType().getShape(), b.getF32Type());
    AffineExpr h, d;
    bindDims(b.getContext(), h, d);
    AffineMap maps[] = {AffineMap::get(2, 0, d), b.getMultiDimIdentityMap(2)};
    SmallVector<utils::IteratorType> iterators(2,
                                               utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, init.getType(), numbers, init, maps, iterators,
        [&](OpBuilder &builder, Location loc, ValueRange v) {
          ImplicitLocOpBuilder inner(loc, builder);
          Value bucket =
              arith::IndexCastOp::create(inner, inner.getIndexType(), v[0]);
          Value head = linalg::IndexOp::create(inner, 0);
          Value element = tensor::ExtractOp::create(inner, op.getTable(),
                                                    ValueRange{bucket, head});
          linalg::YieldOp::create(inner, element);
        });
    return success();
  }
};

} // namespace

void tfc::populatePositionPatterns(RewritePatternSet &patterns) {
  patterns
      .add<LowerSinusoid, LowerRotaryAngles, LowerRotary, LowerDistanceBias>(
          patterns.getContext());
}
