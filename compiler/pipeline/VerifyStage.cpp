// The contract pass: the IR after a stage has only what the stage allows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Passes.h"
#include "compiler/pipeline/Road.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

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

  /// That of the module's road, or of the first road that has it where the
  /// module does not say what it is compiled for. Reports a stage that is none.
  const Stage *findStage() {
    SmallVector<const Road *> roads(listRoads());
    if (getOperation()->hasAttr(transformer::kTargetAttrName)) {
      FailureOr<PipelineOptions> options = readTarget(getOperation());
      if (failed(options)) {
        return nullptr;
      }
      roads = {&findRoad(*options)};
    }
    for (const Road *road : roads) {
      if (const Stage *found = road->findStage(stage)) {
        return found;
      }
    }
    llvm::SmallSetVector<StringRef, 16> names;
    for (const Stage *each : listStages(roads)) {
      names.insert(each->name);
    }
    InFlightDiagnostic diagnostic = getOperation().emitError();
    diagnostic << "expected the name of a stage (";
    llvm::interleaveComma(names, diagnostic);
    diagnostic << "), got \"" << stage.getValue() << '"';
    return nullptr;
  }

  void runOnOperation() override {
    const Stage *found = findStage();
    if (!found) {
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
    if (result.wasInterrupted() ||
        (found->check && failed(found->check(getOperation()))) ||
        failed(verify(getOperation()))) {
      signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
