// Everything that tfc and tfc-opt know, registered in one place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Registration.h"

#include "compiler/cpu/Passes.h"
#include "compiler/emit/Passes.h"
#include "compiler/fusion/Passes.h"
#include "compiler/host/Passes.h"
#include "compiler/lowering/Passes.h"
#include "compiler/pipeline/Passes.h"
#include "compiler/pipeline/Pipelines.h"
#include "compiler/tiling/Passes.h"
#include "dialect/Bufferization.h"
#include "dialect/TransformerDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

using namespace mlir;
using namespace tfc;

void tfc::registerAllTfc(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<transformer::TransformerDialect>();
  transformer::registerBufferizableOpInterfaces(registry);
  registerAllToLLVMIRTranslations(registry);
}

void tfc::registerAllTfcPasses() {
  registerAllPasses();
  registerTfcFusionPasses();
  registerTfcTilingPasses();
  registerTfcLoweringPasses();
  registerTfcHostPasses();
  registerTfcCpuPasses();
  registerTfcEmitPasses();
  registerTfcPipelinePasses();
  static const TargetInfo anyMachine =
      llvm::cantFail(TargetInfo::parse("cpu:x86-64-v3"));
  // An arrow that both levels have is registered as `none` has it, and once
  // more with "-full" at its end.
  for (OptLevel opt : {OptLevel::None, OptLevel::Full}) {
    for (const Arrow &arrow : getArrows(opt)) {
      std::string name = ("tfc-" + arrow.from + "-to-" + arrow.stage).str();
      bool known = opt == OptLevel::Full &&
                   llvm::any_of(getArrows(OptLevel::None), [&](const Arrow &a) {
                     return a.build == arrow.build;
                   });
      std::string text = ("passes from stage " + arrow.from + " to stage " +
                          arrow.stage + ", with its check")
                             .str();
      auto build = arrow.build;
      // The registration lives as long as the process.
      new PassPipelineRegistration<>(
          *new std::string(name + (known ? "-full" : "")),
          *new std::string(text), [build, opt](OpPassManager &pm) {
            build(pm, {anyMachine, opt, /*taps=*/false});
          });
    }
  }
}
