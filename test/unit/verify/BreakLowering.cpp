// A deliberate fault in the lowering.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/verify/BreakLowering.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tfc;
using transformer::Mask;

static bool breakOp(Operation *op) {
  if (auto sum = dyn_cast<arith::AddFOp>(op)) {
    OpBuilder builder(sum);
    sum.replaceAllUsesWith(
        arith::SubFOp::create(builder, sum.getLoc(), sum.getLhs(), sum.getRhs())
            .getResult());
    sum.erase();
    return true;
  }
  if (auto attention = dyn_cast<transformer::PagedAttentionOp>(op)) {
    attention.setMask(attention.getMask() == Mask::Causal ? Mask::Bidirectional
                                                          : Mask::Causal);
    return true;
  }
  return false;
}

namespace {
struct BreakLoweringPass
    : PassWrapper<BreakLoweringPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BreakLoweringPass)

  BreakLoweringPass() = default;
  BreakLoweringPass(const BreakLoweringPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-break-lowering"; }
  StringRef getDescription() const final {
    return "put a fault into the lowering of one op";
  }

  void runOnOperation() override {
    WalkResult walk = getOperation().walk([&](Operation *op) {
      auto name = dyn_cast<NameLoc>(op->getLoc());
      return name && name.getName() == at && breakOp(op)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (!walk.wasInterrupted()) {
      getOperation().emitError()
          << "expected an op to break at " << at << ", got none";
      signalPassFailure();
    }
  }

  Option<std::string> at{*this, "at", llvm::cl::desc("location of the op")};
};
} // namespace

void tfc::registerBreakLoweringPass() {
  static PassRegistration<BreakLoweringPass> registration;
}
