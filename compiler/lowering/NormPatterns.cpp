// Normalisations to linalg.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Patterns.h"

#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tfc;

namespace {

/// layer_norm -> mean, variance around it (two passes: no cancellation), map
struct LowerLayerNorm : OpRewritePattern<transformer::LayerNormOp> {
  LowerLayerNorm(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::LayerNormOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = op.getInput();
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
                                    {squares, Broadcast::AlongRow},
                                    {op.getWeight(), Broadcast::AlongColumn}};
    if (op.getBias()) {
      inputs.push_back({op.getBias(), Broadcast::AlongColumn});
    }
    double eps = op.getEps().convertToDouble();
    Value y = mapRows(
        b, x, inputs, lastUses.contains(op.getInputMutable()),
        [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
          Value d = centred(inner, v[0], v[1]);
          Value variance =
              arith::DivFOp::create(inner, v[2], f32Constant(inner, width));
          Value shifted =
              arith::AddFOp::create(inner, variance, f32Constant(inner, eps));
          Value root = math::SqrtOp::create(inner, shifted);
          // One division a row: it does not depend on the column.
          Value inverse =
              arith::DivFOp::create(inner, f32Constant(inner, 1), root);
          Value unit = arith::MulFOp::create(inner, d, inverse);
          Value scaled = arith::MulFOp::create(inner, unit, v[3]);
          return v.size() > 4
                     ? arith::AddFOp::create(inner, scaled, v[4]).getResult()
                     : scaled;
        });
    rewriter.replaceOp(op, y);
    return success();
  }

  const LastUses &lastUses;
};

} // namespace

void tfc::populateNormPatterns(RewritePatternSet &patterns,
                               const LastUses &lastUses) {
  patterns.add<LowerLayerNorm>(patterns.getContext(), lastUses);
}
