// Attention to the structured ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Patterns.h"

#include "compiler/lowering/DistanceRows.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;

/// scale [* factor] [/ (layer + 1)] of an attention or a cross_attention.
template <typename OpTy>
static Value buildScale(ImplicitLocOpBuilder &b, OpTy op, Value factor) {
  Value scale = f32Constant(b, op.getScale().convertToDouble());
  if (factor) {
    scale = arith::MulFOp::create(b, scale, factor);
  }
  if (!op.getScaleByInverseLayer()) {
    return scale;
  }
  Value layer = arith::IndexCastOp::create(b, b.getI32Type(), op.getLayer());
  Value number = arith::SIToFPOp::create(b, b.getF32Type(), layer);
  Value divisor = arith::AddFOp::create(b, number, f32Constant(b, 1));
  return arith::DivFOp::create(b, scale, divisor);
}

namespace {

/// attention -> cache_write, paged_attention
struct LowerAttention : OpRewritePattern<transformer::AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::AttentionOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    transformer::CacheWriteOp::create(b, op.getKey(), op.getValue(),
                                      op.getCache(), op.getLayer(),
                                      op.getBatch());
    Value query = op.getQuery();
    Value init =
        emptyRows(b, query, transformer::widthOf(query), elementOf(op));
    Value slopes;
    if (std::optional<ArrayRef<double>> numbers = op.getSlopes()) {
      slopes = f32Table(b, *numbers);
    }
    rewriter.replaceOpWithNewOp<transformer::PagedAttentionOp>(
        op, init.getType(), query, buildScale(b, op, op.getFactor()),
        op.getCache(), op.getLayer(), op.getBatch(), op.getBias(), op.getLeft(),
        op.getRight(), slopes, op.getSinks(), op.getRelativeKeys(),
        op.getRelativeQueries(), buildDistanceRows(b, op), init, op.getMask(),
        op.getNumHeads(), op.getCapAttr(), op.getLogBaseAttr());
    return success();
  }
};

/// cross_attention -> paged_attention over the cross cache
struct LowerCrossAttention : OpRewritePattern<transformer::CrossAttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::CrossAttentionOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value query = op.getQuery();
    Value init =
        emptyRows(b, query, transformer::widthOf(query), elementOf(op));
    Value scale = buildScale(b, op, /*factor=*/Value());
    rewriter.replaceOpWithNewOp<transformer::PagedAttentionOp>(
        op, init.getType(), query, scale, op.getCache(), op.getLayer(),
        op.getBatch(), /*bias=*/Value(), /*left=*/Value(), /*right=*/Value(),
        /*slopes=*/Value(), /*sinks=*/Value(), /*relative_keys=*/Value(),
        /*relative_queries=*/Value(), /*distance_rows=*/Value(), init,
        transformer::Mask::Bidirectional, op.getNumHeads(),
        /*cap=*/FloatAttr(), /*log_base=*/FloatAttr());
    return success();
  }
};

} // namespace

void tfc::populateAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerAttention, LowerCrossAttention>(patterns.getContext());
}
