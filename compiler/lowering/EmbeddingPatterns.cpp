// Table look-ups, row gathers, pooling and neighbours to linalg.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Patterns.h"

#include "dialect/PanelShape.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc;

/// Where element (row, column) of a table is: there, or in panels, in words of
/// columns perhaps.
static SmallVector<Value> place(ImplicitLocOpBuilder &b, Value table, Value row,
                                Value column) {
  auto type = cast<RankedTensorType>(table.getType());
  if (type.getRank() == 2) {
    return {row, column};
  }
  transformer::PanelShape shape(type);
  Value panel = arith::ConstantIndexOp::create(b, shape.width);
  Value number = arith::DivUIOp::create(b, row, panel);
  Value inPanel = arith::RemUIOp::create(b, row, panel);
  if (shape.columns == 1) {
    return {number, column, inPanel};
  }
  Value together = arith::ConstantIndexOp::create(b, shape.columns);
  return {number, arith::DivUIOp::create(b, column, together), inPanel,
          arith::RemUIOp::create(b, column, together)};
}

/// y[t,w] = table[index(ids[t]), w], `value` having the last word on it, which
/// may be given[t,w] where that is there.
static Value lookUp(ImplicitLocOpBuilder &b, Value ids, Value table,
                    int64_t width, FloatType kept,
                    function_ref<Value(ImplicitLocOpBuilder &, Value id)> index,
                    function_ref<Value(ImplicitLocOpBuilder &, Value id,
                                       Value element, Value given)>
                        value,
                    Value given = {}) {
  MLIRContext *context = b.getContext();
  Value rows = tensor::DimOp::create(b, ids, 0);
  Value init = tensor::EmptyOp::create(
      b, ArrayRef<int64_t>{ShapedType::kDynamic, width}, kept, rows);
  AffineExpr row = getAffineDimExpr(0, context);
  AffineMap all = AffineMap::getMultiDimIdentityMap(2, context);
  SmallVector<AffineMap> maps = {AffineMap::get(2, 0, row, context), all};
  SmallVector<Value> inputs = {ids};
  if (given) {
    maps.push_back(all);
    inputs.push_back(given);
  }
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange arguments) {
               ImplicitLocOpBuilder inner(loc, builder);
               Value column = linalg::IndexOp::create(inner, 1);
               Value row = index(inner, arguments[0]);
               Value element = convertFloat(
                   inner,
                   tensor::ExtractOp::create(inner, table,
                                             place(inner, table, row, column)),
                   inner.getF32Type());
               Value other =
                   given ? convertFloat(inner, arguments[1], inner.getF32Type())
                         : Value();
               Value y = value(inner, arguments[0], element, other);
               linalg::YieldOp::create(inner, convertFloat(inner, y, kept));
             })
      .getResult(0);
}

static Value isNegative(ImplicitLocOpBuilder &b, Value id) {
  Value zero = arith::ConstantIntOp::create(b, 0, 32);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, id, zero);
}

static Value toIndex(ImplicitLocOpBuilder &b, Value id) {
  return arith::IndexCastOp::create(b, b.getIndexType(), id);
}

namespace {

/// embedding -> gather of table rows; a negative id, and one that a part of the
/// ids has no row for, gives zeros or the row that is given
struct LowerEmbedding : OpRewritePattern<transformer::EmbeddingOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::EmbeddingOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t rows = transformer::rowsOf(op.getTable());
    auto number = [](ImplicitLocOpBuilder &inner, int64_t value) -> Value {
      return arith::ConstantIntOp::create(inner, value, 32);
    };
    auto index = [&](ImplicitLocOpBuilder &inner, Value id) -> Value {
      if (std::optional<int64_t> first = op.getFirst()) {
        // Of other ids the nearest row is read, and not used.
        Value own = arith::SubIOp::create(inner, id, number(inner, *first));
        own = arith::MaxSIOp::create(inner, own, number(inner, 0));
        return toIndex(
            inner, arith::MinSIOp::create(inner, own, number(inner, rows - 1)));
      }
      if (op.getOptional() || op.getGiven()) {
        // Reads row 0 instead of a row that does not exist.
        Value zero = arith::ConstantIntOp::create(inner, 0, 32);
        id = arith::MaxSIOp::create(inner, id, zero);
      }
      if (std::optional<int64_t> beyond = op.getBeyond()) {
        Value isOwn = arith::CmpIOp::create(inner, arith::CmpIPredicate::slt,
                                            id, number(inner, rows));
        id = arith::SelectOp::create(inner, isOwn, id, number(inner, *beyond));
      }
      if (std::optional<int64_t> every = op.getEvery()) {
        id = arith::DivUIOp::create(inner, id, number(inner, *every));
        id = arith::RemUIOp::create(inner, id, number(inner, rows));
      }
      Value row = toIndex(inner, id);
      if (op.getOffset() != 0) {
        Value offset = arith::ConstantIndexOp::create(inner, op.getOffset());
        row = arith::AddIOp::create(inner, row, offset);
      }
      return row;
    };
    auto value = [&](ImplicitLocOpBuilder &inner, Value id, Value element,
                     Value given) -> Value {
      if (std::optional<int64_t> first = op.getFirst()) {
        Value isOwn = arith::AndIOp::create(
            inner,
            arith::CmpIOp::create(inner, arith::CmpIPredicate::sge, id,
                                  number(inner, *first)),
            arith::CmpIOp::create(inner, arith::CmpIPredicate::sle, id,
                                  number(inner, *first + rows - 1)));
        return arith::SelectOp::create(inner, isOwn, element,
                                       given ? given : f32Constant(inner, 0));
      }
      if (!op.getOptional() && !given) {
        return element;
      }
      return arith::SelectOp::create(inner, isNegative(inner, id),
                                     given ? given : f32Constant(inner, 0),
                                     element);
    };
    int64_t width = transformer::widthOf(op.getTable());
    Value table = op.getTable();
    // A table that a head is tied to is packed for the head's product.
    if (transformer::WeightOp panels = findPanels(b, table)) {
      table = panels;
    }
    rewriter.replaceOp(op, lookUp(b, op.getIds(), table, width, elementOf(op),
                                  index, value, op.getGiven()));
    return success();
  }
};

