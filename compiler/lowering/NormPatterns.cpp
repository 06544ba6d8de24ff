// Normalisations to linalg.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Patterns.h"

#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc;

/// 1 / sqrt(squares / width + eps): one division a row, as it does not depend
/// on the column.
static Value inverseRoot(ImplicitLocOpBuilder &b, Value squares, double width,
                         double eps) {
  Value mean = arith::DivFOp::create(b, squares, f32Constant(b, width));
  Value shifted = arith::AddFOp::create(b, mean, f32Constant(b, eps));
  Value root = math::SqrtOp::create(b, shifted);
  return arith::DivFOp::create(b, f32Constant(b, 1), root);
}

/// 1 / (sqrt(squares / (width - 1)) + eps)
static Value inverseDeviation(ImplicitLocOpBuilder &b, Value squares,
                              double width, double eps) {
  Value mean = arith::DivFOp::create(b, squares, f32Constant(b, width - 1));
  Value root = math::SqrtOp::create(b, mean);
  Value shifted = arith::AddFOp::create(b, root, f32Constant(b, eps));
  return arith::DivFOp::create(b, f32Constant(b, 1), shifted);
}

/// unit * (offset + weight) + bias, those of them that there are.
static Value applyWeight(ImplicitLocOpBuilder &b, Value unit, Value weight,
                         double offset, Value bias) {
  if (weight && offset != 0) {
    weight = arith::AddFOp::create(b, weight, f32Constant(b, offset));
  }
  Value y = weight ? arith::MulFOp::create(b, unit, weight).getResult() : unit;
  return bias ? arith::AddFOp::create(b, y, bias).getResult() : y;
}

/// A weight as long as a row of several parts, `width` wide each, the rows of a
/// matrix one after the other; null where all parts have the same.
static Value joinWeight(ImplicitLocOpBuilder &b, Value weight, int64_t width) {
  if (!weight) {
    return {};
  }
  if (cast<RankedTensorType>(weight.getType()).getRank() == 1) {
    return transformer::widthOf(weight) == width ? Value() : weight;
  }
  SmallVector<ReassociationIndices> together = {{0, 1}};
  return tensor::CollapseShapeOp::create(b, weight, together);
}

/// y * (offset + weight), the weight being as long as a row.
static Value scaleRows(ImplicitLocOpBuilder &b, Value y, Value weight,
                       double offset, FloatType element) {
  return mapRows(b, y, {{weight, Broadcast::AlongColumn}},
                 {element, /*inPlace=*/true},
                 [&](ImplicitLocOpBuilder &inner, ValueRange v) {
                   return applyWeight(inner, v[0], v[1], offset, Value());
                 });
}

namespace {

/// layer_norm -> mean, variance around it (two passes: no cancellation), map
struct LowerLayerNorm : OpRewritePattern<transformer::LayerNormOp> {
  LowerLayerNorm(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::LayerNormOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value input = op.getInput();
    Value x = cutRows(b, input, op.getParts());
    FloatType element = elementOf(op);
    double width = transformer::widthOf(x);
    Value sum = sumRows(
        b, x, {}, [](ImplicitLocOpBuilder &, ValueRange v) { return v[0]; });
    auto centred = [&](ImplicitLocOpBuilder &inner, Value value, Value sum) {
      Value mean = arith::DivFOp::create(inner, sum, f32Constant(inner, width));
      return arith::SubFOp::create(inner, value, mean);
    };
    Value squares = sumRows(b, x, {{sum, Broadcast::AlongRow}},
                            [&](ImplicitLocOpBuilder &inner, ValueRange v) {
                              Value d = centred(inner, v[0], v[1]);
                              return arith::MulFOp::create(inner, d, d);
                            });
    SmallVector<RowInput> inputs = {{sum, Broadcast::AlongRow},
                                    {squares, Broadcast::AlongRow}};
    Value byPart = joinWeight(b, op.getWeight(), transformer::widthOf(x));
    Value weight = byPart ? Value() : op.getWeight();
    for (Value vector : {weight, Value(op.getBias())}) {
      if (vector) {
        inputs.push_back({vector, Broadcast::AlongColumn});
      }
    }
    double eps = op.getEps().convertToDouble();
    double offset = op.getOffset().convertToDouble();
    auto inverse = op.getUnbiasedStd() ? inverseDeviation : inverseRoot;
    Value y =
        mapRows(b, x, inputs,
                {byPart ? b.getF32Type() : element,
                 lastUses.contains(op.getInputMutable())},
                [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
                  Value d = centred(inner, v[0], v[1]);
                  Value unit = arith::MulFOp::create(
                      inner, d, inverse(inner, v[2], width, eps));
                  return applyWeight(inner, unit, weight ? v[3] : Value(),
                                     offset, op.getBias() ? v.back() : Value());
                });
    y = joinRows(b, y, input);
    rewriter.replaceOp(op,
                       byPart ? scaleRows(b, y, byPart, offset, element) : y);
    return success();
  }

