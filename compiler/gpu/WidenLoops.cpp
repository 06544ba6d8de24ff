// Items of parallel loops that lie side by side become one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "compiler/gpu/rows/WideItem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tfc {
#define GEN_PASS_DEF_WIDENLOOPSPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Bytes that an item should store at once.
static constexpr int64_t kAccessBytes = 16;
/// Ops of the longest body: vectors of more would fill the registers.
static constexpr int64_t kMostOps = 32;

/// How many items of the loop are to be one; 1 for a loop that stays.
static int64_t chooseCount(scf::ParallelOp loop) {
  Block::iterator end = loop.getBody()->without_terminator().end();
  if (loop->getParentOfType<scf::ParallelOp>() ||
      std::distance(loop.getBody()->begin(), end) > kMostOps) {
    return 1;
  }
  int64_t bytes = 0;
  for (auto store : loop.getBody()->getOps<memref::StoreOp>()) {
    Type element = store.getMemRefType().getElementType();
    if (!element.isIntOrFloat()) {
      return 1;
    }
    bytes = std::max<int64_t>(bytes, element.getIntOrFloatBitWidth() / 8);
  }
  int64_t count = bytes == 0 ? 1 : kAccessBytes / bytes;
  while (count > 1 && !WideItem::suits(loop, count)) {
    count /= 2;
  }
  return count;
}

/// A loop whose last axis goes by `count`.
static void widen(scf::ParallelOp loop, int64_t count) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> upper(loop.getUpperBound());
  int64_t last = *getConstantIntValue(upper.back());
  upper.back() = arith::ConstantIndexOp::create(b, last / count);
  auto wide =
      scf::ParallelOp::create(b, loop.getLowerBound(), upper, loop.getStep());
  b.setInsertionPointToStart(wide.getBody());
  SmallVector<Value> places(wide.getInductionVars());
  places.back() = arith::MulIOp::create(
      b, places.back(), arith::ConstantIndexOp::create(b, count));
  WideItem(b, loop, count).emit(places);
  loop.erase();
}

namespace {
struct WidenLoopsPass : tfc::impl::WidenLoopsPassBase<WidenLoopsPass> {
  void runOnOperation() override {
    SmallVector<scf::ParallelOp> loops;
    getOperation().walk([&](scf::ParallelOp loop) { loops.push_back(loop); });
    for (scf::ParallelOp loop : loops) {
      if (int64_t count = chooseCount(loop); count > 1) {
        widen(loop, count);
        ++numLoops;
      }
    }
  }
};
} // namespace
