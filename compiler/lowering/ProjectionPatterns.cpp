// Products, activations and the row-wise ops around them to linalg.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/GroupProduct.h"

#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace tfc;

/// x/2 (1 + f)
static Value halfOnePlus(ImplicitLocOpBuilder &b, Value x, Value f) {
  Value half = arith::MulFOp::create(b, x, f32Constant(b, 0.5));
  Value sum = arith::AddFOp::create(b, f, f32Constant(b, 1));
  return arith::MulFOp::create(b, half, sum);
}

static Value buildGelu(ImplicitLocOpBuilder &b, Value x) {
  Value scaled = arith::MulFOp::create(b, x, f32Constant(b, M_SQRT1_2));
  return halfOnePlus(b, x, math::ErfOp::create(b, scaled));
}

static Value buildGeluNew(ImplicitLocOpBuilder &b, Value x) {
  Value square = arith::MulFOp::create(b, x, x);
  Value cube = arith::MulFOp::create(b, square, x);
  Value small = arith::MulFOp::create(b, cube, f32Constant(b, 0.044715));
  Value sum = arith::AddFOp::create(b, x, small);
  Value scaled =
      arith::MulFOp::create(b, sum, f32Constant(b, std::sqrt(2 / M_PI)));
  return halfOnePlus(b, x, math::TanhOp::create(b, scaled));
}

/// How steep the sigmoid is that stands in for gelu (Hendrycks and Gimpel 2016,
/// arXiv:1606.08415).
static constexpr double kQuickGeluSlope = 1.702;

/// x / (1 + exp(-slope x))
static Value buildSilu(ImplicitLocOpBuilder &b, Value x, double slope = 1) {
  Value power = slope == 1
                    ? arith::NegFOp::create(b, x).getResult()
                    : arith::MulFOp::create(b, x, f32Constant(b, -slope));
  Value exponential = math::ExpOp::create(b, power);
  Value sum = arith::AddFOp::create(b, exponential, f32Constant(b, 1));
  return arith::DivFOp::create(b, x, sum);
}

/// 1 / (1 + exp(-x))
static Value buildSigmoid(ImplicitLocOpBuilder &b, Value x) {
  Value exponential = math::ExpOp::create(b, arith::NegFOp::create(b, x));
  Value one = f32Constant(b, 1);
  return arith::DivFOp::create(b, one,
                               arith::AddFOp::create(b, exponential, one));
}

/// max(x, 0) + log(1 + e) with e = exp(-|x|). Where e is small the rounding of
/// 1 + e is most of it: the logarithm is times e over what of e is left there.
static Value buildSoftplus(ImplicitLocOpBuilder &b, Value x) {
  Value size = math::AbsFOp::create(b, x);
  Value e = math::ExpOp::create(b, arith::NegFOp::create(b, size));
  Value one = f32Constant(b, 1), zero = f32Constant(b, 0);
  Value sum = arith::AddFOp::create(b, e, one);
  Value left = arith::SubFOp::create(b, sum, one);
  Value scaled = arith::MulFOp::create(b, math::LogOp::create(b, sum),
                                       arith::DivFOp::create(b, e, left));
  Value isLost =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, left, zero);
  return arith::AddFOp::create(b, arith::MaximumFOp::create(b, x, zero),
                               arith::SelectOp::create(b, isLost, e, scaled));
}

/// exp(x) - 1. Near zero the rounding of exp(x) is most of the difference:
/// there it is the first terms of the exponential's series, of which the next
/// is below a rounding of the sum.
static Value buildExpM1(ImplicitLocOpBuilder &b, Value x) {
  constexpr double kNear = 0.5;
  constexpr int kTerms = 8;
  double factor = 1;
  for (int term = 2; term <= kTerms; ++term) {
    factor /= term;
  }
  Value sum = f32Constant(b, factor);
  for (int term = kTerms; term > 1; --term) {
    factor *= term;
    sum = math::FmaOp::create(b, x, sum, f32Constant(b, factor));
  }
  Value near = arith::MulFOp::create(b, x, sum);
  Value far =
      arith::SubFOp::create(b, math::ExpOp::create(b, x), f32Constant(b, 1));
  Value isNear =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                            math::AbsFOp::create(b, x), f32Constant(b, kNear));
  return arith::SelectOp::create(b, isNear, near, far);
}

