// Row loops: full tiles, then a switch over what is left.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/tiling/Passes.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace tfc {
#define GEN_PASS_DEF_SPECIALIZEREMAINDERPASS
#include "compiler/tiling/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Fills `region` with the body of `loop` for exactly `rows` rows. Every size
/// in the body is an affine expression of the end and the induction variable,
/// so with end = begin + rows the canonicalizer folds it to a constant.
static void buildCase(IRRewriter &rewriter, scf::ForOp loop, int64_t rows,
                      Region &region) {
  Location loc = loop.getLoc();
  rewriter.createBlock(&region);
  AffineExpr begin = rewriter.getAffineDimExpr(0);
  Value end = affine::AffineApplyOp::create(
      rewriter, loc, AffineMap::get(1, 0, begin + rows), loop.getLowerBound());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), loop.getLowerBound());
  mapping.map(loop.getUpperBound(), end);
  mapping.map(loop.getRegionIterArgs(), loop.getInitArgs());
  for (Operation &op : loop.getBody()->without_terminator()) {
    rewriter.clone(op, mapping);
  }
  SmallVector<Value> results;
  for (Value value : loop.getBody()->getTerminator()->getOperands()) {
    results.push_back(mapping.lookupOrDefault(value));
  }
  scf::YieldOp::create(rewriter, loc, results);
}

/// for i = lb to ub step R, at most once
///   -> index_switch (ub - lb) { case r: the body for r rows }
static void switchOverRows(IRRewriter &rewriter, scf::ForOp loop,
                           int64_t step) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  AffineExpr end, begin;
  bindDims(rewriter.getContext(), end, begin);
  Value left = affine::makeComposedAffineApply(
      rewriter, loc, AffineMap::get(2, 0, end - begin),
      {loop.getUpperBound(), loop.getLowerBound()});
  auto cases = llvm::to_vector(llvm::seq<int64_t>(1, step));
  auto op = scf::IndexSwitchOp::create(rewriter, loc, loop.getResultTypes(),
                                       left, cases, cases.size());
  for (auto [rows, region] : llvm::zip(cases, op.getCaseRegions())) {
    buildCase(rewriter, loop, rows, region);
  }
  rewriter.createBlock(&op.getDefaultRegion());
  scf::YieldOp::create(rewriter, loc, loop.getInitArgs());
  rewriter.replaceOp(loop, op.getResults());
}

namespace {
struct SpecializeRemainderPass
    : tfc::impl::SpecializeRemainderPassBase<SpecializeRemainderPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(transformer::kRowLoopAttrName)) {
        loops.push_back(loop);
      }
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops) {
      loop->removeAttr(transformer::kRowLoopAttrName);
      std::optional<int64_t> step = getConstantIntValue(loop.getStep());
      scf::ForOp partial;
      rewriter.setInsertionPoint(loop);
      // Fails where the rows are a static multiple of the tile: nothing is
      // left.
      if (step && succeeded(scf::peelForLoopAndSimplifyBounds(rewriter, loop,
                                                              partial))) {
        switchOverRows(rewriter, partial, *step);
      }
    }
  }
};
} // namespace
