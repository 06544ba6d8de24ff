// What parallel loops read and write, and whether that is apart.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/rows/LoopAccesses.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tfc;

Value tfc::findRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>()) {
    buffer = view.getViewSource();
  }
  Operation *op = buffer.getDefiningOp();
  bool isKnown = !op || isa<memref::AllocOp, memref::GetGlobalOp>(op);
  return isKnown ? buffer : Value();
}

static bool isAllocated(Value root) {
  return root && root.getDefiningOp<memref::AllocOp>();
}

std::optional<SmallVector<LoopAccess>> tfc::listAccesses(scf::ParallelOp loop) {
  SmallVector<LoopAccess> accesses;
  auto add = [&](Value buffer, bool isWrite) {
    Value root = findRoot(buffer);
    bool isOwn = isAllocated(root) && root.getParentBlock() == loop->getBlock();
    accesses.push_back(
        {root, cast<MemRefType>(buffer.getType()), isWrite, isOwn});
    return root ? WalkResult::advance() : WalkResult::interrupt();
  };
  WalkResult result = loop.getBody()->walk([&](Operation *op) -> WalkResult {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      return add(load.getMemRef(), /*isWrite=*/false);
    }
    if (auto load = dyn_cast<vector::LoadOp>(op)) {
      return add(load.getBase(), /*isWrite=*/false);
    }
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      return add(store.getMemRef(), /*isWrite=*/true);
    }
    if (auto store = dyn_cast<vector::StoreOp>(op)) {
      return add(store.getBase(), /*isWrite=*/true);
    }
    if (isa<LLVM::LoadOp, LLVM::StoreOp>(op)) {
      accesses.push_back({Value(), MemRefType(), isa<LLVM::StoreOp>(op)});
      return WalkResult::advance();
    }
    // Branches have what is in them; an address may lead anywhere, and what
    // lanes tell each other depends on which thread does which item.
    bool isKnown =
        isa<scf::IfOp, scf::ReduceOp, scf::YieldOp>(op) ||
        (isMemoryEffectFree(op) && !isa<gpu::GPUDialect>(op->getDialect()) &&
         !isa<memref::ExtractAlignedPointerAsIndexOp>(op));
    return isKnown ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (result.wasInterrupted()) {
    return std::nullopt;
  }
  return accesses;
}

/// Whether views of one buffer have no element in common: those of one lie
/// between those of the other, or behind them in each row.
static bool haveNothingInCommon(MemRefType a, MemRefType b) {
  SmallVector<int64_t> strides, others;
  int64_t offset, other;
  if (failed(a.getStridesAndOffset(strides, offset)) ||
      failed(b.getStridesAndOffset(others, other)) || strides != others ||
      a.getRank() < 2 || ShapedType::isDynamicShape(strides) ||
      ShapedType::isDynamic(offset) || ShapedType::isDynamic(other) ||
      ShapedType::isDynamic(a.getShape().back()) ||
      ShapedType::isDynamic(b.getShape().back())) {
    return false;
  }
  auto areMultiplesOf = [&](int64_t distance, ArrayRef<int64_t> all) {
    return distance > 0 && llvm::all_of(all, [&](int64_t stride) {
             return stride % distance == 0;
           });
  };
  int64_t inner = strides.back(), row = strides[strides.size() - 2];
  if (!areMultiplesOf(inner, strides)) {
    return false;
  }
  if ((offset - other) % inner != 0) {
    return true;
  }
  int64_t first = offset % row, second = other % row;
  int64_t firstEnd = first + (a.getShape().back() - 1) * inner + 1;
  int64_t secondEnd = second + (b.getShape().back() - 1) * inner + 1;
  return areMultiplesOf(row, ArrayRef(strides).drop_back()) &&
         firstEnd <= row && secondEnd <= row &&
         (firstEnd <= second || secondEnd <= first);
}

static bool areApart(const LoopAccess &a, const LoopAccess &b) {
  // What lies behind an address, the step's tables and the cache, is the
  // host's, and nothing that a step allocates.
  if (!a.root || !b.root) {
    return isAllocated(a.root) || isAllocated(b.root);
  }
  if (a.root != b.root) {
    return a.isOwn || b.isOwn;
  }
  return haveNothingInCommon(a.view, b.view);
}

bool tfc::areIndependent(ArrayRef<LoopAccess> a, ArrayRef<LoopAccess> b) {
  return llvm::all_of(a, [&](const LoopAccess &x) {
    return llvm::all_of(b, [&](const LoopAccess &y) {
      return (!x.isWrite && !y.isWrite) || areApart(x, y);
    });
  });
}
