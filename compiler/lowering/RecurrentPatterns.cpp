// Convolutions, recurrences and their gates to linalg and the structured ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Patterns.h"

#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc;

namespace {

/// causal_conv -> ragged_conv
struct LowerCausalConv : OpRewritePattern<transformer::CausalConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::CausalConvOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value input = op.getInput();
    Value init =
        emptyRows(b, input, transformer::widthOf(input), elementOf(op));
    rewriter.replaceOpWithNewOp<transformer::RaggedConvOp>(
        op, init.getType(), input, op.getWeight(), op.getBias(), op.getState(),
        op.getLayer(), op.getBatch(), init, op.getFirst());
    return success();
  }
};

/// recurrence -> ragged_recurrence
struct LowerRecurrence : OpRewritePattern<transformer::RecurrenceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::RecurrenceOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value value = op.getValue();
    Value init =
        emptyRows(b, value, transformer::widthOf(value), elementOf(op));
    rewriter.replaceOpWithNewOp<transformer::RaggedRecurrenceOp>(
        op, init.getType(), op.getQuery(), op.getKey(), value, op.getDecay(),
        op.getBeta(), op.getSkip(), op.getLogRate(), op.getState(),
        op.getLayer(), op.getBatch(), init, op.getFirst(), op.getHeads(),
        op.getKeyHeads(), op.getRule());
    return success();
  }
};

/// [H] with each number `times` times, [H * times]. The reshape keeps it out of
/// the work on rows, which would each have one; it is a plain loop, as no few
/// registers hold it.
static Value repeatNumbers(ImplicitLocOpBuilder &b, Value numbers,
                           int64_t times) {
  if (times == 1) {
    return numbers;
  }
  int64_t count = transformer::widthOf(numbers);
  Value init = tensor::EmptyOp::create(b, ArrayRef<int64_t>{count, times},
                                       elementOf(numbers));
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  Value each = linalg::GenericOp::create(
                   b, init.getType(), ValueRange(), init,
                   ArrayRef<AffineMap>{b.getMultiDimIdentityMap(2)}, iterators,
                   [&](OpBuilder &builder, Location loc, ValueRange) {
                     ImplicitLocOpBuilder inner(loc, builder);
                     Value place = linalg::IndexOp::create(inner, 0);
                     Value number =
                         tensor::ExtractOp::create(inner, numbers, place);
                     linalg::YieldOp::create(inner, number);
                   })
                   .getResult(0);
  SmallVector<ReassociationIndices> together = {{0, 1}};
  return tensor::CollapseShapeOp::create(b, each, together);
}

/// decay -> map
struct LowerDecay : OpRewritePattern<transformer::DecayOp> {
  LowerDecay(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::DecayOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto body = [](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
      Value rate = math::ExpOp::create(inner, v[1]);
      Value lost = arith::MulFOp::create(
          inner, rate,
          buildActivation(inner, transformer::Activation::Softplus, v[0]));
      return math::ExpOp::create(inner, arith::NegFOp::create(inner, lost));
    };
    int64_t columns = transformer::widthOf(op.getInput()) /
                      transformer::widthOf(op.getLogRate());
    Value rates = repeatNumbers(b, op.getLogRate(), columns);
    rewriter.replaceOp(
        op, mapRows(b, op.getInput(), {{rates, Broadcast::AlongColumn}},
                    {elementOf(op), lastUses.contains(op.getInputMutable())},
                    body));
    return success();
  }

  const LastUses &lastUses;
};

/// multiply -> map
struct LowerMultiply : OpRewritePattern<transformer::MultiplyOp> {
  LowerMultiply(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::MultiplyOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op,
        mapRows(b, op.getInput(), {{op.getGate(), Broadcast::None}},
                {elementOf(op), lastUses.contains(op.getInputMutable())},
                [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
                  Value gate = convertFloat(inner, v[1], inner.getF32Type());
                  return arith::MulFOp::create(
                      inner, v[0], buildActivation(inner, op.getAct(), gate));
                }));
    return success();
  }

  const LastUses &lastUses;
};

} // namespace

void tfc::populateRecurrentPatterns(RewritePatternSet &patterns,
                                    const LastUses &lastUses) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerCausalConv, LowerRecurrence>(context);
  patterns.add<LowerDecay, LowerMultiply>(context, lastUses);
}
