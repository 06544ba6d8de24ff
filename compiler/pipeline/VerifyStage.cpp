// The contract pass: the IR after a stage has only what the stage allows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/CheckStage.h"
#include "compiler/pipeline/Passes.h"
#include "compiler/pipeline/Stages.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"

namespace tfc {
#define GEN_PASS_DEF_VERIFYSTAGEPASS
#include "compiler/pipeline/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

static bool isAllowed(Operation *op, const Stage &stage) {
  StringRef name = op->getName().getStringRef();
  // Whatever is in the buffers is lent by the host.
  if (name == "memref.alloc") {
    return false;
  }
  return llvm::is_contained(stage.dialects,
                            op->getName().getDialectNamespace()) ||
         llvm::is_contained(stage.ops, name);
}

namespace {
struct VerifyStagePass : tfc::impl::VerifyStagePassBase<VerifyStagePass> {
  using Base::Base;

  void runOnOperation() override {
    const Stage *found = findStage(stage);
    if (!found) {
      InFlightDiagnostic diagnostic = getOperation().emitError();
      diagnostic << "expected the name of a stage (";
      llvm::interleaveComma(getStages(), diagnostic,
                            [&](const Stage &s) { diagnostic << s.name; });
      diagnostic << "), got \"" << stage.getValue() << '"';
      return signalPassFailure();
    }
    // Pre-order: the outermost offender is the one to report.
    WalkResult result =
        getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
          if (isAllowed(op, *found)) {
            return WalkResult::advance();
          }
          InFlightDiagnostic diagnostic = op->emitOpError()
                                          << "is not allowed after stage '"
                                          << found->name << "'";
          diagnostic.attachNote()
              << "expected it to be gone after '" << found->lastPass << "'";
          return WalkResult::interrupt();
        });
    if (result.wasInterrupted() || failed(checkStage(*found, getOperation())) ||
        failed(verify(getOperation()))) {
      signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
