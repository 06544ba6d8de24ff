// Static tiles become vectors, reductions keep theirs in registers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/tiling/Passes.h"

#include "compiler/support/PassOptions.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace tfc {
#define GEN_PASS_DEF_VECTORIZEPASS
#include "compiler/tiling/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

namespace {

/// Runs the steps on one function.
class Vectorizer {
public:
  Vectorizer(func::FuncOp function, int64_t unroll)
      : function(function), context(function.getContext()), rewriter(context),
        canonical(canonicalPatterns()), unroll(unroll) {}

  LogicalResult run() {
    if (failed(dropUnitDimensions()) || failed(vectorizeTiles())) {
      return failure();
    }
    hoistAccumulators();
    RewritePatternSet fma(context);
    populateUpliftToFMAPatterns(fma);
    apply(std::move(fma));
    canonicalize();
    unrollReductions();
    return success();
  }

private:
  FrozenRewritePatternSet canonicalPatterns() {
    RewritePatternSet patterns(context);
    for (Dialect *dialect : context->getLoadedDialects()) {
      dialect->getCanonicalizationPatterns(patterns);
    }
    for (RegisteredOperationName op : context->getRegisteredOperations()) {
      op.getCanonicalizationPatterns(patterns, context);
    }
    return FrozenRewritePatternSet(std::move(patterns));
  }

  /// These only simplify: where they do not converge, what is left is correct.
  void apply(const FrozenRewritePatternSet &patterns) {
    if (failed(applyPatternsGreedily(function, patterns))) {
      function.emitWarning() << "expected tiles that can be simplified to the "
                                "end: slow";
    }
  }
  void canonicalize() { apply(canonical); }

  /// A tile of one row, or of one column, becomes a vector of the other axis.
  LogicalResult dropUnitDimensions() {
    // A named op, such as fill, has no form with fewer dimensions.
    SmallVector<linalg::LinalgOp> named;
    function.walk([&](linalg::LinalgOp op) {
      if (!op.hasDynamicShape() && !isa<linalg::GenericOp>(op)) {
        named.push_back(op);
      }
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op))) {
        return op.emitOpError() << "expected an op with a general form";
      }
    }
    RewritePatternSet patterns(context);
    linalg::ControlDropUnitDims control;
    control.rankReductionStrategy =
        linalg::ControlDropUnitDims::RankReductionStrategy::ExtractInsertSlice;
    // Ops of dynamic shape stay as they are.
    control.controlFn = [](Operation *op) -> SmallVector<unsigned> {
      auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      if (!linalgOp || linalgOp.hasDynamicShape()) {
        return {};
      }
      return llvm::to_vector(llvm::seq<unsigned>(0, linalgOp.getNumLoops()));
    };
    linalg::populateFoldUnitExtentDimsPatterns(patterns, control);
    tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
    apply(std::move(patterns));
    canonicalize();
    return success();
  }

  LogicalResult vectorizeTiles() {
    SmallVector<linalg::LinalgOp> tiles;
    function.walk([&](linalg::LinalgOp op) {
      // A gather is no tile, however static.
      if (!op.hasDynamicShape() &&
          op.getBlock()->getOps<tensor::ExtractOp>().empty()) {
        tiles.push_back(op);
      }
    });
    for (linalg::LinalgOp op : tiles) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::VectorizationResult> result =
          linalg::vectorize(rewriter, op);
      if (failed(result)) {
        return op.emitOpError() << "expected a tile that can be vectorised";
      }
      rewriter.replaceOp(op, result->replacements);
    }
    RewritePatternSet patterns(context);
    tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(patterns);
    vector::TransferReadOp::getCanonicalizationPatterns(patterns, context);
    vector::TransferWriteOp::getCanonicalizationPatterns(patterns, context);
    apply(std::move(patterns));
    return success();
  }

  SmallVector<scf::ForOp> reductionLoops() {
    SmallVector<scf::ForOp> loops;
    function.walk([&](scf::ForOp loop) {
      if (loop->hasAttr(transformer::kReductionLoopAttrName)) {
        loops.push_back(loop);
      }
    });
    return loops;
  }

  void hoistAccumulators() {
    for (scf::ForOp loop : reductionLoops()) {
      moveLoopInvariantCode(loop);
      LoopLikeOpInterface hoisted = hoistLoopInvariantSubsets(rewriter, loop);
      hoisted->setAttr(transformer::kReductionLoopAttrName,
                       rewriter.getUnitAttr());
    }
  }

  void unrollReductions() {
    for (scf::ForOp loop : reductionLoops()) {
      loop->removeAttr(transformer::kReductionLoopAttrName);
      if (unroll > 1 && failed(loopUnrollByFactor(loop, unroll))) {
        loop.emitWarning() << "expected a loop that can be unrolled: slow";
      }
    }
  }

  func::FuncOp function;
  MLIRContext *context;
  IRRewriter rewriter;
  FrozenRewritePatternSet canonical;
  int64_t unroll;
};

struct VectorizePass : tfc::impl::VectorizePassBase<VectorizePass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    return expectAtLeast(*this, context, "unroll", 1, unroll);
  }

  void runOnOperation() override {
    if (failed(Vectorizer(getOperation(), unroll).run())) {
      signalPassFailure();
    }
  }
};

} // namespace
