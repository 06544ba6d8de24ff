// Rows of integers to linalg.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/GroupProduct.h"

#include "compiler/kernel/Quantize.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tfc;

/// The greatest element of each row by size, as its bits.
static Value buildGreatest(ImplicitLocOpBuilder &b, Value x) {
  Value empty = emptyNumbers(b, x, b.getI32Type());
  Value least =
      linalg::FillOp::create(b, buildLeastGreatest(b), empty).getResult(0);
  return linalg::GenericOp::create(
             b, least.getType(), x, least,
             {mapOf(b.getContext(), Broadcast::None),
              mapOf(b.getContext(), Broadcast::AlongRow)},
             {utils::IteratorType::parallel, utils::IteratorType::reduction},
             [&](OpBuilder &builder, Location loc, ValueRange v) {
               ImplicitLocOpBuilder inner(loc, builder);
               Value wide = convertFloat(inner, v[0], inner.getF32Type());
               linalg::YieldOp::create(inner, buildGreater(inner, v[1], wide));
             })
      .getResult(0);
}

/// A number for each row: its step, or NaN where not all of it is finite.
static Value buildScales(ImplicitLocOpBuilder &b, Value greatest) {
  Value init = emptyNumbers(b, greatest, b.getF32Type());
  AffineMap rows = b.getMultiDimIdentityMap(1);
  return linalg::GenericOp::create(
             b, init.getType(), greatest, init, {rows, rows},
             {utils::IteratorType::parallel},
             [&](OpBuilder &builder, Location loc, ValueRange v) {
               ImplicitLocOpBuilder inner(loc, builder);
               linalg::YieldOp::create(inner, buildScale(inner, v[0]));
             })
      .getResult(0);
}

/// The integers, each `excess` too large, as `element`.
static Value buildIntegers(ImplicitLocOpBuilder &b, Value x, Value greatest,
                           Type element, int32_t excess) {
  auto rows = cast<RankedTensorType>(x.getType());
  Value init = emptyRows(b, x, rows.getDimSize(1), element);
  MLIRContext *context = b.getContext();
  return linalg::GenericOp::create(
             b, init.getType(), ValueRange{x, greatest}, init,
             {mapOf(context, Broadcast::None),
              mapOf(context, Broadcast::AlongRow),
              mapOf(context, Broadcast::None)},
             {utils::IteratorType::parallel, utils::IteratorType::parallel},
             [&](OpBuilder &builder, Location loc, ValueRange v) {
               ImplicitLocOpBuilder inner(loc, builder);
               Value wide = convertFloat(inner, v[0], inner.getF32Type());
               Value integer = buildInteger(inner, wide, v[1], excess);
               Value low = arith::TruncIOp::create(inner, element, integer);
               linalg::YieldOp::create(inner, low);
             })
      .getResult(0);
}

/// Whether the rows multiply integers that have groups: those are the factors
/// without a sign, so that these have one. No op reads them for others, too.
static bool isForGroups(transformer::QuantizeRowsOp op) {
  return llvm::any_of(op.getQuantized().getUsers(), [](Operation *user) {
    auto linear = dyn_cast<transformer::LinearOp>(user);
    return isa<transformer::ExpertLinearOp>(user) ||
           (linear && hasGroups(linear));
  });
}

namespace {

/// quantize_rows -> the greatest of a row, its scale, its integers
struct LowerQuantizeRows : OpRewritePattern<transformer::QuantizeRowsOp> {
  LowerQuantizeRows(MLIRContext *context, std::optional<IntegerRows> kernels)
      : OpRewritePattern(context), kernels(kernels) {}

  LogicalResult matchAndRewrite(transformer::QuantizeRowsOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value greatest = buildGreatest(b, op.getInput());
    Value scales = buildScales(b, greatest);
    auto form = isForGroups(op) ? std::nullopt : kernels;
    Value integers =
        buildIntegers(b, op.getInput(), greatest,
                      b.getIntegerType(form == IntegerRows::Wide ? 16 : 8),
                      form == IntegerRows::Excess ? kExcess : 0);
    rewriter.replaceOp(op, {integers, scales});
    return success();
  }

  std::optional<IntegerRows> kernels;
};

} // namespace

void tfc::populateQuantizePatterns(RewritePatternSet &patterns,
                                   std::optional<IntegerRows> kernels) {
  patterns.add<LowerQuantizeRows>(patterns.getContext(), kernels);
}
