// Mixtures of experts to linalg and structured ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/GroupProduct.h"
#include "compiler/lowering/Patterns.h"

#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc;

/// A tensor of its own to be written whole, of `shape`, whose first axis is
/// `rows` long.
static Value allocate(ImplicitLocOpBuilder &b, Value rows,
                      ArrayRef<int64_t> shape, Type element) {
  return bufferization::AllocTensorOp::create(
      b, RankedTensorType::get(shape, element), ValueRange{rows});
}

static Value toIndex(ImplicitLocOpBuilder &b, Value id) {
  return arith::IndexCastOp::create(b, b.getIndexType(), id);
}

namespace {

/// route -> choose_experts
struct LowerRoute : OpRewritePattern<transformer::RouteOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::RouteOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value rows = tensor::DimOp::create(b, op.getLogits(), 0);
    int64_t width = op.getPerToken();
    Value ids =
        allocate(b, rows, {ShapedType::kDynamic, width}, b.getI32Type());
    Value weights =
        allocate(b, rows, {ShapedType::kDynamic, width}, b.getF32Type());
    auto chosen = transformer::ChooseExpertsOp::create(
        b, TypeRange{ids.getType(), weights.getType()}, op.getScore(),
        op.getLogits(), op.getChoiceBias(), ids, weights, op.getPerToken(),
        op.getGroups(), op.getGroupsUsed(), op.getGroupBy(),
        op.getRenormalize(), op.getPlus(), op.getFloor(), op.getFactor(),
        op.getTolerance());
    rewriter.replaceOp(op, chosen.getResults());
    return success();
  }
};

/// scale_experts -> a product with the number of each expert
struct LowerScaleExperts : OpRewritePattern<transformer::ScaleExpertsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::ScaleExpertsOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value weights = op.getWeights();
    Value init =
        emptyRows(b, weights, transformer::widthOf(weights), b.getF32Type());
    AffineMap all = AffineMap::getMultiDimIdentityMap(2, b.getContext());
    SmallVector<AffineMap> maps(3, all);
    SmallVector<utils::IteratorType> iterators(2,
                                               utils::IteratorType::parallel);
    auto body = [&](OpBuilder &builder, Location loc, ValueRange arguments) {
      ImplicitLocOpBuilder inner(loc, builder);
      Value id = toIndex(inner, arguments[1]);
      Value scale = tensor::ExtractOp::create(inner, op.getScale(), id);
      Value y = arith::MulFOp::create(inner, arguments[0], scale);
      linalg::YieldOp::create(inner, y);
    };
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, init.getType(), ValueRange{weights, op.getIds()}, init, maps,
        iterators, body);
    return success();
  }
};

/// group_by -> sort_by_expert
struct LowerGroupBy : OpRewritePattern<transformer::GroupByOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::GroupByOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t width = transformer::widthOf(op.getIds());
    Value tokens = tensor::DimOp::create(b, op.getIds(), 0);
    Value pairs = arith::MulIOp::create(
        b, tokens, arith::ConstantIndexOp::create(b, width));
    Type element = b.getI32Type();
    SmallVector<Value> inits = {
        allocate(b, pairs, ShapedType::kDynamic, element),
        allocate(b, pairs, ShapedType::kDynamic, element),
        allocate(b, tokens, {ShapedType::kDynamic, width}, element)};
    auto sorted = transformer::SortByExpertOp::create(
        b, TypeRange(inits), op.getIds(), op.getExperts(), inits[0], inits[1],
        inits[2]);
    rewriter.replaceOp(op, sorted.getResults());
    return success();
  }
};

} // namespace