  const LastUses &lastUses;
};

/// rms_norm -> sum of squares, map
struct LowerRmsNorm : OpRewritePattern<transformer::RmsNormOp> {
  LowerRmsNorm(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::RmsNormOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value input = op.getInput();
    Value x = cutRows(b, input, op.getParts());
    FloatType element = elementOf(op);
    double width = transformer::widthOf(x), eps = op.getEps().convertToDouble();
    double offset = op.getOffset().convertToDouble();
    Value squares =
        sumRows(b, x, {}, [](ImplicitLocOpBuilder &inner, ValueRange v) {
          return arith::MulFOp::create(inner, v[0], v[0]);
        });
    SmallVector<RowInput> inputs = {{squares, Broadcast::AlongRow}};
    Value byPart = joinWeight(b, op.getWeight(), transformer::widthOf(x));
    Value weight = byPart ? Value() : op.getWeight();
    if (weight) {
      inputs.push_back({weight, Broadcast::AlongColumn});
    }
    Value y = mapRows(b, x, inputs,
                      {byPart ? b.getF32Type() : element,
                       lastUses.contains(op.getInputMutable())},
                      [&](ImplicitLocOpBuilder &inner, ValueRange v) {
                        Value unit = arith::MulFOp::create(
                            inner, v[0], inverseRoot(inner, v[1], width, eps));
                        return applyWeight(inner, unit, weight ? v[2] : Value(),
                                           offset, Value());
                      });
    y = joinRows(b, y, input);
    rewriter.replaceOp(op,
                       byPart ? scaleRows(b, y, byPart, offset, element) : y);
    return success();
  }

  const LastUses &lastUses;
};

/// l2_normalize -> sum of squares, map
struct LowerL2Normalize : OpRewritePattern<transformer::L2NormalizeOp> {
  LowerL2Normalize(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::L2NormalizeOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = op.getInput();
    double eps = op.getEps().convertToDouble();
    Value squares =
        sumRows(b, x, {}, [](ImplicitLocOpBuilder &inner, ValueRange v) {
          return arith::MulFOp::create(inner, v[0], v[0]);
        });
    Value y = mapRows(b, x, {{squares, Broadcast::AlongRow}},
                      {elementOf(op), lastUses.contains(op.getInputMutable())},
                      [&](ImplicitLocOpBuilder &inner, ValueRange v) {
                        Value length = math::SqrtOp::create(inner, v[1]);
                        length = arith::MaximumFOp::create(
                            inner, length, f32Constant(inner, eps));
                        return arith::DivFOp::create(inner, v[0], length);
                      });
    rewriter.replaceOp(op, y);
    return success();
  }

  const LastUses &lastUses;
};

/// cut_rows -> mean, variance around it, map
struct LowerCutRows : OpRewritePattern<transformer::CutRowsOp> {
  LowerCutRows(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::CutRowsOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = op.getInput();
    double width = transformer::widthOf(x);
    double deviations = op.getDeviations().convertToDouble();
    auto mean = [&](ImplicitLocOpBuilder &inner, Value sum) -> Value {
      return arith::DivFOp::create(inner, sum, f32Constant(inner, width));
    };
    Value sum = sumRows(
        b, x, {}, [](ImplicitLocOpBuilder &, ValueRange v) { return v[0]; });
    Value squares =
        sumRows(b, x, {{sum, Broadcast::AlongRow}},
                [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
                  Value d =
                      arith::SubFOp::create(inner, v[0], mean(inner, v[1]));
                  return arith::MulFOp::create(inner, d, d);
                });
    Value y = mapRows(
        b, x, {{sum, Broadcast::AlongRow}, {squares, Broadcast::AlongRow}},
        {elementOf(op), lastUses.contains(op.getInputMutable())},
        [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
          Value std = math::SqrtOp::create(inner, mean(inner, v[2]));
          Value above =
              arith::MulFOp::create(inner, std, f32Constant(inner, deviations));
          Value cut = arith::AddFOp::create(inner, mean(inner, v[1]), above);
          // maximum, not maxnum: a NaN stays one.
          return arith::MaximumFOp::create(
              inner, arith::SubFOp::create(inner, v[0], cut),
              f32Constant(inner, 0));
        });
    rewriter.replaceOp(op, y);
    return success();
  }

  const LastUses &lastUses;
};

} // namespace

void tfc::populateNormPatterns(RewritePatternSet &patterns,
                               const LastUses &lastUses) {
  patterns.add<LowerLayerNorm, LowerRmsNorm, LowerL2Normalize, LowerCutRows>(
      patterns.getContext(), lastUses);
}