Value tfc::buildActivation(ImplicitLocOpBuilder &b, transformer::Activation act,
                           Value x) {
  switch (act) {
  case transformer::Activation::Identity:
    return x;
  case transformer::Activation::Gelu:
    return buildGelu(b, x);
  case transformer::Activation::GeluNew:
    return buildGeluNew(b, x);
  case transformer::Activation::Relu:
    // maximum, not maxnum: a NaN stays one.
    return arith::MaximumFOp::create(b, x, f32Constant(b, 0));
  case transformer::Activation::Silu:
    return buildSilu(b, x);
  case transformer::Activation::Tanh:
    return math::TanhOp::create(b, x);
  case transformer::Activation::Relu2: {
    Value positive = arith::MaximumFOp::create(b, x, f32Constant(b, 0));
    return arith::MulFOp::create(b, positive, positive);
  }
  case transformer::Activation::Sigmoid:
    return buildSigmoid(b, x);
  case transformer::Activation::Softplus:
    return buildSoftplus(b, x);
  case transformer::Activation::QuickGelu:
    return buildSilu(b, x, kQuickGeluSlope);
  }
  llvm_unreachable("all activations are listed");
}

Value tfc::buildEpilogue(ImplicitLocOpBuilder &b, const Epilogue &epilogue,
                         Value product, Value bias, Value factor,
                         Value residual) {
  Value y = product;
  if (bias) {
    y = arith::AddFOp::create(b, y, bias);
  }
  y = buildActivation(b, epilogue.act, y);
  if (factor) {
    y = arith::MulFOp::create(b, y, factor);
  }
  if (residual) {
    y = arith::AddFOp::create(b, y, residual);
  }
  return y;
}

Value tfc::buildScaled(ImplicitLocOpBuilder &b, Value sum, Value excess,
                       Value rowScale, Value columnScale) {
  if (excess) {
    sum = arith::SubIOp::create(b, sum, excess);
  }
  Value y = sum.getType().isF32()
                ? sum
                : arith::SIToFPOp::create(b, b.getF32Type(), sum);
  y = rowScale ? arith::MulFOp::create(b, y, rowScale).getResult() : y;
  return columnScale ? arith::MulFOp::create(b, y, columnScale) : y;
}

/// sum + x w: of floats in f32, also where w is an integer; of bytes in i32.
static Value buildTerm(ImplicitLocOpBuilder &b, Value x, Value w, Value sum) {
  if (sum.getType().isInteger()) {
    Value wide = arith::ExtSIOp::create(b, sum.getType(), x);
    Value other = arith::ExtSIOp::create(b, sum.getType(), w);
    return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, wide, other));
  }
  auto widen = [&](Value value) -> Value {
    return value.getType().isInteger()
               ? arith::SIToFPOp::create(b, b.getF32Type(), value)
               : convertFloat(b, value, b.getF32Type());
  };
  Value term = arith::MulFOp::create(b, widen(x), widen(w));
  return arith::AddFOp::create(b, sum, term);
}

/// y[t,n] = sum_k x[t,k] w[n,k]
static Value buildRowSums(ImplicitLocOpBuilder &b, Value x, Value weight,
                          Type sums) {
  MLIRContext *context = b.getContext();
  AffineExpr t, n, k;
  bindDims(context, t, n, k);
  SmallVector<AffineMap> maps = {AffineMap::get(3, 0, {t, k}, context),
                                 AffineMap::get(3, 0, {n, k}, context),
                                 AffineMap::get(3, 0, {t, n}, context)};
  Value empty = emptyRows(b, x, transformer::rowsOf(weight), sums);
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(sums));
  Value zero = linalg::FillOp::create(b, none, empty).getResult(0);
  SmallVector<utils::IteratorType> iterators = {utils::IteratorType::parallel,
                                                utils::IteratorType::parallel,
                                                utils::IteratorType::reduction};
  return linalg::GenericOp::create(
             b, zero.getType(), ValueRange{x, weight}, zero, maps, iterators,
             [](OpBuilder &builder, Location loc, ValueRange v) {
               ImplicitLocOpBuilder inner(loc, builder);
               linalg::YieldOp::create(inner,
                                       buildTerm(inner, v[0], v[1], v[2]));
             })
      .getResult(0);
}

