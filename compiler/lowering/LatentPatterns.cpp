// Latent attention, and products of heads, to linalg and structured ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Parts.h"

#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;

/// A tensor of its own to be written whole, a first axis of `rows`.
static Value allocate(ImplicitLocOpBuilder &b, Value rows,
                      ArrayRef<int64_t> rest, Type element) {
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  shape.append(rest.begin(), rest.end());
  return bufferization::AllocTensorOp::create(
      b, RankedTensorType::get(shape, element), ValueRange{rows});
}

/// init[places...] = body(places)
static Value
fill(ImplicitLocOpBuilder &b, Value init,
     function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body) {
  int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, init.getType(), ValueRange(), init,
             ArrayRef<AffineMap>{b.getMultiDimIdentityMap(rank)}, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange) {
               ImplicitLocOpBuilder inner(loc, builder);
               SmallVector<Value> places;
               for (int64_t axis = 0; axis < rank; ++axis) {
                 places.push_back(linalg::IndexOp::create(inner, axis));
               }
               linalg::YieldOp::create(inner, body(inner, places));
             })
      .getResult(0);
}

namespace {

/// head_linear -> rows of all heads, one head after the other; expert_linear of
/// them; and rows of tokens again
struct LowerHeadLinear : OpRewritePattern<transformer::HeadLinearOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::HeadLinearOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto heads = static_cast<int64_t>(op.getNumHeads());
    ArrayRef<int64_t> weight = op.getWeight().getType().getShape();
    int64_t own = transformer::widthOf(op.getInput()) / heads;
    int64_t width = weight[1], inner = weight[2], rest = own - inner;
    Value tokens = countRows(b, op.getInput());
    Value rows = arith::MulIOp::create(
        b, tokens, arith::ConstantIndexOp::create(b, heads));
    SmallVector<ReassociationIndices> split = {{0}, {1, 2}};
    Value x = tensor::ExpandShapeOp::create(
        b,
        RankedTensorType::get({ShapedType::kDynamic, heads, own},
                              elementOf(op.getInput())),
        op.getInput(), split);
    // Row h T + t is of token t and head h.
    Value cut =
        fill(b, allocate(b, rows, inner, elementOf(op.getInput())),
             [&](ImplicitLocOpBuilder &inside, ValueRange place) -> Value {
               Value head = arith::DivUIOp::create(inside, place[0], tokens);
               Value token = arith::RemUIOp::create(inside, place[0], tokens);
               return tensor::ExtractOp::create(
                   inside, x, ValueRange{token, head, place[1]});
             });
    Value numbers = fill(
        b, allocate(b, rows, {}, b.getI32Type()),
        [&](ImplicitLocOpBuilder &inside, ValueRange place) -> Value {
          Value head = arith::DivUIOp::create(inside, place[0], tokens);
          return arith::IndexCastOp::create(inside, inside.getI32Type(), head);
        });
    auto linear = transformer::ExpertLinearOp::create(
        b, RankedTensorType::get({ShapedType::kDynamic, width}, elementOf(op)),
        cut, numbers, op.getWeight(), /*bias=*/Value(), /*factor=*/Value(),
        transformer::Activation::Identity);
    // Here, as nobody comes back to what patterns make.
    Value products = buildExpertProduct(b, linear);
    rewriter.eraseOp(linear);
    Parts y(b, op.getInput(), {heads, rest + width}, elementOf(op));
    auto write =
        [&](int64_t first, int64_t count,
            function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> read) {
          y.write(first, count, 1, {},
                  [&](ImplicitLocOpBuilder &inside, ValueRange) {
                    SmallVector<Value> place;
                    for (int64_t axis = 0; axis < 3; ++axis) {
                      place.push_back(linalg::IndexOp::create(inside, axis));
                    }
                    return convertFloat(inside, read(inside, place),
                                        inside.getF32Type());
                  });
        };
    if (rest > 0) {
      write(0, rest, [&](ImplicitLocOpBuilder &inside, ValueRange place) {
        Value first = arith::ConstantIndexOp::create(inside, inner);
        Value column = arith::AddIOp::create(inside, place[2], first);
        return tensor::ExtractOp::create(
            inside, x, ValueRange{place[0], place[1], column});
      });
    }
    write(rest, width, [&](ImplicitLocOpBuilder &inside, ValueRange place) {
      Value first = arith::MulIOp::create(inside, place[1], tokens);
      Value row = arith::AddIOp::create(inside, first, place[0]);
      return tensor::ExtractOp::create(inside, products,
                                       ValueRange{row, place[2]});
    });
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, y.get(), split);
    return success();
  }
};

/// latent_attention -> paged_latent
struct LowerLatentAttention : OpRewritePattern<transformer::LatentAttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::LatentAttentionOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value init =
        emptyRows(b, op.getQuery(), op.getType().getDimSize(1), elementOf(op));
    rewriter.replaceOpWithNewOp<transformer::PagedLatentOp>(
        op, init.getType(), op.getQuery(), op.getRopeKey(), op.getLatent(),
        op.getCache(), op.getLayer(), op.getBatch(), init, op.getNumHeads(),
        op.getScale());
    return success();
  }
};

} // namespace

void tfc::populateLatentPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerHeadLinear, LowerLatentAttention>(patterns.getContext());
}
