// Kernels may begin before those in front of them have ended.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "compiler/support/ClearStatistics.h"
#include "compiler/support/DeviceKernels.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tfc {
#define GEN_PASS_DEF_OVERLAPLAUNCHESPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Whether all that `op` does is to compute, or to have memory brought to the
/// second-level cache, where it is what whoever reads it later finds.
static bool canComeFirst(Operation &op) {
  return isMemoryEffectFree(&op) || isa<NVVM::CpAsyncBulkPrefetchOp>(op);
}

namespace {
struct OverlapLaunchesPass
    : tfc::impl::OverlapLaunchesPassBase<OverlapLaunchesPass> {
  void runOnOperation() override {
    clearStatistics(*this);
    llvm::DenseSet<StringAttr> waiting;
    getOperation().walk([&](gpu::GPUFuncOp kernel) {
      if (kernel.isKernel() && !kernel->hasAttr(kBeginsAloneAttrName)) {
        buildWait(kernel);
        waiting.insert(SymbolTable::getSymbolName(kernel));
      }
    });
    getOperation().walk([&](gpu::LaunchFuncOp launch) {
      if (waiting.contains(launch.getKernelName())) {
        launch->setAttr(kOverlapsAttrName, UnitAttr::get(&getContext()));
      }
    });
    numKernels += waiting.size();
  }

  static void buildWait(gpu::GPUFuncOp kernel) {
    Block &body = kernel.getBody().front();
    Operation &first = *llvm::find_if_not(body.getOperations(), canComeFirst);
    ImplicitLocOpBuilder b(kernel.getLoc(), kernel.getContext());
    b.setInsertionPointToStart(&body);
    NVVM::GriddepcontrolOp::create(b,
                                   NVVM::GridDepActionKind::launch_dependents);
    b.setInsertionPoint(&first);
    NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::wait);
  }
};
} // namespace