/// What is done to the sums, in their place.
static Value finishProduct(ImplicitLocOpBuilder &b, Value product,
                           const Epilogue &epilogue) {
  SmallVector<RowInput> inputs;
  auto add = [&](Value value, Broadcast broadcast) {
    if (value) {
      inputs.push_back({value, broadcast});
    }
    return static_cast<bool>(value);
  };
  bool isScaled = add(epilogue.rowScales, Broadcast::AlongRow);
  bool hasColumns = add(epilogue.columnScales, Broadcast::AlongColumn);
  bool bias = add(epilogue.bias, Broadcast::AlongColumn);
  bool factor = add(epilogue.factor, Broadcast::None);
  bool residual = add(epilogue.residual, Broadcast::None);
  FloatType element = epilogue.element ? epilogue.element : b.getF32Type();
  if (epilogue.isEmpty() && !hasColumns && element.isF32()) {
    return product;
  }
  return mapRows(
      b, product, inputs, {element, /*inPlace=*/true, epilogue.destination},
      [&](ImplicitLocOpBuilder &inner, ValueRange v) {
        size_t next = 1;
        auto take = [&](bool given) { return given ? v[next++] : Value(); };
        Value rowScale = take(isScaled), columnScale = take(hasColumns);
        Value biasValue = take(bias), factorValue = take(factor);
        Value sum =
            buildScaled(inner, v[0], /*excess=*/Value(), rowScale, columnScale);
        return buildEpilogue(inner, epilogue, sum, biasValue, factorValue,
                             take(residual));
      });
}

static Value buildProduct(ImplicitLocOpBuilder &b, Value x, Value weight,
                          const Epilogue &epilogue) {
  transformer::WeightOp packed = findPanels(b, weight);
  if (epilogue.groupScales && !findPanels(b, epilogue.groupScales)) {
    Value own = packed ? Value(packed) : weight;
    return finishProduct(b, buildGroupProduct(b, x, own, epilogue), epilogue);
  }
  if (packed) {
    return buildPanelProduct(b, x, packed, epilogue);
  }
  Type sums = epilogue.rowScales ? Type(b.getI32Type()) : b.getF32Type();
  return finishProduct(b, buildRowSums(b, x, weight, sums), epilogue);
}

static Value mapActivation(ImplicitLocOpBuilder &b, transformer::Activation act,
                           Value x, Destination to) {
  return mapRows(b, x, {}, to, [&](ImplicitLocOpBuilder &inner, ValueRange v) {
    return buildActivation(inner, act, v[0]);
  });
}

namespace {

/// linear -> product with its epilogue
struct LowerLinear : OpRewritePattern<transformer::LinearOp> {
  LowerLinear(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::LinearOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Epilogue epilogue;
    epilogue.rowScales = op.getInputScales();
    (hasGroups(op) ? epilogue.groupScales : epilogue.columnScales) =
        op.getWeightScales();
    epilogue.groupZeros = op.getWeightZeros();
    epilogue.bias = op.getBias();
    epilogue.act = op.getAct();
    epilogue.factor = op.getFactor();
    epilogue.residual = op.getResidual();
    epilogue.element = elementOf(op);
    epilogue.destination = lastUses.findDeadPlace(op);
    rewriter.replaceOp(
        op, buildProduct(b, op.getInput(), op.getWeight(), epilogue));
    return success();
  }

  const LastUses &lastUses;
};

/// activation -> map
struct LowerActivation : OpRewritePattern<transformer::ActivationOp> {
  LowerActivation(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::ActivationOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op, mapActivation(
                b, op.getAct(), op.getInput(),
                {elementOf(op), lastUses.contains(op.getInputMutable())}));
    return success();
  }

