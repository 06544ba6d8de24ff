// Runs an arrow's passes, as the module's target says.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Passes.h"
#include "compiler/pipeline/Road.h"

namespace tfc {
#define GEN_PASS_DEF_RUNARROWPASS
#include "compiler/pipeline/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

namespace {
/// A pipeline is made before it sees the module that it runs on: this pass
/// makes its own when it does.
struct RunArrowPass : tfc::impl::RunArrowPassBase<RunArrowPass> {
  using Base::Base;

  /// Those of all passes that it may run.
  void getDependentDialects(DialectRegistry &registry) const override {
    for (const Road *road : listRoads()) {
      for (const Arrow &arrow : road->arrows) {
        OpPassManager pm(ModuleOp::getOperationName());
        arrow.build(pm, road->getExample());
        pm.getDependentDialects(registry);
      }
    }
  }

  void runOnOperation() override {
    FailureOr<PipelineOptions> options = readTarget(getOperation());
    if (failed(options)) {
      return signalPassFailure();
    }
    const Arrow *arrow = findRoad(*options).findArrow(from, to);
    if (!arrow) {
      emitError(getOperation().getLoc())
          << "expected an arrow of " << options->target.name
          << " with opt=" << transformer::stringifyOptLevel(options->opt)
          << ", got " << from << " to " << to;
      return signalPassFailure();
    }
    OpPassManager pm(ModuleOp::getOperationName());
    arrow->build(pm, *options);
    if (failed(runPipeline(pm, getOperation()))) {
      signalPassFailure();
    }
  }
};
} // namespace