/// y[i,n] = sum_k x[i,k] w[experts[i],n,k]
static Value buildRowSums(ImplicitLocOpBuilder &b,
                          transformer::ExpertLinearOp op) {
  MLIRContext *context = b.getContext();
  AffineExpr i, n, k;
  bindDims(context, i, n, k);
  SmallVector<AffineMap> maps = {AffineMap::get(3, 0, {i, k}, context),
                                 AffineMap::get(3, 0, {i}, context),
                                 AffineMap::get(3, 0, {i, n}, context)};
  Value x = op.getInput(), weight = op.getWeight();
  int64_t width = op.getWeight().getType().getDimSize(1);
  Value empty = emptyRows(b, x, width, b.getF32Type());
  Value zero = linalg::FillOp::create(b, f32Constant(b, 0), empty).getResult(0);
  SmallVector<utils::IteratorType> iterators = {utils::IteratorType::parallel,
                                                utils::IteratorType::parallel,
                                                utils::IteratorType::reduction};
  return linalg::GenericOp::create(
             b, zero.getType(), ValueRange{x, op.getExperts()}, zero, maps,
             iterators,
             [&](OpBuilder &builder, Location loc, ValueRange v) {
               ImplicitLocOpBuilder inner(loc, builder);
               Value column = linalg::IndexOp::create(inner, 1);
               Value step = linalg::IndexOp::create(inner, 2);
               Value place[] = {toIndex(inner, v[1]), column, step};
               Value w = tensor::ExtractOp::create(inner, weight, place);
               Type wide = inner.getF32Type();
               Value term =
                   arith::MulFOp::create(inner, convertFloat(inner, v[0], wide),
                                         convertFloat(inner, w, wide));
               linalg::YieldOp::create(
                   inner, arith::AddFOp::create(inner, v[2], term).getResult());
             })
      .getResult(0);
}

/// What is done to the sums, in their place.
static Value finishSums(ImplicitLocOpBuilder &b, transformer::ExpertLinearOp op,
                        Value product, const Epilogue &epilogue) {
  SmallVector<RowInput> inputs;
  if (epilogue.rowScales) {
    inputs.push_back({epilogue.rowScales, Broadcast::AlongRow});
  }
  if (epilogue.factor) {
    inputs.push_back({epilogue.factor, Broadcast::None});
  }
  if (op.getBias()) {
    inputs.push_back({op.getExperts(), Broadcast::AlongRow});
  }
  FloatType element = epilogue.element;
  return mapRows(
      b, product, inputs, {element, /*inPlace=*/true},
      [&](ImplicitLocOpBuilder &inner, ValueRange v) {
        size_t next = 1;
        Value rowScale = epilogue.rowScales ? v[next++] : Value();
        Value factor = epilogue.factor ? v[next] : Value(), bias;
        if (op.getBias()) {
          Value column = linalg::IndexOp::create(inner, 1);
          Value place[] = {toIndex(inner, v.back()), column};
          bias = tensor::ExtractOp::create(inner, op.getBias(), place);
        }
        Value sum = buildScaled(inner, v[0], /*excess=*/Value(), rowScale,
                                /*columnScale=*/Value());
        return buildEpilogue(inner, epilogue, sum, bias, factor, Value());
      });
}

Value tfc::buildExpertProduct(ImplicitLocOpBuilder &b,
                              transformer::ExpertLinearOp op) {
  Epilogue epilogue;
  epilogue.act = op.getAct();
  epilogue.bias = op.getBias();
  epilogue.factor = op.getFactor();
  epilogue.element = elementOf(op);
  epilogue.rowScales = op.getInputScales();
  epilogue.groupScales = op.getWeightScales();
  epilogue.groupZeros = op.getWeightZeros();
  transformer::WeightOp packed = findPanels(b, op.getWeight());
  if (epilogue.groupScales && !findPanels(b, epilogue.groupScales)) {
    Value own = packed ? Value(packed) : op.getWeight();
    Value sums =
        buildGroupProduct(b, op.getInput(), own, epilogue, op.getExperts());
    return finishSums(b, op, sums, epilogue);
  }
  return packed ? buildPanelProduct(b, op.getInput(), packed, epilogue,
                                    op.getExperts())
                : finishSums(b, op, buildRowSums(b, op), epilogue);
}

namespace {

/// expert_linear -> product of rows of experts with its epilogue
struct LowerExpertLinear : OpRewritePattern<transformer::ExpertLinearOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::ExpertLinearOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, buildExpertProduct(b, op));
    return success();
  }
};

