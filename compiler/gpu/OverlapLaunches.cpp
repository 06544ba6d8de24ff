// Kernels may begin before those in front of them have ended.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "compiler/support/ClearStatistics.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {
#define GEN_PASS_DEF_OVERLAPLAUNCHESPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

namespace {
struct OverlapLaunchesPass
    : tfc::impl::OverlapLaunchesPassBase<OverlapLaunchesPass> {
  void runOnOperation() override {
    clearStatistics(*this);
    getOperation().walk([&](gpu::GPUFuncOp kernel) {
      if (!kernel.isKernel()) {
        return;
      }
      ImplicitLocOpBuilder b(kernel.getLoc(), kernel.getContext());
      b.setInsertionPointToStart(&kernel.getBody().front());
      NVVM::GriddepcontrolOp::create(
          b, NVVM::GridDepActionKind::launch_dependents);
      NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::wait);
      ++numKernels;
    });
  }
};
} // namespace
