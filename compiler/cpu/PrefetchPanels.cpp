// Products over tiles of many rows ask for their weights ahead of time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {
#define GEN_PASS_DEF_PREFETCHPANELSPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

static constexpr int64_t kLineBytes = 64;

/// Whether `read` is one row of a buffer, repeated for at least `rows` rows of
/// the tile, and contiguous in memory.
static bool isRepeatedRow(vector::TransferReadOp read, int64_t rows) {
  AffineMap map = read.getPermutationMap();
  return read.getVectorType().getRank() == 2 &&
         read.getVectorType().getDimSize(0) >= rows &&
         isa<MemRefType>(read.getShapedType()) &&
         isa<AffineConstantExpr>(map.getResult(0)) &&
         map.getResult(1) ==
             getAffineDimExpr(map.getNumDims() - 1, map.getContext());
}

/// The dimension of the buffer along which the loop goes, if the read's index
/// there is the induction variable plus a constant.
static std::optional<unsigned> findSteppedDim(vector::TransferReadOp read,
                                              scf::ForOp loop) {
  for (auto [dim, index] : llvm::enumerate(read.getIndices())) {
    Operation *op = index.getDefiningOp();
    if (index == loop.getInductionVar() ||
        (op && op->getParentRegion() == &loop.getRegion() &&
         llvm::is_contained(op->getOperands(), loop.getInductionVar()))) {
      return dim;
    }
  }
  return std::nullopt;
}

namespace {
struct PrefetchPanelsPass
    : tfc::impl::PrefetchPanelsPassBase<PrefetchPanelsPass> {
  using Base::Base;

  void prefetch(vector::TransferReadOp read, unsigned dim) {
    ImplicitLocOpBuilder b(read.getLoc(), read);
    SmallVector<Value> indices = read.getIndices();
    indices[dim] = arith::AddIOp::create(
        b, indices[dim], arith::ConstantIndexOp::create(b, distance));
    VectorType type = read.getVectorType();
    int64_t perLine = kLineBytes * 8 / type.getElementTypeBitWidth();
    Value first = indices.back();
    for (int64_t column = 0; column < type.getDimSize(1); column += perLine) {
      indices.back() = arith::AddIOp::create(
          b, first, arith::ConstantIndexOp::create(b, column));
      memref::PrefetchOp::create(b, read.getBase(), indices,
                                 /*isWrite=*/false, /*localityHint=*/2,
                                 /*isDataCache=*/true);
    }
  }

  void runOnOperation() override {
    getOperation().walk([&](vector::TransferReadOp read) {
      auto loop = dyn_cast<scf::ForOp>(read->getParentOp());
      if (!loop || !isRepeatedRow(read, rows)) {
        return;
      }
      if (std::optional<unsigned> dim = findSteppedDim(read, loop)) {
        prefetch(read, *dim);
      }
    });
  }
};
} // namespace