  const LastUses &lastUses;
};

/// all_reduce -> the host's sum, where the rows are
struct LowerAllReduce : OpRewritePattern<transformer::AllReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::AllReduceOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<transformer::ReduceInPlaceOp>(op, op.getType(),
                                                              op.getInput());
    return success();
  }
};

/// add -> map, onto the operand that nobody needs afterwards
struct LowerAdd : OpRewritePattern<transformer::AddOp> {
  LowerAdd(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::AddOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value onto = op.getLhs(), other = op.getRhs();
    bool inPlace = lastUses.contains(op.getLhsMutable());
    if (!inPlace && lastUses.contains(op.getRhsMutable())) {
      std::swap(onto, other);
      inPlace = true;
    }
    rewriter.replaceOp(
        op,
        mapRows(b, onto, {{other, Broadcast::None}}, {elementOf(op), inPlace},
                [](ImplicitLocOpBuilder &inner, ValueRange v) {
                  return arith::AddFOp::create(inner, v[0], v[1]);
                }));
    return success();
  }

  const LastUses &lastUses;
};

/// scale -> map
struct LowerScale : OpRewritePattern<transformer::ScaleOp> {
  LowerScale(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::ScaleOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    double factor = op.getFactor().convertToDouble();
    rewriter.replaceOp(
        op, mapRows(b, op.getInput(), {},
                    {elementOf(op), lastUses.contains(op.getInputMutable())},
                    [&](ImplicitLocOpBuilder &inner, ValueRange v) {
                      return arith::MulFOp::create(inner, v[0],
                                                   f32Constant(inner, factor));
                    }));
    return success();
  }

  const LastUses &lastUses;
};

/// clamp -> map
struct LowerClamp : OpRewritePattern<transformer::ClampOp> {
  LowerClamp(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::ClampOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    double least = op.getLeast().convertToDouble();
    rewriter.replaceOp(
        op, mapRows(b, op.getInput(), {},
                    {elementOf(op), lastUses.contains(op.getInputMutable())},
                    [&](ImplicitLocOpBuilder &inner, ValueRange v) {
                      return arith::MaximumFOp::create(
                          inner, v[0], f32Constant(inner, least));
                    }));
    return success();
  }

  const LastUses &lastUses;
};

/// xielu -> map
struct LowerXielu : OpRewritePattern<transformer::XieluOp> {
  LowerXielu(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::XieluOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    double beta = op.getBeta().convertToDouble();
    double least = op.getLeast().convertToDouble();
    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
      Value x = v[0];
      auto number = [&](double value) { return f32Constant(inner, value); };
      auto slope = [&](Value of) {
        return buildActivation(inner, transformer::Activation::Softplus, of);
      };
      Value p = slope(v[1]);
      Value n = arith::AddFOp::create(inner, slope(v[2]), number(beta));
      Value above =
          arith::MulFOp::create(inner, arith::MulFOp::create(inner, p, x), x);
      // minimum, not minnum: a NaN stays one.
      Value raised =
          buildExpM1(inner, arith::MinimumFOp::create(inner, x, number(least)));
      Value below = arith::SubFOp::create(inner, raised, x);
      below = arith::MulFOp::create(inner, n, below);
      Value isAbove =
          arith::CmpFOp::create(inner, arith::CmpFPredicate::OGT, x, number(0));
      Value curved = arith::SelectOp::create(inner, isAbove, above, below);
      return arith::AddFOp::create(
          inner, curved, arith::MulFOp::create(inner, number(beta), x));
    };
    rewriter.replaceOp(
        op, mapRows(b, op.getInput(),
                    {{op.getPositive(), Broadcast::Everywhere},
                     {op.getNegative(), Broadcast::Everywhere}},
                    {elementOf(op), lastUses.contains(op.getInputMutable())},
                    body));
    return success();
  }

  const LastUses &lastUses;
};