/// given_rows -> gather of rows, zeros where there is none
struct LowerGivenRows : OpRewritePattern<transformer::GivenRowsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::GivenRowsOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto index = [](ImplicitLocOpBuilder &inner, Value id) -> Value {
      // ~id is -1 - id; reads row 0 instead of a row that does not exist.
      Value ones = arith::ConstantIntOp::create(inner, -1, 32);
      Value row = arith::XOrIOp::create(inner, id, ones);
      Value zero = arith::ConstantIntOp::create(inner, 0, 32);
      return toIndex(inner, arith::MaxSIOp::create(inner, row, zero));
    };
    auto value = [](ImplicitLocOpBuilder &inner, Value id, Value element,
                    Value) -> Value {
      return arith::SelectOp::create(inner, isNegative(inner, id), element,
                                     f32Constant(inner, 0));
    };
    Value input = op.getInput();
    rewriter.replaceOp(op, lookUp(b, op.getIds(), input,
                                  transformer::widthOf(input), elementOf(op),
                                  index, value));
    return success();
  }
};

/// gather_rows -> gather of rows
struct LowerGatherRows : OpRewritePattern<transformer::GatherRowsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::GatherRowsOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value input = op.getInput();
    rewriter.replaceOp(
        op, lookUp(b, op.getRows(), input, transformer::widthOf(input),
                   elementOf(op), toIndex,
                   [](ImplicitLocOpBuilder &, Value, Value element, Value) {
                     return element;
                   }));
    return success();
  }
};

/// pool_rows -> ragged_pool
struct LowerPoolRows : OpRewritePattern<transformer::PoolRowsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::PoolRowsOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value input = op.getInput();
    Value count = tensor::DimOp::create(b, op.getRows(), 0);
    Value init = tensor::EmptyOp::create(
        b, ArrayRef<int64_t>{ShapedType::kDynamic, transformer::widthOf(input)},
        elementOf(op), count);
    rewriter.replaceOpWithNewOp<transformer::RaggedPoolOp>(
        op, init.getType(), op.getHow(), input, op.getRows(), op.getBatch(),
        init, op.getSkipAttr());
    return success();
  }
};

/// pair_rows -> ragged_pairs
struct LowerPairRows : OpRewritePattern<transformer::PairRowsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::PairRowsOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value init =
        emptyRows(b, op.getInput(), op.getType().getDimSize(1), elementOf(op));
    rewriter.replaceOpWithNewOp<transformer::RaggedPairsOp>(
        op, init.getType(), op.getQuery(), op.getInput(), op.getBatch(), init);
    return success();
  }
};

/// weigh_rows -> ragged_weights
struct LowerWeighRows : OpRewritePattern<transformer::WeighRowsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::WeighRowsOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value count = tensor::DimOp::create(b, op.getRows(), 0);
    Value init = tensor::EmptyOp::create(
        b, ArrayRef<int64_t>{ShapedType::kDynamic, op.getType().getDimSize(1)},
        elementOf(op), count);
    rewriter.replaceOpWithNewOp<transformer::RaggedWeightsOp>(
        op, init.getType(), op.getQuery(), op.getInput(), op.getWeights(),
        op.getRows(), op.getBatch(), init);
    return success();
  }
};

/// log_softmax -> clustered_log_softmax
struct LowerLogSoftmax : OpRewritePattern<transformer::LogSoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::LogSoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value init =
        emptyRows(b, op.getInput(), op.getType().getDimSize(1), elementOf(op));
    rewriter.replaceOpWithNewOp<transformer::ClusteredLogSoftmaxOp>(
        op, init.getType(), op.getInput(), op.getGates(), op.getClusters(),
        init);
    return success();
  }
};

/// unfold -> ragged_unfold
struct LowerUnfold : OpRewritePattern<transformer::UnfoldOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::UnfoldOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value init = emptyRows(b, op.getInputs().front(),
                           op.getType().getDimSize(1), elementOf(op));
    rewriter.replaceOpWithNewOp<transformer::RaggedUnfoldOp>(
        op, init.getType(), op.getInputs(), op.getTapsAttr(), op.getFirstAttr(),
        op.getFramesAttr(), op.getBatch(), init);
    return success();
  }
};

} // namespace

void tfc::populateEmbeddingPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerEmbedding, LowerGivenRows, LowerGatherRows, LowerPoolRows,
               LowerPairRows, LowerWeighRows, LowerLogSoftmax, LowerUnfold>(
      patterns.getContext());
}
