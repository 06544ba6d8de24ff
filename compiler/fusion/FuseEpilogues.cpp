// Activations and residuals join the product before them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/Passes.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tfc {
#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "compiler/fusion/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;
using namespace tfc::transformer;

/// Whether what is done to the product's result may be done before it is
/// rounded: it is not.
static bool isWide(LinearOp product) {
  return product.getType().getElementType().isF32();
}

namespace {

/// activation(linear(x, w)) -> linear(x, w) act
struct FuseActivation : OpRewritePattern<ActivationOp> {
  FuseActivation(MLIRContext *context, Pass::Statistic &numFused)
      : OpRewritePattern(context), numFused(numFused) {}

  LogicalResult matchAndRewrite(ActivationOp op,
                                PatternRewriter &rewriter) const override {
    auto product = op.getInput().getDefiningOp<LinearOp>();
    if (!product || !product->hasOneUse()) {
      return rewriter.notifyMatchFailure(op, "not the one use of a product");
    }
    if (product.getFactor() || product.getResidual() || !isWide(product) ||
        product.getAct() != Activation::Identity) {
      return rewriter.notifyMatchFailure(op, "the product has its epilogue");
    }
    rewriter.modifyOpInPlace(product, [&] {
      product.setAct(op.getAct());
      product.getResult().setType(op.getType());
      product->setLoc(rewriter.getFusedLoc({product.getLoc(), op.getLoc()}));
    });
    rewriter.replaceOp(op, product.getResult());
    ++numFused;
    return success();
  }

  Pass::Statistic &numFused;
};

/// add(x, product(y)) -> product(y) residual(x)
struct FuseResidual : OpRewritePattern<AddOp> {
  FuseResidual(MLIRContext *context, Pass::Statistic &numFused)
      : OpRewritePattern(context), numFused(numFused) {}

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [sum, other] : {std::pair{op.getRhs(), op.getLhs()},
                              std::pair{op.getLhs(), op.getRhs()}}) {
      auto product = sum.getDefiningOp<LinearOp>();
      if (!product || !product->hasOneUse() || product.getResidual() ||
          !isWide(product) || product->getBlock() != op->getBlock()) {
        continue;
      }
      // The residual may be computed after the product.
      rewriter.moveOpBefore(product, op);
      Value residual = other;
      rewriter.modifyOpInPlace(product, [&] {
        product.getResidualMutable().assign(residual);
        product.getResult().setType(op.getType());
        product->setLoc(rewriter.getFusedLoc({product.getLoc(), op.getLoc()}));
      });
      rewriter.replaceOp(op, product.getResult());
      ++numFused;
      return success();
    }
    return rewriter.notifyMatchFailure(op,
                                       "no operand is a product of its own");
  }

  Pass::Statistic &numFused;
};

struct FuseEpiloguesPass : tfc::impl::FuseEpiloguesPassBase<FuseEpiloguesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseActivation>(&getContext(), numActivations);
    patterns.add<FuseResidual>(&getContext(), numResiduals);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      signalPassFailure();
    }
  }
};

} // namespace
