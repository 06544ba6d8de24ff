// The pass: structured ops become loops over numbers, whatever the target.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandEntries.h"
#include "compiler/kernel/ExpandLatent.h"
#include "compiler/kernel/ExpandScalar.h"
#include "compiler/kernel/Passes.h"
#include "compiler/support/ClearStatistics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tfc {
#define GEN_PASS_DEF_EXPANDSCALARKERNELSPASS
#include "compiler/kernel/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

static FailureOr<bool> takes(Operation *op) {
  if (!isLaneKernel(op) &&
      !isa<transformer::CacheWriteOp, transformer::PagedAttentionOp,
           transformer::PagedLatentOp>(op)) {
    return false;
  }
  if (failed(expectBuffers(op))) {
    return failure();
  }
  return true;
}

static LogicalResult expand(Operation *op, Value step, Value workers,
                            RewriterBase &rewriter) {
  if (auto write = dyn_cast<transformer::CacheWriteOp>(op)) {
    expandScalar(write, step, rewriter);
  } else if (auto attention = dyn_cast<transformer::PagedAttentionOp>(op)) {
    expandScalar(attention, step, workers, rewriter);
  } else if (auto latent = dyn_cast<transformer::PagedLatentOp>(op)) {
    expandLatent(latent, getScalarCache(latent.getCache().getType()), step,
                 workers, /*lanes=*/1, rewriter);
  } else {
    expandLaneKernel(op, step, /*lanes=*/1, rewriter);
  }
  return success();
}

namespace {
struct ExpandScalarKernelsPass
    : tfc::impl::ExpandScalarKernelsPassBase<ExpandScalarKernelsPass> {
  void runOnOperation() override {
    clearStatistics(*this);
    FailureOr<int64_t> count =
        expandEntries(getOperation(), {getScalarCache, takes, expand});
    if (failed(count)) {
      return signalPassFailure();
    }
    numExpanded += *count;
  }
};
} // namespace
