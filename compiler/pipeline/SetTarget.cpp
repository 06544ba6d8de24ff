// Writes what the module is compiled for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/ModuleTarget.h"
#include "compiler/pipeline/Passes.h"

namespace tfc {
#define GEN_PASS_DEF_SETTARGETPASS
#include "compiler/pipeline/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

namespace {
struct SetTargetPass : tfc::impl::SetTargetPassBase<SetTargetPass> {
  using Base::Base;

  void runOnOperation() override {
    llvm::Expected<TargetInfo> info = TargetInfo::parse(target);
    if (!info) {
      emitError(getOperation().getLoc()) << llvm::toString(info.takeError());
      return signalPassFailure();
    }
    auto level = transformer::symbolizeOptLevel(opt);
    if (!level) {
      emitError(getOperation().getLoc())
          << "expected opt none or full, got " << opt;
      return signalPassFailure();
    }
    auto storage = transformer::symbolizeStorage(weights);
    if (!storage) {
      emitError(getOperation().getLoc())
          << "expected weights f32, f16, bf16, int8 or int4, got " << weights;
      return signalPassFailure();
    }
    auto groupStorage = transformer::symbolizeStorage(scales);
    if (!groupStorage || *groupStorage > transformer::Storage::BF16) {
      emitError(getOperation().getLoc())
          << "expected scales f32, f16 or bf16, got " << scales;
      return signalPassFailure();
    }
    setTarget(getOperation(), {*info, *level, *storage, rounds, deterministic,
                               group, zeros, floatZeros, *groupStorage});
  }
};
} // namespace
