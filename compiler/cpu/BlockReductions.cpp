// Reductions longer than the cache holds go over all tiles of an item block by
// block.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/Passes.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {
#define GEN_PASS_DEF_BLOCKREDUCTIONSPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

namespace {
/// A loop over an item's full tiles of rows, and the loop that sums up in it.
struct Reduction {
  scf::ForOp rows, steps;

  VectorType tile() { return cast<VectorType>(steps.getResult(0).getType()); }
  int64_t count() { return *getConstantIntValue(steps.getUpperBound()); }
  int64_t turn() { return *getConstantIntValue(steps.getStep()); }
};
} // namespace

/// What sums up one tile of as many rows as the loop around it goes on by.
static std::optional<Reduction> matchReduction(scf::ForOp steps) {
  auto rows = dyn_cast<scf::ForOp>(steps->getParentOp());
  if (!rows || rows.getNumResults() != 0 || steps.getNumResults() != 1 ||
      !isConstantIntValue(rows.getLowerBound(), 0) ||
      !isConstantIntValue(steps.getLowerBound(), 0) ||
      !getConstantIntValue(steps.getUpperBound()) ||
      !getConstantIntValue(steps.getStep())) {
    return std::nullopt;
  }
  auto tile = dyn_cast<VectorType>(steps.getResult(0).getType());
  if (!tile || tile.getRank() != 2 ||
      !isConstantIntValue(rows.getStep(), tile.getDimSize(0)) ||
      !rows.isDefinedOutsideOfLoop(steps.getInitArgs()[0])) {
    return std::nullopt;
  }
  return Reduction{rows, steps};
}

/// Whether the value does not depend on the tile, only on the step.
static bool isShared(Reduction reduction, Value value) {
  Operation *op = value.getDefiningOp();
  return value == reduction.steps.getInductionVar() ||
         reduction.rows.isDefinedOutsideOfLoop(value) ||
         (op && op->getParentOp() == reduction.steps && isPure(op) &&
          llvm::all_of(op->getOperands(), [&](Value operand) {
            return isShared(reduction, operand);
          }));
}

/// Bytes that a step reads for every tile alike.
static int64_t sharedBytes(Reduction reduction) {
  int64_t bytes = 0;
  for (auto read :
       reduction.steps.getBody()->getOps<vector::TransferReadOp>()) {
    if (llvm::all_of(read.getIndices(),
                     [&](Value index) { return isShared(reduction, index); })) {
      VectorType type = read.getVectorType();
      bytes += type.getDimSize(type.getRank() - 1) *
               type.getElementTypeBitWidth() / 8;
    }
  }
  return bytes / reduction.turn();
}

/// As few equal blocks of whole turns as have at most `most` steps each, and at
/// least half as many; none if the number of steps has no such divisor.
static std::optional<int64_t> findBlock(Reduction reduction, int64_t most) {
  int64_t turns = reduction.count() / reduction.turn();
  if (reduction.count() % reduction.turn() != 0) {
    return std::nullopt;
  }
  int64_t fewest =
      llvm::divideCeil(reduction.count(), std::max<int64_t>(most, 1));
  for (int64_t blocks = fewest; blocks <= 2 * fewest; ++blocks) {
    if (turns % blocks == 0) {
      return reduction.count() / blocks;
    }
  }
  return std::nullopt;
}

/// The sums of all tiles of an item, for each worker.
static Value allocateSums(Reduction reduction, int64_t block, Value workers) {
  Operation *outermost = reduction.rows;
  while (auto loop = outermost->getParentOfType<scf::ParallelOp>()) {
    outermost = loop;
  }
  OpBuilder b(outermost);
  VectorType tile = reduction.tile();
  auto type = MemRefType::get({ShapedType::kDynamic, block, tile.getDimSize(1)},
                              tile.getElementType());
  return memref::AllocOp::create(b, outermost->getLoc(), type, workers);
}

/// for r { sum = for k (zero); end(sum) }
///   -> for first { for r { x = first == 0 ? zero : sums[r]
///                          sum = for k from first (x)
///                          last ? end(sum) : sums[r] = sum } }
static void blockSteps(Reduction reduction, int64_t size, Value sums) {
  auto [rows, steps] = reduction;
  VectorType tile = reduction.tile();
  ImplicitLocOpBuilder b(steps.getLoc(), rows);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value all = steps.getUpperBound();
  Value place[] = {transformer::WorkerOp::create(b, b.getIndexType()),
                   rows.getInductionVar(), zero};
  auto inBounds = b.getBoolArrayAttr({true, true});
  auto identity = AffineMapAttr::get(AffineMap::getMinorIdentityMap(
      /*dims=*/3, /*results=*/2, b.getContext()));

  auto blocks =
      scf::ForOp::create(b, zero, all, arith::ConstantIndexOp::create(b, size));
  rows->moveBefore(blocks.getBody()->getTerminator());
  b.setInsertionPoint(rows);
  Value first = blocks.getInductionVar();
  // Without overflow, so that the number of steps of a block is known.
  Value end = arith::AddIOp::create(b, first, blocks.getStep(),
                                    arith::IntegerOverflowFlags::nsw);
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, first, zero);
  Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, end, all);

  b.setInsertionPoint(steps);
  auto init = scf::IfOp::create(b, TypeRange(tile), isFirst,
                                /*withElseRegion=*/true);
  b.setInsertionPointToStart(init.thenBlock());
  scf::YieldOp::create(b, steps.getInitArgs());
  b.setInsertionPointToStart(init.elseBlock());
  Value padding =
      arith::ConstantOp::create(b, b.getZeroAttr(tile.getElementType()));
  scf::YieldOp::create(
      b, ValueRange(vector::TransferReadOp::create(
             b, tile, sums, place, identity, padding, Value(), inBounds)));
  steps.getInitArgsMutable().assign(init.getResults());
  steps.setLowerBound(first);
  steps.setUpperBound(end);

  b.setInsertionPointAfter(steps);
  auto choice = scf::IfOp::create(b, isLast, /*withElseRegion=*/true);
  Block *body = rows.getBody();
  choice.thenBlock()->getOperations().splice(
      choice.thenBlock()->begin(), body->getOperations(),
      std::next(choice->getIterator()), body->getTerminator()->getIterator());
  b.setInsertionPointToStart(choice.elseBlock());
  vector::TransferWriteOp::create(b, steps.getResult(0), sums, place, identity,
                                  inBounds);
}

namespace {
struct BlockReductionsPass
    : tfc::impl::BlockReductionsPassBase<BlockReductionsPass> {
  using Base::Base;

  void runOnOperation() override {
    Value workers;
    for (BlockArgument argument : getOperation().getArguments()) {
      if (getOperation().getArgAttr(argument.getArgNumber(),
                                    transformer::kWorkersAttrName)) {
        workers = argument;
      }
    }
    SmallVector<Reduction> reductions;
    getOperation().walk([&](scf::ForOp steps) {
      if (std::optional<Reduction> reduction = matchReduction(steps)) {
        reductions.push_back(*reduction);
      }
    });
    for (Reduction reduction : reductions) {
      int64_t bytes = sharedBytes(reduction);
      if (!workers || bytes * reduction.count() <= blockBytes) {
        continue;
      }
      if (auto size = findBlock(reduction, blockBytes / bytes)) {
        blockSteps(reduction, *size, allocateSums(reduction, block, workers));
      }
    }
  }
};
} // namespace
