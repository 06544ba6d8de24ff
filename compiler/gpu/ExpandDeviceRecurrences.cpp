// Recurrences and short convolutions become the work of warps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "compiler/gpu/recurrent/StretchConvolution.h"
#include "compiler/gpu/recurrent/WarpRecurrence.h"
#include "compiler/kernel/ExpandEntries.h"
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
#define GEN_PASS_DEF_EXPANDDEVICERECURRENCESPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// The pointer to the step where `op` is.
static FailureOr<Value> findStep(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  Value step = transformer::findArgument(function, transformer::kStepAttrName);
  if (!step) {
    return function.emitOpError()
           << "expected an argument marked as '" << transformer::kStepAttrName
           << "' (by tfc-bind-weights)";
  }
  return step;
}

namespace {
struct ExpandDeviceRecurrencesPass
    : tfc::impl::ExpandDeviceRecurrencesPassBase<ExpandDeviceRecurrencesPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      auto conv = dyn_cast<transformer::RaggedConvOp>(op);
      auto recurrence = dyn_cast<transformer::RaggedRecurrenceOp>(op);
      if ((conv && fitsStretch(conv)) || (recurrence && fitsWarp(recurrence))) {
        ops.push_back(op);
      }
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      FailureOr<Value> step = findStep(op);
      if (failed(step) || failed(expectBuffers(op))) {
        return signalPassFailure();
      }
      if (auto conv = dyn_cast<transformer::RaggedConvOp>(op)) {
        expandStretchConvolution(conv, *step, rewriter);
      } else {
        expandWarpRecurrence(cast<transformer::RaggedRecurrenceOp>(op), *step,
                             rewriter);
      }
      ++numExpanded;
    }
  }
};
} // namespace
