// Vector transfers on buffers become loads and stores at plain addresses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tfc {
#define GEN_PASS_DEF_LOWERCONTRACTIONSPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

namespace {

/// broadcast(load of one float) -> broadcast(scalar load): LLVM's loop strength
/// reduction finds the short addressing only where it knows the address to be
/// in bounds.
struct LoadScalar : OpRewritePattern<vector::BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::BroadcastOp op,
                                PatternRewriter &rewriter) const override {
    auto load = op.getSource().getDefiningOp<vector::LoadOp>();
    if (!load || load.getVectorType().getNumElements() != 1) {
      return rewriter.notifyMatchFailure(op, "not a load of one float");
    }
    Value scalar = memref::LoadOp::create(rewriter, op.getLoc(), load.getBase(),
                                          load.getIndices());
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, op.getType(), scalar);
    return success();
  }
};

struct LowerContractionsPass
    : tfc::impl::LowerContractionsPassBase<LowerContractionsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
    vector::populateVectorTransferLoweringPatterns(patterns,
                                                   /*maxTransferRank=*/1);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    memref::populateFoldMemRefAliasOpPatterns(patterns);
    patterns.add<LoadScalar>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      signalPassFailure();
    }
  }
};

} // namespace
