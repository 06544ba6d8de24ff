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

/// Each to the nearest bf16, the even one of two.
static SmallVector<double> roundToBf16(ArrayRef<double> numbers) {
  SmallVector<double> rounded;
  for (double number : numbers) {
    bool isInexact;
    APFloat value(static_cast<float>(number));
    value.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &isInexact);
    rounded.push_back(value.convertToDouble());
  }
  return rounded;
}

namespace {

/// attention -> cache_write where it has keys of its own, paged_attention
struct LowerAttention : OpRewritePattern<transformer::AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::AttentionOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (op.getKey()) {
      transformer::CacheWriteOp::create(b, op.getKey(), op.getValue(),
                                        op.getCache(), op.getLayer(),
                                        op.getBatch());
    }
    Value query = op.getQuery();
    Value init =
        emptyRows(b, query, transformer::widthOf(query), elementOf(op));
    Value slopes;
    if (std::optional<ArrayRef<double>> numbers = op.getSlopes()) {
      slopes = f32Table(b, op.getRoundedSlopes() ? roundToBf16(*numbers)
                                                 : llvm::to_vector(*numbers));
    }
    rewriter.replaceOpWithNewOp<transformer::PagedAttentionOp>(
        op, init.getType(), query, buildScale(b, op, op.getFactor()),
        op.getCache(), op.getLayer(), op.getBatch(), op.getBias(), op.getLeft(),
        op.getRight(), slopes, op.getSinks(), op.getRelativeKeys(),
        op.getRelativeQueries(), op.getRelativeValues(),
        buildDistanceRows(b, op), op.getQueryBias(), op.getRelativeBias(),
        op.getSegments(), op.getSegmentBias(), op.getTypes(), op.getUnseen(),
        init, op.getMask(), op.getNumHeads(), op.getCapAttr(),
        op.getLogBaseAttr(), op.getRoundedSlopes(), op.getSparseBlockAttr(),
        op.getRandomBlocksAttr(), op.getBlocksBeforeAttr(),
        op.getBlocksAfterAttr(), op.getFactorsAttr());
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
        /*relative_queries=*/Value(), /*relative_values=*/Value(),
        /*distance_rows=*/Value(), /*query_bias=*/Value(),
        /*relative_bias=*/Value(), /*segments=*/Value(),
        /*segment_bias=*/Value(), /*types=*/Value(), /*unseen=*/Value(), init,
        transformer::Mask::Bidirectional, op.getNumHeads(), op.getCapAttr(),
        /*log_base=*/FloatAttr(),
        /*rounded_slopes=*/false, /*sparse_block=*/IntegerAttr(),
        /*random_blocks=*/IntegerAttr(), /*blocks_before=*/IntegerAttr(),
        /*blocks_after=*/IntegerAttr(), op.getFactorsAttr());
    return success();
  }
};

/// memory_sinks -> ragged_sinks
struct LowerMemorySinks : OpRewritePattern<transformer::MemorySinksOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::MemorySinksOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value init =
        emptyRows(b, op.getQuery(), op.getType().getDimSize(1), b.getF32Type());
    rewriter.replaceOpWithNewOp<transformer::RaggedSinksOp>(
        op, init.getType(), op.getQuery(), op.getRelativeKeys(), op.getBatch(),
        op.getLeft(), op.getRelativeBias(), init, op.getNumHeads(),
        op.getSpan(), op.getScale());
    return success();
  }
};

/// hashed_attention -> ragged_hashed
struct LowerHashedAttention : OpRewritePattern<transformer::HashedAttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::HashedAttentionOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value query = op.getQuery();
    Value init =
        emptyRows(b, query, transformer::widthOf(query), elementOf(op));
    rewriter.replaceOpWithNewOp<transformer::RaggedHashedOp>(
        op, init.getType(), query, op.getKey(), op.getValue(),
        op.getRotations(), op.getBatch(), init, op.getNumHeads(), op.getBlock(),
        op.getBefore(), op.getAfter(), op.getHashes(), op.getBuckets(),
        op.getMultiple(), op.getScale());
    return success();
  }
};

} // namespace

void tfc::populateAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerAttention, LowerCrossAttention, LowerHashedAttention,
               LowerMemorySinks>(patterns.getContext());
}
