// Everything that tfc and tfc-opt know, registered in one place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Registration.h"

#include "compiler/cpu/Passes.h"
#include "compiler/emit/Passes.h"
#include "compiler/fusion/Passes.h"
#include "compiler/gpu/Passes.h"
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
#include "llvm/ADT/StringSet.h"

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
  registerTfcGpuPasses();
  registerTfcEmitPasses();
  registerTfcPipelinePasses();
  llvm::StringSet<> known;
  for (const PipelineOptions &road : listRoads()) {
    for (const Arrow &arrow : getArrows(road)) {
      std::string name = ("tfc-" + arrow.from + "-to-" + arrow.stage).str();
      if (!known.insert(name).second) {
        continue;
      }
      std::string text =
          ("passes from stage " + arrow.from + " to stage " + arrow.stage +
           " for the module's target, with its check")
              .str();
      PassPipelineRegistration<>(name, text, [arrow](OpPassManager &pm) {
        RunArrowPassOptions options;
        options.from = arrow.from.str();
        options.to = arrow.stage.str();
        pm.addPass(createRunArrowPass(options));
      });
    }
  }
}
