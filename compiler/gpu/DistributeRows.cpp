// Sums and greatest values along a row become the work of a warp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tfc {
#define GEN_PASS_DEF_DISTRIBUTEROWSPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Lanes of a warp.
static constexpr int64_t kLanes = 32;

namespace {
/// A loop along a row that gathers into one place: `place = place + f(k)`.
struct RowReduction {
  scf::ForOp loop;
  memref::LoadOp load; // of what there was before
  Operation *combine = nullptr;
  memref::StoreOp store;
};
} // namespace

/// Whether `op` may be done in any order, by whom in whatever share: of floats,
/// what a reassociated sum rounds otherwise is accepted here.
static bool isReassociable(Operation *op) {
  return isa<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp>(op) &&
         op->getResult(0).getType().isF32();
}

/// Whether `op` changes nothing that others see.
static bool onlyReads(Operation *op) {
  return isMemoryEffectFree(op) || isa<memref::LoadOp>(op);
}

/// The reduction that the body of `loop` is, if it is one.
static std::optional<RowReduction> matchReduction(scf::ForOp loop) {
  RowReduction found;
  found.loop = loop;
  if (loop.getNumRegionIterArgs() != 0) {
    return std::nullopt;
  }
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto store = dyn_cast<memref::StoreOp>(op);
    if ((!store && !onlyReads(&op)) || op.getNumRegions() != 0 ||
        (store && found.store)) {
      return std::nullopt;
    }
    found.store = store ? store : found.store;
  }
  if (!found.store) {
    return std::nullopt;
  }
  found.combine = found.store.getValue().getDefiningOp();
  if (!found.combine || !isReassociable(found.combine)) {
    return std::nullopt;
  }
  for (auto load : loop.getBody()->getOps<memref::LoadOp>()) {
    if (load.getMemRef() != found.store.getMemRef()) {
      continue;
    }
    if (found.load || load.getIndices() != found.store.getIndices()) {
      return std::nullopt;
    }
    found.load = load;
  }
  bool isWhole = found.load && found.load->hasOneUse() &&
                 llvm::is_contained(found.combine->getOperands(),
                                    found.load.getResult()) &&
                 found.combine->hasOneUse() &&
                 llvm::all_of(found.store.getIndices(), [&](Value index) {
                   return loop.isDefinedOutsideOfLoop(index);
                 });
  return isWhole ? std::optional(found) : std::nullopt;
}

/// The reduction that an item of a parallel loop is, but for what it computes
/// before. Rows that have no element for each lane stay with one thread.
static std::optional<RowReduction> matchItem(scf::ParallelOp loop) {
  if (loop.getNumReductions() != 0 ||
      loop->getParentOfType<scf::ParallelOp>()) {
    return std::nullopt;
  }
  Operation *last = loop.getBody()->getTerminator()->getPrevNode();
  auto row = dyn_cast_or_null<scf::ForOp>(last);
  std::optional<llvm::APInt> length =
      row ? row.getStaticTripCount() : std::nullopt;
  if (!row || !length || length->slt(kLanes)) {
    return std::nullopt;
  }
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (&op != row && !onlyReads(&op)) {
      return std::nullopt;
    }
  }
  return matchReduction(row);
}

/// What a lane gathers: every 32nd element from its own on.
static Value gather(ImplicitLocOpBuilder &b, RowReduction &row, Value lane,
                    IRMapping &mapping) {
  scf::ForOp loop = row.loop;
  Value step = mapping.lookupOrDefault(loop.getStep());
  Value first =
      arith::AddIOp::create(b, mapping.lookupOrDefault(loop.getLowerBound()),
                            arith::MulIOp::create(b, lane, step));
  Value lanes = arith::ConstantIndexOp::create(b, kLanes);
  Value neutral =
      arith::ConstantOp::create(b, *arith::getNeutralElement(row.combine));
  auto share = scf::ForOp::create(
      b, first, mapping.lookupOrDefault(loop.getUpperBound()),
      arith::MulIOp::create(b, step, lanes), ValueRange(neutral));
  mapping.map(loop.getInductionVar(), share.getInductionVar());
  mapping.map(row.load.getResult(), share.getRegionIterArg(0));
  OpBuilder body = OpBuilder::atBlockEnd(share.getBody());
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (&op != row.load && &op != row.store) {
      body.clone(op, mapping);
    }
  }
  scf::YieldOp::create(body, b.getLoc(),
                       mapping.lookup(row.combine->getResult(0)));
  return share.getResult(0);
}

/// `combine` of two values.
static Value combineTwo(ImplicitLocOpBuilder &b, Operation *combine, Value x,
                        Value y) {
  IRMapping mapping;
  mapping.map(combine->getOperand(0), x);
  Operation *clone = b.clone(*combine, mapping);
  clone->setOperands({x, y});
  return clone->getResult(0);
}

/// All lanes have the same bits then, as each pair of them adds the same two.
static Value exchange(ImplicitLocOpBuilder &b, Operation *combine,
                      Value value) {
  for (int32_t distance = kLanes / 2; distance > 0; distance /= 2) {
    Value other = gpu::ShuffleOp::create(b, value, distance, kLanes,
                                         gpu::ShuffleMode::XOR)
                      .getShuffleResult();
    value = combineTwo(b, combine, value, other);
  }
  return value;
}

/// A loop of as many items, whose last axis is the lane.
static void distribute(scf::ParallelOp loop, RowReduction &row) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> lower(loop.getLowerBound()), upper(loop.getUpperBound()),
      step(loop.getStep());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  lower.push_back(zero);
  upper.push_back(arith::ConstantIndexOp::create(b, kLanes));
  step.push_back(arith::ConstantIndexOp::create(b, 1));
  auto lanes = scf::ParallelOp::create(b, lower, upper, step);
  b.setInsertionPointToStart(lanes.getBody());
  IRMapping mapping;
  SmallVector<Value> places(lanes.getInductionVars());
  Value lane = places.pop_back_val();
  mapping.map(ValueRange(loop.getInductionVars()), ValueRange(places));
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (&op != row.loop) {
      b.clone(op, mapping);
    }
  }
  Value whole = exchange(b, row.combine, gather(b, row, lane, mapping));
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, zero);
  auto branch = scf::IfOp::create(b, isFirst);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> place =
      llvm::map_to_vector(row.store.getIndices(), [&](Value index) {
        return mapping.lookupOrDefault(index);
      });
  Value memory = mapping.lookupOrDefault(row.store.getMemRef());
  Value before = memref::LoadOp::create(b, memory, place);
  memref::StoreOp::create(b, combineTwo(b, row.combine, before, whole), memory,
                          place);
  loop.erase();
}

namespace {
struct DistributeRowsPass
    : tfc::impl::DistributeRowsPassBase<DistributeRowsPass> {
  void runOnOperation() override {
    SmallVector<std::pair<scf::ParallelOp, RowReduction>> found;
    getOperation().walk([&](scf::ParallelOp loop) {
      if (std::optional<RowReduction> row = matchItem(loop)) {
        found.emplace_back(loop, *row);
      }
    });
    for (auto &[loop, row] : found) {
      distribute(loop, row);
      ++numRows;
    }
  }
};
} // namespace
