// Vectors of a tile, on buffers, become vectors of one row by lanes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/Passes.h"

#include "compiler/cpu/TilePieces.h"
#include "compiler/support/PassOptions.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tfc {
#define GEN_PASS_DEF_SPLITTILESPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// What `write` stores, as the chain of pure ops before it in `block`: those
/// that may move before it, in order.
static SmallVector<Operation *> chainBefore(Operation *write, Block &block) {
  llvm::SetVector<Operation *> chain;
  std::function<void(Operation *)> visit = [&](Operation *op) {
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || producer->getBlock() != &block ||
          producer->getNumRegions() != 0 || !isPure(producer) ||
          chain.contains(producer) ||
          producer->hasTrait<OpTrait::ConstantLike>()) {
        continue;
      }
      visit(producer);
      chain.insert(producer);
    }
  };
  visit(write);
  // An op moves only if whoever uses it earlier moves with it.
  llvm::SmallPtrSet<Operation *, 32> movable;
  for (Operation *op : llvm::reverse(chain)) {
    if (llvm::all_of(op->getUsers(), [&](Operation *user) {
          Operation *ancestor = block.findAncestorOpInBlock(*user);
          return !ancestor || ancestor == write || movable.contains(ancestor) ||
                 write->isBeforeInBlock(ancestor);
        })) {
      movable.insert(op);
    }
  }
  return llvm::to_vector(llvm::make_filter_range(
      chain, [&](Operation *op) { return movable.contains(op); }));
}

/// Puts what a store writes right before it: else every intermediate of a tile
/// is alive at once, and spills.
static void orderDepthFirst(Block &block) {
  SmallVector<Operation *> writes;
  for (Operation &op : block) {
    if (isa<vector::StoreOp>(op)) {
      writes.push_back(&op);
    }
  }
  for (Operation *write : writes) {
    for (Operation *op : chainBefore(write, block)) {
      op->moveBefore(write);
    }
  }
}

namespace {
struct SplitTilesPass : tfc::impl::SplitTilesPassBase<SplitTilesPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    return expectAtLeast(*this, context, "lanes", 1, lanes);
  }

  LogicalResult foldViews() {
    RewritePatternSet patterns(&getContext());
    memref::populateFoldMemRefAliasOpPatterns(patterns);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }

  void runOnOperation() override {
    if (failed(foldViews())) {
      return signalPassFailure();
    }
    PieceTypes types(lanes);
    RewritePatternSet patterns(&getContext());
    populateTilePiecePatterns(types, patterns);
    ConversionTarget target(getContext());
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns,
                                                         target);
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      // What is LLVM's is in registers, which hold twice the lanes of 16 bits.
      if (isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect())) {
        return true;
      }
      return !isa<vector::TransferReadOp, vector::TransferWriteOp,
                  vector::MultiDimReductionOp>(op) &&
             llvm::none_of(op->getOperandTypes(),
                           [&](Type t) { return types.isTile(t); }) &&
             llvm::none_of(op->getResultTypes(),
                           [&](Type t) { return types.isTile(t); });
    });
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns)))) {
      return signalPassFailure();
    }
    getOperation().walk([](Block *block) { orderDepthFirst(*block); });
  }
};

} // namespace