/// combine -> map that reads the rows where they are, one after the other
struct LowerCombine : OpRewritePattern<transformer::CombineOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::CombineOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value input = op.getInput();
    FloatType kept = elementOf(op);
    int64_t width = transformer::widthOf(input);
    Value init = emptyRows(b, op.getPlaces(), width, kept);
    int64_t terms = transformer::widthOf(op.getPlaces());
    auto body = [&](OpBuilder &builder, Location loc, ValueRange) {
      ImplicitLocOpBuilder inner(loc, builder);
      Value row = linalg::IndexOp::create(inner, 0);
      Value column = linalg::IndexOp::create(inner, 1);
      Value sum;
      for (int64_t j = 0; j < terms; ++j) {
        Value place[] = {row, arith::ConstantIndexOp::create(inner, j)};
        Value from = toIndex(
            inner, tensor::ExtractOp::create(inner, op.getPlaces(), place));
        Value weight = tensor::ExtractOp::create(inner, op.getWeights(), place);
        Value x =
            tensor::ExtractOp::create(inner, input, ValueRange{from, column});
        Value wide = convertFloat(inner, x, inner.getF32Type());
        Value term = arith::MulFOp::create(inner, weight, wide);
        sum = sum ? arith::AddFOp::create(inner, sum, term).getResult() : term;
      }
      linalg::YieldOp::create(inner, convertFloat(inner, sum, kept));
    };
    SmallVector<utils::IteratorType> iterators(2,
                                               utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, init.getType(), ValueRange(), init,
        ArrayRef<AffineMap>{b.getMultiDimIdentityMap(2)}, iterators, body);
    return success();
  }
};

/// clamped_gate -> map
struct LowerClampedGate : OpRewritePattern<transformer::ClampedGateOp> {
  LowerClampedGate(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::ClampedGateOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    double alpha = op.getAlpha().convertToDouble();
    double limit = op.getLimit().convertToDouble();
    // Numbers that are none stay so: they show that something was wrong.
    auto least = [&](ImplicitLocOpBuilder &inner, Value x) -> Value {
      return arith::MinimumFOp::create(inner, x, f32Constant(inner, limit));
    };
    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
      Value u = least(inner, v[0]), g = least(inner, v[1]);
      u = arith::MaximumFOp::create(inner, u, f32Constant(inner, -limit));
      Value raised = math::ExpOp::create(
          inner, arith::MulFOp::create(inner, g, f32Constant(inner, -alpha)));
      Value one = f32Constant(inner, 1);
      Value product =
          arith::MulFOp::create(inner, arith::AddFOp::create(inner, u, one), g);
      return arith::DivFOp::create(inner, product,
                                   arith::AddFOp::create(inner, raised, one));
    };
    rewriter.replaceOp(
        op, mapRows(b, op.getInput(), {{op.getGate(), Broadcast::None}},
                    {elementOf(op), lastUses.contains(op.getInputMutable())},
                    body));
    return success();
  }

  const LastUses &lastUses;
};

/// gate_rows -> map of the rows' parts
struct LowerGateRows : OpRewritePattern<transformer::GateRowsOp> {
  LowerGateRows(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::GateRowsOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value gate = tensor::CollapseShapeOp::create(
        b, op.getGate(), ArrayRef<ReassociationIndices>{{0, 1}});
    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
      return arith::MulFOp::create(inner, v[0],
                                   buildActivation(inner, op.getAct(), v[1]));
    };
    Value parts = cutRows(b, op.getInput(), transformer::widthOf(op.getGate()));
    Value gated =
        mapRows(b, parts, {{gate, Broadcast::AlongRow}},
                {elementOf(op), lastUses.contains(op.getInputMutable())}, body);
    rewriter.replaceOp(op, joinRows(b, gated, op.getInput()));
    return success();
  }

  const LastUses &lastUses;
};

} // namespace

void tfc::populateExpertPatterns(RewritePatternSet &patterns,
                                 const LastUses &lastUses) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerRoute, LowerScaleExperts, LowerGroupBy, LowerExpertLinear,
               LowerCombine>(context);
  patterns.add<LowerGateRows, LowerClampedGate>(context, lastUses);
}
