// Rows that are vectors are shared out in a warp, or in a block.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "compiler/gpu/rows/WarpRow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tfc {
#define GEN_PASS_DEF_DISTRIBUTEVECTORSPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// A number that is read into all columns is one number.
static void readNumbers(Operation *root) {
  SmallVector<vector::TransferReadOp> reads;
  root->walk([&](vector::TransferReadOp read) {
    bool isNumber = read.getPermutationMap().isConstant() &&
                    isa<MemRefType>(read.getBase().getType()) &&
                    !read.getMask() && !read.hasOutOfBoundsDim();
    if (isNumber) {
      reads.push_back(read);
    }
  });
  for (vector::TransferReadOp read : reads) {
    OpBuilder b(read);
    Value number = memref::LoadOp::create(b, read.getLoc(), read.getBase(),
                                          read.getIndices());
    Value all =
        vector::BroadcastOp::create(b, read.getLoc(), read.getType(), number);
    read.replaceAllUsesWith(all);
    read.erase();
  }
}

/// The length of the vectors that `loop` computes with, if they have one, and
/// all that it does with them is known.
static std::optional<int64_t> findWidth(scf::ParallelOp loop) {
  std::optional<int64_t> width;
  if (loop.getNumReductions() != 0 ||
      loop->getParentOfType<scf::ParallelOp>()) {
    return std::nullopt;
  }
  for (Operation &op : loop.getBody()->without_terminator()) {
    for (TypeRange types :
         {TypeRange(op.getOperandTypes()), TypeRange(op.getResultTypes())}) {
      for (Type type : types) {
        auto vector = dyn_cast<VectorType>(type);
        if (!vector) {
          continue;
        }
        if (vector.getRank() != 1 ||
            (width && *width != vector.getDimSize(0))) {
          return std::nullopt;
        }
        width = vector.getDimSize(0);
      }
    }
    if (!WarpRow::isKnown(&op)) {
      return std::nullopt;
    }
  }
  return width;
}

/// A loop of as many items, whose last axis is the lane.
static void distribute(scf::ParallelOp loop, int64_t width) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> lower(loop.getLowerBound()), upper(loop.getUpperBound()),
      step(loop.getStep());
  lower.push_back(arith::ConstantIndexOp::create(b, 0));
  upper.push_back(arith::ConstantIndexOp::create(b, WarpRow::lanesOf(width)));
  step.push_back(arith::ConstantIndexOp::create(b, 1));
  auto lanes = scf::ParallelOp::create(b, lower, upper, step);
  b.setInsertionPointToStart(lanes.getBody());
  SmallVector<Value> places(lanes.getInductionVars());
  Value lane = places.pop_back_val();
  WarpRow row(b, lane, width);
  row.map(ValueRange(loop.getInductionVars()), places);
  for (Operation &op : loop.getBody()->without_terminator()) {
    b.setLoc(op.getLoc());
    row.emit(&op);
  }
  loop.erase();
}

namespace {
struct DistributeVectorsPass
    : tfc::impl::DistributeVectorsPassBase<DistributeVectorsPass> {
  void runOnOperation() override {
    readNumbers(getOperation());
    SmallVector<std::pair<scf::ParallelOp, int64_t>> found;
    getOperation().walk([&](scf::ParallelOp loop) {
      if (std::optional<int64_t> width = findWidth(loop)) {
        found.emplace_back(loop, *width);
      }
    });
    for (auto [loop, width] : found) {
      distribute(loop, width);
      ++numLoops;
    }
    // Whoever read them has a number now.
    getOperation().walk([](arith::ConstantOp op) {
      if (isa<VectorType>(op.getType()) && op.use_empty()) {
        op.erase();
      }
    });
  }
};
} // namespace
