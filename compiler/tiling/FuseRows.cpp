// What is done along rows becomes one loop over rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/tiling/Passes.h"

#include "compiler/support/PassOptions.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace tfc {
#define GEN_PASS_DEF_FUSEROWSPASS
#include "compiler/tiling/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Columns of the narrowest row that becomes a vector: one of one element is a
/// number to tfc-vectorize, and nobody's to share out.
static constexpr int64_t kFewestColumns = 2;

/// Whether `op` is arithmetic on rows, of at most `width` columns: a map, a sum
/// along them, or the value that a sum begins with.
static bool isOverRows(Operation *op, int64_t width) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics() ||
      linalgOp->getNumResults() != 1) {
    return false;
  }
  SmallVector<int64_t> ranges = linalgOp.getStaticLoopRanges();
  if (ranges.empty() || ranges.size() > 2 ||
      ranges.front() != ShapedType::kDynamic ||
      linalgOp.getIteratorTypesArray().front() !=
          utils::IteratorType::parallel) {
    return false;
  }
  bool isInside = ranges.size() == 1 ||
                  (ranges.back() != ShapedType::kDynamic &&
                   ranges.back() >= kFewestColumns && ranges.back() <= width);
  return isInside &&
         llvm::all_of(linalgOp.getBlock()->without_terminator(),
                      [](Operation &inner) {
                        return OpTrait::hasElementwiseMappableTraits(&inner) ||
                               inner.hasTrait<OpTrait::ConstantLike>();
                      });
}

static bool isSum(Operation *op) {
  return cast<linalg::LinalgOp>(op).getNumReductionLoops() != 0;
}

/// A map over rows: what a loop of its own is made for.
static bool isMap(Operation *op, int64_t width) {
  return isOverRows(op, width) &&
         cast<linalg::LinalgOp>(op).getNumLoops() == 2 && !isSum(op);
}

/// `op` that writes `place`, whose old value it does not read; null for a new
/// tensor.
static linalg::GenericOp moveTo(Value place, linalg::GenericOp op,
                                IRRewriter &rewriter) {
  Value init = op.getDpsInits().front();
  rewriter.setInsertionPoint(op);
  auto type = cast<RankedTensorType>(init.getType());
  if (!place) {
    place = tensor::EmptyOp::create(
        rewriter, op.getLoc(),
        tensor::getMixedSizes(rewriter, op.getLoc(), init),
        type.getElementType());
  }
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  // What it reads of its old place is one more input.
  inputs.push_back(init);
  maps.push_back(maps.back());
  auto moved = linalg::GenericOp::create(
      rewriter, op.getLoc(), type, inputs, place, maps,
      op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(op.getBody()->getArguments(), arguments.drop_back());
        for (Operation &inner : *op.getBody()) {
          b.clone(inner, mapping);
        }
      });
  rewriter.replaceOp(op, moved);
  return moved;
}

/// Whether `op` reads what it overwrites.
static bool isInPlace(linalg::GenericOp op) {
  return op.payloadUsesValueFromOperand(&op.getDpsInitsMutable()[0]);
}

/// Where `root` writes in the end, where it overwrites what maps of `own` have
/// overwritten before it; null where it does not.
static Value findPlace(linalg::LinalgOp root,
                       const llvm::SetVector<Operation *> &own) {
  auto map = dyn_cast<linalg::GenericOp>(root.getOperation());
  if (!map || !isInPlace(map)) {
    return {};
  }
  Value init = map.getDpsInits().front(), place = init;
  for (auto before = place.getDefiningOp<linalg::GenericOp>();
       before && own.contains(before) && !isSum(before) && isInPlace(before);
       before = place.getDefiningOp<linalg::GenericOp>()) {
    place = before.getDpsInits().front();
  }
  return place == init ? Value() : place;
}

/// A map that is computed to be copied to what a loop carries is computed
/// there.
static void fuseCopies(Operation *root, int64_t width, IRRewriter &rewriter) {
  SmallVector<linalg::CopyOp> copies;
  root->walk([&](linalg::CopyOp op) { copies.push_back(op); });
  for (linalg::CopyOp copy : copies) {
    Value place = copy.getOutputs().front(), from = copy.getInputs().front();
    auto map = from.getDefiningOp<linalg::GenericOp>();
    bool isLast = map && isMap(map, width) &&
                  map->getBlock() == copy->getBlock() &&
                  isa<BlockArgument>(place) &&
                  llvm::all_of(from.getUsers(), [&](Operation *user) {
                    return user == copy || isa<tensor::DimOp>(user);
                  });
    if (isLast) {
      linalg::GenericOp moved = moveTo(place, map, rewriter);
      rewriter.replaceOp(copy, moved);
    }
  }
}

