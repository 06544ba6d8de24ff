// Choices of experts, and the order of their rows, become the work of warps and
// of a block.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "compiler/gpu/experts/BlockOrder.h"
#include "compiler/gpu/experts/WarpChoice.h"
#include "compiler/kernel/ExpandEntries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tfc {
#define GEN_PASS_DEF_EXPANDDEVICEEXPERTSPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

namespace {
struct ExpandDeviceExpertsPass
    : tfc::impl::ExpandDeviceExpertsPassBase<ExpandDeviceExpertsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      auto choice = dyn_cast<transformer::ChooseExpertsOp>(op);
      auto order = dyn_cast<transformer::SortByExpertOp>(op);
      if ((choice && fitsWarp(choice)) || (order && fitsBlock(order))) {
        ops.push_back(op);
      }
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      if (failed(expectBuffers(op))) {
        return signalPassFailure();
      }
      if (auto choice = dyn_cast<transformer::ChooseExpertsOp>(op)) {
        expandWarpChoice(choice, rewriter);
      } else {
        expandBlockOrder(cast<transformer::SortByExpertOp>(op), rewriter);
      }
      ++numExpanded;
    }
  }
};
} // namespace
