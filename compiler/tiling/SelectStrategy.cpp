// Writes tile sizes on the roots of tiling.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/tiling/Passes.h"

#include "compiler/support/ClearStatistics.h"
#include "compiler/support/PassOptions.h"
#include "compiler/tiling/Strategy.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tfc {
#define GEN_PASS_DEF_SELECTSTRATEGYPASS
#include "compiler/tiling/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// A map or a sum over rows: the first dimension is parallel and dynamic. Fills
/// belong to whoever takes them.
static bool isOverRows(linalg::LinalgOp op) {
  return !isa<linalg::FillOp>(op) && op.getNumLoops() > 0 &&
         op.getStaticLoopRanges().front() == ShapedType::kDynamic &&
         op.getIteratorTypesArray().front() == utils::IteratorType::parallel;
}

/// Whether the body is arithmetic of its arguments: no index, no memory.
static bool isElementwise(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) {
                        return OpTrait::hasElementwiseMappableTraits(&inner) ||
                               inner.hasTrait<OpTrait::ConstantLike>();
                      });
}

/// Columns of a row's tile: what four registers hold, or a little less where
/// the row is no multiple of it. 0: a long row that has no such divisor.
static int64_t findColumns(int64_t width, int64_t lanes) {
  int64_t most = 4 * lanes;
  if (width <= 2 * most) {
    return width;
  }
  for (int64_t columns = most; columns >= lanes; --columns) {
    if (width % columns == 0) {
      return columns;
    }
  }
  return 0;
}

/// What multiplies: of four bits and bytes there is an instruction for all of a
/// word where there is one for bytes without a sign.
static transformer::ProductKind chooseKind(transformer::KernelOpInterface op,
                                           const Strategy &own) {
  if (own.isSigned && op.hasIntegerFactors()) {
    return own.matrices ? transformer::ProductKind::SignedMatrix
                        : transformer::ProductKind::SignedDot;
  }
  if (op.getWeightBits() == 4 && !own.excess) {
    return transformer::ProductKind::Pairs;
  }
  if (op.hasIntegerFactors() || (own.dots && op.hasNarrowFactors())) {
    return transformer::ProductKind::Dot;
  }
  return own.byLane ? transformer::ProductKind::LaneFma
                    : transformer::ProductKind::Fma;
}

namespace {
struct SelectStrategyPass
    : tfc::impl::SelectStrategyPassBase<SelectStrategyPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    return expectOneOf(*this, context, "target", listStrategies(), target);
  }

  void runOnOperation() override {
    clearStatistics(*this);
    Strategy table =
        chooseStrategy(target.getValue(), microarchitecture.getValue());
    MLIRContext *context = &getContext();
    auto set = [&](Operation *op, ArrayRef<int64_t> parallel,
                   ArrayRef<int64_t> rows, ArrayRef<int64_t> reduction) {
      op->setAttr(
          transformer::kStrategyAttrName,
          transformer::StrategyAttr::get(context, parallel, rows, reduction));
    };
    getOperation().walk([&](transformer::KernelOpInterface op) {
      Strategy own = chooseStrategy(
          target.getValue(), microarchitecture.getValue(), op.getWeightBits());
      op.setKernelTile(transformer::ProductTileAttr::get(
          context, chooseKind(op, own), own.rows, own.lanes, own.rowBlock,
          own.unroll, own.turnRows, own.prefetch, own.prefetchRows,
          own.blockBytes, own.nextBytes));
      ++numKernels;
    });
    getOperation().walk([&](linalg::LinalgOp op) {
      if (isOverRows(op)) {
        SmallVector<int64_t> parallel(op.getNumLoops(), 0), rows, columns;
        parallel.front() = table.mapRows;
        int64_t width = op.getStaticLoopRanges().back();
        int64_t tile = 0;
        if (op.getNumLoops() == 2 && !ShapedType::isDynamic(width) &&
            isElementwise(op)) {
          tile = findColumns(width, table.lanes);
        }
        if (tile != 0) {
          rows = {1, 0};
          columns = {0, tile};
        }
        set(op, parallel, rows, columns);
        ++numRoots;
      }
    });
  }
};
} // namespace
