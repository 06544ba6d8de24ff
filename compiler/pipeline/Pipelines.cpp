// The arrows between the stages, one function each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Pipelines.h"

#include "compiler/cpu/Passes.h"
#include "compiler/emit/Passes.h"
#include "compiler/fusion/Passes.h"
#include "compiler/lowering/Passes.h"
#include "compiler/pipeline/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tfc;

static void clean(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void verifyStage(OpPassManager &pm, StringRef stage) {
  VerifyStagePassOptions options;
  options.stage = stage.str();
  pm.addPass(createVerifyStagePass(options));
}

void tfc::buildModelToFused(OpPassManager &pm, const PipelineOptions &options) {
  if (options.taps) {
    pm.addPass(createInsertTapsPass());
  }
  clean(pm);
  verifyStage(pm, "fused");
}

void tfc::buildFusedToLinalg(OpPassManager &pm, const PipelineOptions &) {
  pm.addPass(createLowerToLinalgPass());
  pm.addPass(createPackWeightsPass());
  // No cse here: it would make one of all equal fills, and bufferization would
  // copy that one back for every product.
  pm.addPass(createCanonicalizerPass());
  verifyStage(pm, "linalg");
}

void tfc::buildLinalgToBuffer(OpPassManager &pm, const PipelineOptions &) {
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  clean(pm);
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToParallelLoopsPass());
  pm.addPass(createEmitCpuKernelsPass());
  pm.addPass(createExpandMathPass());
  clean(pm);
  pm.addPass(createPlanWorkspacePass());
  verifyStage(pm, "buffer");
}

void tfc::buildBufferToLlvm(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createBindStepPass());
  pm.addPass(createLowerParallelPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  clean(pm);
  EmitAbiPassOptions abi;
  abi.program = options.target.name;
  abi.features = options.target.features;
  pm.addPass(createEmitAbiPass(abi));
  verifyStage(pm, "llvm");
}

ArrayRef<Arrow> tfc::getArrows() {
  static const Arrow arrows[] = {{"fused", buildModelToFused},
                                 {"linalg", buildFusedToLinalg},
                                 {"buffer", buildLinalgToBuffer},
                                 {"llvm", buildBufferToLlvm}};
  return arrows;
}
