// Attention and the cache become the work of a device's warps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "compiler/gpu/attention/ExpandCacheRows.h"
#include "compiler/gpu/attention/ExpandTensorAttention.h"
#include "compiler/gpu/attention/FloatAttention.h"
#include "compiler/gpu/attention/WarpAttention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tfc {
#define GEN_PASS_DEF_EXPANDDEVICEKERNELSPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Queries of an item where a warp does one.
static constexpr int64_t kWarpQueryRows = 1;

/// The types of the caches that `entry` gets.
static SmallVector<transformer::CacheType> listCaches(func::FuncOp entry) {
  SmallVector<transformer::CacheType> caches;
  for (Type type : entry.getArgumentTypes()) {
    if (auto cache = dyn_cast<transformer::CacheType>(type)) {
      caches.push_back(cache);
    }
  }
  return caches;
}

static LogicalResult eraseCaches(func::FuncOp entry) {
  llvm::BitVector erased(entry.getNumArguments());
  for (BlockArgument argument : entry.getArguments()) {
    erased[argument.getArgNumber()] =
        isa<transformer::CacheType>(argument.getType());
  }
  return entry.eraseArguments(erased);
}

namespace {
/// How an entry's attention is done: the step has items of one size.
struct Choice {
  Choice(func::FuncOp entry, const TensorDevice &device) {
    int64_t floatRows = std::numeric_limits<int64_t>::max();
    entry.walk([&](transformer::PagedAttentionOp op) {
      isTensor &= suitsTensorCores(op, device);
      isFloat &= suitsFloatTiles(op);
      floatRows = std::min(floatRows, floatQueryRows(op.getCache().getType()));
    });
    // Of latents there is no other kernel: warps do not take their cache.
    entry.walk([&](transformer::PagedLatentOp op) {
      isTensor &= suitsTensorCores(op, device);
    });
    fits = isTensor || llvm::all_of(listCaches(entry), fitsWarp);
    queryRows = isTensor  ? kTensorQueryRows
                : isFloat ? floatRows
                          : kWarpQueryRows;
  }

  bool isTensor = true, isFloat = true;
  bool fits; // else nothing here does it
  int64_t queryRows;
};

struct ExpandDeviceKernelsPass
    : tfc::impl::ExpandDeviceKernelsPassBase<ExpandDeviceKernelsPass> {
  using Base::Base;

  TensorDevice device() const { return {warpgroups, sharedBytes}; }

  void expandAttention(transformer::PagedAttentionOp op,
                       const DeviceCache &cache, Value step,
                       const Choice &choice, RewriterBase &rewriter) {
    if (choice.isTensor) {
      expandTensorAttention(op, cache, step, device(), rewriter);
    } else if (choice.isFloat) {
      expandFloatAttention(op, cache, step, rewriter);
    } else {
      expandWarpAttention(op, cache, step, rewriter);
    }
  }

  LogicalResult expandEntry(func::FuncOp entry) {
    SmallVector<transformer::CacheType> caches = listCaches(entry);
    if (caches.empty()) {
      return success();
    }
    Value step = transformer::findArgument(entry, transformer::kStepAttrName);
    if (!step) {
      return entry.emitOpError()
             << "expected an argument marked as '" << transformer::kStepAttrName
             << "' (by tfc-bind-weights)";
    }
    Choice choice(entry, device());
    int64_t rows = choice.queryRows;
    for (transformer::CacheType type : caches) {
      if (failed(describeCache(entry, type, DeviceCache(type, rows)))) {
        return failure();
      }
    }
    IRRewriter rewriter(entry.getContext());
    entry.walk([&](Operation *op) {
      if (auto write = dyn_cast<transformer::CacheWriteOp>(op)) {
        DeviceCache cache(write.getCache().getType(), rows);
        expandCacheRows(write, cache, step, rewriter);
      } else if (auto attention = dyn_cast<transformer::PagedAttentionOp>(op)) {
        DeviceCache cache(attention.getCache().getType(), rows);
        expandAttention(attention, cache, step, choice, rewriter);
        ++numAttentions;
      } else if (auto latent = dyn_cast<transformer::PagedLatentOp>(op)) {
        DeviceCache cache(latent.getCache().getType(), rows);
        expandTensorAttention(latent, cache, step, device(), rewriter);
        ++numAttentions;
      }
    });
    return eraseCaches(entry);
  }

  void runOnOperation() override {
    // Of tensors nobody knows yet where rows lie.
    WalkResult tensors = getOperation().walk([](Operation *op) {
      bool isOwn =
          isa<transformer::PagedAttentionOp, transformer::PagedLatentOp>(op);
      return isOwn && isa<RankedTensorType>(op->getOperand(0).getType())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (tensors.wasInterrupted()) {
      return;
    }
    auto entries = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    // One layout serves all kernels: entries share a cross cache.
    if (!llvm::all_of(entries, [&](func::FuncOp entry) {
          return Choice(entry, device()).fits;
        })) {
      return;
    }
    for (func::FuncOp entry : entries) {
      if (failed(expandEntry(entry))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
