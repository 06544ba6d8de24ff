// A deliberate fault in what passes have joined.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/verify/BreakFusion.h"

#include "dialect/TransformerDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tfc;

namespace {
struct BreakFusionPass : PassWrapper<BreakFusionPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BreakFusionPass)

  BreakFusionPass() = default;
  BreakFusionPass(const BreakFusionPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-break-fusion"; }
  StringRef getDescription() const final {
    return "put a fault into what was fused";
  }

  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      auto linear = dyn_cast<transformer::LinearOp>(op);
      if (linear && what == "residual") {
        linear.getResidualMutable().clear();
      }
      auto slice = dyn_cast<transformer::SliceColumnsOp>(op);
      if (slice && what == "projection") {
        slice.setFirst(0);
      }
    });
  }

  Option<std::string> what{*this, "what",
                           llvm::cl::desc("residual or projection")};
};
} // namespace

void tfc::registerBreakFusionPass() {
  static PassRegistration<BreakFusionPass> registration;
}
