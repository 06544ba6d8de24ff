// Cuts the roots into tiles, one level of their strategy at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/tiling/Passes.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace tfc {
#define GEN_PASS_DEF_TILEANDFUSEPASS
#include "compiler/tiling/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;
using transformer::StrategyAttr;

static StrategyAttr strategyOf(Operation *op) {
  return op->getAttrOfType<StrategyAttr>(transformer::kStrategyAttrName);
}

namespace {
struct TileAndFusePass : tfc::impl::TileAndFusePassBase<TileAndFusePass> {
  using Base::Base;

  /// Takes this level's sizes out of the strategy of `op`, so that its tiles
  /// inherit the others only.
  SmallVector<int64_t> takeSizes(Operation *op) {
    StrategyAttr strategy = strategyOf(op);
    SmallVector<int64_t> parallel(strategy.getParallel()),
        rows(strategy.getRows()), reduction(strategy.getReduction()), sizes;
    std::swap(sizes, level == "parallel" ? parallel
                     : level == "rows"   ? rows
                                         : reduction);
    if (parallel.empty() && rows.empty() && reduction.empty()) {
      op->removeAttr(transformer::kStrategyAttrName);
    } else {
      op->setAttr(
          transformer::kStrategyAttrName,
          StrategyAttr::get(op->getContext(), parallel, rows, reduction));
    }
    return sizes;
  }

  ArrayRef<int64_t> sizesOf(StrategyAttr strategy) const {
    return level == "parallel" ? strategy.getParallel()
           : level == "rows"   ? strategy.getRows()
                               : strategy.getReduction();
  }

  /// A size for every loop of `op`, and none of its reductions except where the
  /// level is theirs.
  LogicalResult expectSizes(TilingInterface op, ArrayRef<int64_t> sizes) {
    SmallVector<utils::IteratorType> loops = op.getLoopIteratorTypes();
    if (loops.size() != sizes.size()) {
      return op.emitOpError()
             << "expected " << loops.size() << " sizes in " << level
             << " of its strategy (one for each loop), got " << sizes.size();
    }
    for (auto [dim, size] : llvm::enumerate(sizes)) {
      if (size != 0 && level != "reduction" &&
          loops[dim] == utils::IteratorType::reduction) {
        return op.emitOpError()
               << "expected size 0 for loop " << dim << " in " << level
               << " of its strategy (it is a reduction), got " << size;
      }
    }
    return success();
  }

  /// The loop over the steps of a reduction, or over the columns of a row,
  /// around the op alone. Steps of one are taken in turn; of longer ones each
  /// place has a sum of its own, and these are added up at the end.
  LogicalResult tileReduction(TilingInterface op, ArrayRef<int64_t> sizes,
                              scf::SCFTilingOptions options,
                              IRRewriter &rewriter) {
    SmallVector<unsigned> reduced;
    bool partial = false;
    for (auto [dim, iterator] : llvm::enumerate(op.getLoopIteratorTypes())) {
      if (iterator == utils::IteratorType::reduction && sizes[dim] != 0) {
        reduced.push_back(dim);
        partial |= sizes[dim] > 1;
      }
    }
    if (partial) {
      options.setReductionDims(reduced);
      options.setReductionTilingStrategy(
          ReductionTilingStrategy::PartialReductionOuterReduction);
    }
    FailureOr<scf::SCFTilingResult> result =
        scf::tileUsingSCF(rewriter, op, options);
    if (failed(result)) {
      return failure();
    }
    if (!reduced.empty()) {
      for (LoopLikeOpInterface loop : result->loops) {
        loop->setAttr(transformer::kReductionLoopAttrName,
                      rewriter.getUnitAttr());
      }
    }
    rewriter.replaceOp(op, result->replacements);
    return success();
  }

  LogicalResult tileRows(TilingInterface op,
                         const scf::SCFTilingOptions &options,
                         IRRewriter &rewriter) {
    scf::SCFTileAndFuseOptions fuse;
    fuse.setTilingOptions(options);
    fuse.setFusionControlFn(
        [](tensor::ExtractSliceOp, OpResult producer,
           bool) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
          // Another root has items of its own; fusing it would compute it again
          // in each of ours.
          // Its loop, if it is tiled already, would be copied in the same way,
          // and so would a call of whole layers, or a structured op.
          StrategyAttr strategy = strategyOf(producer.getOwner());
          if (isa<LoopLikeOpInterface, CallOpInterface>(producer.getOwner()) ||
              isa<transformer::TransformerDialect>(
                  producer.getOwner()->getDialect()) ||
              (strategy && !strategy.getParallel().empty())) {
            return std::nullopt;
          }
          return scf::SCFTileAndFuseOptions::ControlFnResult{};
        });
    FailureOr<scf::SCFTileAndFuseResult> result =
        scf::tileConsumerAndFuseProducersUsingSCF(rewriter, op, fuse);
    if (failed(result)) {
      return failure();
    }
    for (auto [from, to] : result->replacements) {
      rewriter.replaceAllUsesWith(from, to);
    }
    if (isOpTriviallyDead(op)) {
      rewriter.eraseOp(op);
    }
    return success();
  }

  void runOnOperation() override {
    if (level != "parallel" && level != "rows" && level != "reduction") {
      getOperation().emitError()
          << "expected level parallel, rows or reduction, got \"" << level
          << '"';
      return signalPassFailure();
    }
    SmallVector<TilingInterface> roots;
    getOperation().walk([&](TilingInterface op) {
      if (strategyOf(op) && !sizesOf(strategyOf(op)).empty()) {
        roots.push_back(op);
      }
    });
    IRRewriter rewriter(&getContext());
    for (TilingInterface op : roots) {
      scf::SCFTilingOptions options;
      SmallVector<int64_t> sizes = takeSizes(op);
      if (failed(expectSizes(op, sizes))) {
        return signalPassFailure();
      }
      options.setTileSizes(getAsIndexOpFoldResult(&getContext(), sizes));
      options.setLoopType(level == "parallel"
                              ? scf::SCFTilingOptions::LoopType::ForallOp
                              : scf::SCFTilingOptions::LoopType::ForOp);
      rewriter.setInsertionPoint(op);
      LogicalResult result = level == "reduction"
                                 ? tileReduction(op, sizes, options, rewriter)
                                 : tileRows(op, options, rewriter);
      if (failed(result)) {
        op.emitOpError() << "expected an op that can be cut into tiles in "
                         << level << " of its strategy";
        return signalPassFailure();
      }
    }
  }
};
} // namespace
