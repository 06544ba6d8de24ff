// Parallel loops that do not need each other become one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "compiler/gpu/rows/LoopAccesses.h"
#include "compiler/kernel/ParallelLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tfc {
#define GEN_PASS_DEF_JOINLOOPSPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

namespace {

/// Loops behind each other, and what they access.
struct Run {
  SmallVector<scf::ParallelOp> loops;
  SmallVector<LoopAccess> accesses;
};

} // namespace

/// Whether loops may be moved behind `op`: nothing happens there that they
/// could see.
static bool isPassive(Operation *op) {
  return isMemoryEffectFree(op) || isa<memref::AllocOp, LLVM::LoadOp>(op);
}

/// Runs of loops of `block` in which none needs another.
static SmallVector<Run> findRuns(Block &block) {
  SmallVector<Run> runs;
  bool isOpen = false;
  for (Operation &op : block) {
    auto loop = dyn_cast<scf::ParallelOp>(op);
    if (!loop) {
      isOpen &= isPassive(&op);
      continue;
    }
    std::optional<SmallVector<LoopAccess>> accesses = listAccesses(loop);
    if (!accesses || loop.getNumReductions() != 0) {
      isOpen = false;
      continue;
    }
    if (!isOpen || !areIndependent(runs.back().accesses, *accesses)) {
      runs.emplace_back();
    }
    runs.back().loops.push_back(loop);
    llvm::append_range(runs.back().accesses, *accesses);
    isOpen = true;
  }
  llvm::erase_if(runs, [](const Run &run) { return run.loops.size() < 2; });
  return runs;
}

namespace {

/// One of the loops, what is known of it outside of the joined loop.
struct Part {
  scf::ParallelOp loop;
  Value count;
  SmallVector<Value> extents;
};

} // namespace

/// Item `item` of the first of `parts`, or of those behind it.
static void buildParts(ImplicitLocOpBuilder &b, Value item,
                       ArrayRef<Part> parts) {
  const Part &first = parts.front();
  auto buildFirst = [&] {
    IRMapping mapping;
    buildItem(b, first.loop, splitItem(b, item, first.extents), mapping);
  };
  if (parts.size() == 1) {
    return buildFirst();
  }
  Value isOwn =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, item, first.count);
  auto branch = scf::IfOp::create(b, isOwn, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  buildFirst();
  b.setInsertionPointToStart(branch.elseBlock());
  Value rest = arith::SubIOp::create(b, item, first.count);
  buildParts(b, rest, parts.drop_front());
}

/// A loop over the items of all, one loop's behind the other's, where the last
/// of them is.
static void join(ArrayRef<scf::ParallelOp> loops) {
  SmallVector<Location> locations;
  for (scf::ParallelOp loop : loops) {
    locations.push_back(loop.getLoc());
  }
  OpBuilder builder(loops.back());
  ImplicitLocOpBuilder b(builder.getFusedLoc(locations), builder);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  SmallVector<Part> parts;
  Value total;
  for (scf::ParallelOp loop : loops) {
    Value count = buildItemCount(b, loop);
    parts.push_back({loop, count, buildExtents(b, loop, IRMapping())});
    total = total ? arith::AddIOp::create(b, total, count).getResult() : count;
  }
  auto joined = scf::ParallelOp::create(b, zero, total, one);
  b.setInsertionPointToStart(joined.getBody());
  buildParts(b, joined.getInductionVars().front(), parts);
  for (scf::ParallelOp loop : loops) {
    loop.erase();
  }
}

namespace {
struct JoinLoopsPass : tfc::impl::JoinLoopsPassBase<JoinLoopsPass> {
  void runOnOperation() override {
    SmallVector<Run> runs;
    getOperation().walk([&](Block *block) {
      if (!isa<scf::ParallelOp>(block->getParentOp()) &&
          !block->getParentOp()->getParentOfType<scf::ParallelOp>()) {
        llvm::append_range(runs, findRuns(*block));
      }
    });
    for (const Run &run : runs) {
      join(run.loops);
      numLoops += run.loops.size();
    }
  }
};
} // namespace