/// layer_scale -> map
struct LowerLayerScale : OpRewritePattern<transformer::LayerScaleOp> {
  LowerLayerScale(MLIRContext *context, const LastUses &lastUses)
      : OpRewritePattern(context), lastUses(lastUses) {}

  LogicalResult matchAndRewrite(transformer::LayerScaleOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    bool isOne = op.getWeight().getType().getDimSize(0) == 1;
    auto body = [](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
      return arith::MulFOp::create(inner, v[1], v[0]);
    };
    rewriter.replaceOp(
        op, mapRows(b, op.getInput(),
                    {{op.getWeight(),
                      isOne ? Broadcast::Everywhere : Broadcast::AlongColumn}},
                    {elementOf(op), lastUses.contains(op.getInputMutable())},
                    body));
    return success();
  }

  const LastUses &lastUses;
};

/// Where the columns of slice_columns begin.
static OpFoldResult firstColumn(ImplicitLocOpBuilder &b,
                                transformer::SliceColumnsOp op) {
  if (!op.getLayer()) {
    return b.getIndexAttr(op.getFirst());
  }
  Value width = arith::ConstantIndexOp::create(b, op.getWidth());
  Value before = arith::MulIOp::create(b, op.getLayer(), width);
  Value first = arith::ConstantIndexOp::create(b, op.getFirst());
  return arith::AddIOp::create(b, before, first).getResult();
}

/// slice_columns -> view, where whoever reads it takes rows with gaps between
/// them
struct ViewSliceColumns : OpRewritePattern<transformer::SliceColumnsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::SliceColumnsOp op,
                                PatternRewriter &rewriter) const override {
    Value input = op.getInput();
    auto isStrided = [](Operation *user) {
      return user->hasTrait<transformer::AcceptsStridedRows>();
    };
    if (elementOf(input) != elementOf(op) ||
        !llvm::all_of(op->getUsers(), isStrided)) {
      return rewriter.notifyMatchFailure(op, "a user takes dense rows only");
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value rows = tensor::DimOp::create(b, input, 0);
    auto index = [&](int64_t value) { return b.getIndexAttr(value); };
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, input, ArrayRef<OpFoldResult>{index(0), firstColumn(b, op)},
        ArrayRef<OpFoldResult>{rows, index(op.getWidth())},
        ArrayRef<OpFoldResult>{index(1), index(1)});
    return success();
  }
};

/// slice_columns -> map that reads the columns where they are
struct LowerSliceColumns : OpRewritePattern<transformer::SliceColumnsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::SliceColumnsOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value input = op.getInput();
    FloatType kept = elementOf(op);
    Value init = emptyRows(b, input, op.getWidth(), kept);
    OpFoldResult begin = firstColumn(b, op);
    auto identity = b.getMultiDimIdentityMap(2);
    SmallVector<utils::IteratorType> iterators(2,
                                               utils::IteratorType::parallel);
    auto body = [&](OpBuilder &builder, Location loc, ValueRange) {
      Value row = linalg::IndexOp::create(builder, loc, 0);
      Value column = linalg::IndexOp::create(builder, loc, 1);
      Value first = mlir::getValueOrCreateConstantIndexOp(builder, loc, begin);
      Value from = arith::AddIOp::create(builder, loc, column, first);
      ImplicitLocOpBuilder inner(loc, builder);
      Value element =
          tensor::ExtractOp::create(inner, input, ValueRange{row, from});
      linalg::YieldOp::create(inner, convertFloat(inner, element, kept));
    };
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, init.getType(), ValueRange(), init, ArrayRef<AffineMap>{identity},
        iterators, body);
    return success();
  }
};

} // namespace

void tfc::populateProjectionPatterns(RewritePatternSet &patterns,
                                     const LastUses &lastUses) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerLinear, LowerActivation, LowerAdd, LowerScale, LowerClamp,
               LowerXielu, LowerLayerScale>(context, lastUses);
  patterns.add<LowerAllReduce, LowerSliceColumns>(context);
  patterns.add<ViewSliceColumns>(context, /*benefit=*/2);
}
