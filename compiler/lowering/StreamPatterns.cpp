// Streams of rows to linalg.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Patterns.h"

#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc;

/// Columns [first, first + count) of `x`, each a number a row in f32: what maps
/// read along rows lies dense.
static ResultRange splitColumns(ImplicitLocOpBuilder &b, Value x, int64_t first,
                                int64_t count) {
  MLIRContext *context = b.getContext();
  SmallVector<Value> inits;
  SmallVector<Type> types;
  for (int64_t i = 0; i < count; ++i) {
    inits.push_back(emptyNumbers(b, x, b.getF32Type()));
    types.push_back(inits.back().getType());
  }
  SmallVector<AffineMap> maps(static_cast<size_t>(count),
                              AffineMap::getMultiDimIdentityMap(1, context));
  return linalg::GenericOp::create(
             b, types, ValueRange(), inits, maps,
             {utils::IteratorType::parallel},
             [&](OpBuilder &builder, Location loc, ValueRange) {
               ImplicitLocOpBuilder inner(loc, builder);
               Value row = linalg::IndexOp::create(inner, 0);
               SmallVector<Value> numbers;
               for (int64_t i = 0; i < count; ++i) {
                 Value column =
                     arith::ConstantIndexOp::create(inner, first + i);
                 Value number = tensor::ExtractOp::create(
                     inner, x, ValueRange{row, column});
                 numbers.push_back(
                     convertFloat(inner, number, inner.getF32Type()));
               }
               linalg::YieldOp::create(inner, numbers);
             })
      .getResults();
}

namespace {

/// mix_rows -> its weights as numbers of rows, map
struct LowerMixRows : OpRewritePattern<transformer::MixRowsOp> {
  LowerMixRows(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::MixRowsOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    size_t count = op.getTerms().size();
    double offset = op.getOffset().convertToDouble();
    SmallVector<RowInput> inputs;
    for (Value term : op.getTerms()) {
      inputs.push_back({term, Broadcast::None});
    }
    for (Value weight :
         splitColumns(b, op.getWeights(), static_cast<int64_t>(op.getFirst()),
                      static_cast<int64_t>(count))) {
      inputs.push_back({weight, Broadcast::AlongRow});
    }
    rewriter.replaceOp(
        op, mapRows(b, op.getInput(), inputs,
                    {elementOf(op), lastUses.contains(op.getInputMutable())},
                    [&](ImplicitLocOpBuilder &inner, ValueRange v) {
                      Value y = v[0];
                      for (size_t j = 1; j <= count; ++j) {
                        Value weight = v[count + j];
                        if (offset != 0) {
                          weight = arith::AddFOp::create(
                              inner, weight, f32Constant(inner, offset));
                        }
                        Value term = arith::MulFOp::create(inner, v[j], weight);
                        y = arith::AddFOp::create(inner, y, term);
                      }
                      return y;
                    }));
    return success();
  }

  const LastUses &lastUses;
};

/// match_magnitude -> sums of squares, map
struct LowerMatchMagnitude : OpRewritePattern<transformer::MatchMagnitudeOp> {
  LowerMatchMagnitude(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::MatchMagnitudeOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    double width = transformer::widthOf(op.getInput());
    double floor = op.getFloor().convertToDouble();
    auto squares = [&](Value rows) {
      return sumRows(b, rows, {},
                     [](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
                       return arith::MulFOp::create(inner, v[0], v[0]);
                     });
    };
    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
      Value own = arith::DivFOp::create(inner, v[1], f32Constant(inner, width));
      Value like =
          arith::DivFOp::create(inner, v[2], f32Constant(inner, width));
      // maximum, not maxnum: a NaN stays one.
      own = arith::MaximumFOp::create(inner, own, f32Constant(inner, floor));
      Value factor =
          arith::DivFOp::create(inner, math::SqrtOp::create(inner, like),
                                math::SqrtOp::create(inner, own));
      return arith::MulFOp::create(inner, v[0], factor);
    };
    rewriter.replaceOp(
        op, mapRows(b, op.getInput(),
                    {{squares(op.getInput()), Broadcast::AlongRow},
                     {squares(op.getLike()), Broadcast::AlongRow}},
                    {elementOf(op), lastUses.contains(op.getInputMutable())},
                    body));
    return success();
  }

  const LastUses &lastUses;
};

/// join_columns -> gather of each input's columns
struct LowerJoinColumns : OpRewritePattern<transformer::JoinColumnsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::JoinColumnsOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value init = emptyRows(b, op.getInputs().front(),
                           op.getType().getDimSize(1), elementOf(op));
    auto body = [&](OpBuilder &builder, Location loc, ValueRange) {
      ImplicitLocOpBuilder inner(loc, builder);
      Value row = linalg::IndexOp::create(inner, 0);
      Value column = linalg::IndexOp::create(inner, 1);
      Value y;
      int64_t first = 0;
      for (Value input : op.getInputs()) {
        // Of other columns the nearest one is read, and not used.
        int64_t width = transformer::widthOf(input);
        auto number = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(inner, value);
        };
        Value own = arith::SubIOp::create(inner, column, number(first));
        own = arith::MaxSIOp::create(inner, own, number(0));
        own = arith::MinSIOp::create(inner, own, number(width - 1));
        Value element = convertFloat(
            inner,
            tensor::ExtractOp::create(inner, input, ValueRange{row, own}),
            inner.getF32Type());
        Value isOwn = arith::CmpIOp::create(inner, arith::CmpIPredicate::sge,
                                            column, number(first));
        y = y ? arith::SelectOp::create(inner, isOwn, element, y).getResult()
              : element;
        first += width;
      }
      linalg::YieldOp::create(inner, convertFloat(inner, y, elementOf(op)));
    };
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, init.getType(), ValueRange(), init,
        AffineMap::getMultiDimIdentityMap(2, b.getContext()),
        SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
        body);
    return success();
  }
};

} // namespace

void tfc::populateStreamPatterns(RewritePatternSet &patterns,
                                 const LastUses &lastUses) {
  patterns.add<LowerMixRows, LowerMatchMagnitude>(patterns.getContext(),
                                                  lastUses);
  patterns.add<LowerJoinColumns>(patterns.getContext());
}