namespace {
struct FuseRowsPass : tfc::impl::FuseRowsPassBase<FuseRowsPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    return expectAtLeast(*this, context, "width", 1, width);
  }

  /// Producers of `root` whose results are for it, or for each other, alone.
  llvm::SetVector<Operation *> collect(Operation *root) {
    llvm::SetVector<Operation *> own;
    own.insert(root);
    auto belongs = [&](Operation *op) {
      return isOverRows(op, width) && op->getBlock() == root->getBlock() &&
             llvm::all_of(op->getUsers(),
                          [&](Operation *user) { return own.contains(user); });
    };
    // Of those that several read, the last one to be found decides.
    for (bool isNew = true; isNew;) {
      isNew = false;
      for (Operation *op : own.getArrayRef().vec()) {
        for (Value operand : op->getOperands()) {
          Operation *producer = operand.getDefiningOp();
          if (producer && belongs(producer)) {
            isNew |= own.insert(producer);
          }
        }
      }
    }
    return own;
  }

  LogicalResult fuse(linalg::LinalgOp root, llvm::SetVector<Operation *> own,
                     IRRewriter &rewriter) {
    if (Value place = findPlace(root, own)) {
      own.remove(root);
      root =
          moveTo(place, cast<linalg::GenericOp>(root.getOperation()), rewriter);
      own.insert(root);
    }
    for (Operation *op : own.takeVector()) {
      // Inside of a loop a producer has no place but registers.
      auto map = dyn_cast<linalg::GenericOp>(op);
      bool isMoved = map && op != root && !isSum(op) && isInPlace(map);
      own.insert(isMoved ? moveTo(Value(), map, rewriter) : op);
    }
    scf::SCFTilingOptions tiling;
    tiling.setTileSizes({rewriter.getIndexAttr(1), rewriter.getIndexAttr(0)});
    tiling.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
    scf::SCFTileAndFuseOptions options;
    options.setTilingOptions(tiling);
    options.setFusionControlFn(
        [&](tensor::ExtractSliceOp, OpResult producer, bool)
            -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
          if (!own.contains(producer.getOwner())) {
            return std::nullopt;
          }
          return scf::SCFTileAndFuseOptions::ControlFnResult{};
        });
    rewriter.setInsertionPoint(root);
    FailureOr<scf::SCFTileAndFuseResult> result =
        scf::tileConsumerAndFuseProducersUsingSCF(
            rewriter, cast<TilingInterface>(root.getOperation()), options);
    if (failed(result)) {
      return root->emitOpError()
             << "expected an op over rows that can be cut into rows";
    }
    for (auto [from, to] : result->replacements) {
      rewriter.replaceAllUsesWith(from, to);
    }
    // A producer that several of them read has been fused as often.
    DominanceInfo dominance;
    for (LoopLikeOpInterface loop : result->loops) {
      // A row is read before it is overwritten, which is seen where both are of
      // one tensor.
      for (auto [init, own] :
           llvm::zip_equal(loop.getInits(), loop.getRegionIterArgs())) {
        replaceAllUsesInRegionWith(init, own, *loop.getLoopRegions().front());
      }
      eliminateCommonSubExpressions(rewriter, dominance, loop);
    }
    return success();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    fuseCopies(getOperation(), width, rewriter);
    SmallVector<linalg::LinalgOp> maps;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (isMap(op, width)) {
        maps.push_back(op);
      }
    });
    llvm::DenseSet<Operation *> gone;
    for (linalg::LinalgOp map : llvm::reverse(maps)) {
      if (gone.contains(map)) {
        continue;
      }
      llvm::SetVector<Operation *> own = collect(map);
      // Maps alone are as well off with an item for each element.
      if (llvm::none_of(own, isSum)) {
        continue;
      }
      gone.insert(own.begin(), own.end());
      if (failed(fuse(map, own, rewriter))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
