// The pass: structured ops become loops over vectors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/ExpandAttention.h"
#include "compiler/cpu/ExpandCacheWrite.h"
#include "compiler/cpu/ExpandProduct.h"
#include "compiler/cpu/Passes.h"
#include "compiler/cpu/VectorCache.h"
#include "compiler/kernel/AttentionScore.h"
#include "compiler/kernel/ExpandEntries.h"
#include "compiler/kernel/ExpandLatent.h"
#include "compiler/support/ClearStatistics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tfc {
#define GEN_PASS_DEF_EXPANDCPUKERNELSPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Rows are of f32, but for what products multiply, which depends on their
/// tile, what groups have, and what they store.
static LogicalResult expectRows(Operation *op) {
  auto product = dyn_cast<transformer::ProductOp>(op);
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    bool isStored =
        product &&
        (operand == product.getPanels() || operand == product.getInput() ||
         operand == product.getGroups() || operand == product.getZeros() ||
         operand == product.getInit());
    if (type && !isStored && isa<FloatType>(type.getElementType()) &&
        !type.getElementType().isF32()) {
      return op->emitOpError() << "expected rows of f32, got " << type;
    }
  }
  return success();
}

static FailureOr<bool> takes(Operation *op) {
  if (!isLaneKernel(op) &&
      !isa<transformer::CacheWriteOp, transformer::PagedAttentionOp,
           transformer::PagedLatentOp, transformer::ProductOp>(op)) {
    return false;
  }
  if (failed(expectBuffers(op)) || failed(expectRows(op))) {
    return failure();
  }
  return true;
}

/// Rows of an item, the same for all that read or write caches: more where
/// attention multiplies tiles of AMX.
static FailureOr<int64_t> chooseQueryRows(ModuleOp module, bool hasTiles) {
  bool haveFactors = false, isKnown = true;
  module.walk([&](transformer::PagedAttentionOp op) {
    haveFactors |= AttentionScore::hasFactors(op);
  });
  if (!haveFactors) {
    return VectorCache::kQueryRows;
  }
  module.walk([&](Operation *op) {
    auto attention = dyn_cast<transformer::PagedAttentionOp>(op);
    bool isTiled = attention && AttentionScore::hasFactors(attention);
    if (isKnown && (attention || isa<transformer::PagedLatentOp>(op)) &&
        !(isTiled && hasTiles)) {
      op->emitOpError() << "expected dots=amx and factors of all attention, or "
                           "of none";
      isKnown = false;
    }
  });
  if (!isKnown) {
    return failure();
  }
  return VectorCache::kPackedRows;
}

namespace {
/// What a program's kernels are made for.
struct Kernels {
  Registers registers;
  int64_t queryRows;
  bool hasTiles;
};
} // namespace

static LogicalResult expand(Operation *op, Value step, Value workers,
                            const Kernels &kernels, RewriterBase &rewriter) {
  int64_t lanes = kernels.registers.lanes;
  auto layOut = [&](transformer::CacheType type) {
    return VectorCache(type, kernels.queryRows);
  };
  if (auto product = dyn_cast<transformer::ProductOp>(op)) {
    return expandProduct(product, step, workers, kernels.hasTiles, rewriter);
  }
  if (auto write = dyn_cast<transformer::CacheWriteOp>(op)) {
    expandCacheWrite(write, layOut(write.getCache().getType()), step, lanes,
                     rewriter);
  } else if (auto attention = dyn_cast<transformer::PagedAttentionOp>(op)) {
    expandAttention(attention, layOut(attention.getCache().getType()), step,
                    workers, kernels.registers, rewriter);
  } else if (auto latent = dyn_cast<transformer::PagedLatentOp>(op)) {
    expandLatent(latent, layOut(latent.getCache().getType()), step, workers,
                 lanes, rewriter);
  } else {
    expandLaneKernel(op, step, lanes, rewriter);
  }
  return success();
}

namespace {
struct ExpandCpuKernelsPass
    : tfc::impl::ExpandCpuKernelsPassBase<ExpandCpuKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    clearStatistics(*this);
    if (dots != "vector" && dots != "amx") {
      getOperation().emitError()
          << "expected dots=vector or dots=amx, got \"" << dots << '"';
      return signalPassFailure();
    }
    if (lanes != 16 && lanes != 8) {
      getOperation().emitError()
          << "expected lanes=16 or lanes=8, got " << lanes.getValue();
      return signalPassFailure();
    }
    bool hasTiles = dots == "amx";
    FailureOr<int64_t> queryRows = chooseQueryRows(getOperation(), hasTiles);
    if (failed(queryRows)) {
      return signalPassFailure();
    }
    Kernels kernels = {{lanes, byLane}, *queryRows, hasTiles};
    FailureOr<int64_t> count = expandEntries(
        getOperation(),
        {[&](transformer::CacheType type) {
           return VectorCache(type, kernels.queryRows);
         },
         takes,
         [&](Operation *op, Value step, Value workers, RewriterBase &rewriter) {
           return expand(op, step, workers, kernels, rewriter);
         }});
    if (failed(count)) {
      return signalPassFailure();
    }
    numExpanded += *count;
  }
};
} // namespace
