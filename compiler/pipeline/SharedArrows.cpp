// What roads have in common: stages of every target, and parts of arrows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/SharedArrows.h"

#include "compiler/emit/Passes.h"
#include "compiler/fusion/Passes.h"
#include "compiler/host/Passes.h"
#include "compiler/kernel/Passes.h"
#include "compiler/lowering/Passes.h"
#include "compiler/pipeline/CheckStage.h"
#include "compiler/pipeline/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tfc;

static const StringRef modelDialects[] = {"builtin", "func",   "arith",
                                          "scf",     "tensor", "transformer"};

static const StringRef linalgDialects[] = {
    "builtin", "func",   "arith",  "math",          "scf",
    "tensor",  "linalg", "memref", "bufferization",
};
const StringRef tfc::structuredOps[] = {"transformer.parameter",
                                        "transformer.weight",
                                        "transformer.cache_write",
                                        "transformer.paged_attention",
                                        "transformer.ragged_hashed",
                                        "transformer.ragged_pool",
                                        "transformer.ragged_unfold",
                                        "transformer.ragged_pairs",
                                        "transformer.ragged_weights",
                                        "transformer.ragged_sinks",
                                        "transformer.clustered_log_softmax",
                                        "transformer.product",
                                        "transformer.choose_experts",
                                        "transformer.sort_by_expert",
                                        "transformer.ragged_conv",
                                        "transformer.ragged_recurrence",
                                        "transformer.paged_latent",
                                        "transformer.yield",
                                        "transformer.reduce_in_place",
                                        "transformer.tap"};

static const StringRef llvmDialects[] = {"builtin", "llvm"};

const Stage tfc::modelStage = {"model",
                               "the model as mathematics: no layout, no target",
                               modelDialects,
                               {},
                               "the frontend"};

const Stage tfc::fusedStage = {
    "fused",
    "the same language, after the passes that rewrite it",
    modelDialects,
    {},
    "canonicalize"};

const Stage tfc::linalgStage = {
    "linalg",
    "linalg on tensors, and the structured ops that linalg cannot say",
    linalgDialects, structuredOps, "tfc-lower-to-linalg"};

const Stage tfc::llvmStage = {
    "llvm",         "the LLVM dialect, with the tables of the ABI",
    llvmDialects,   {},
    "tfc-emit-abi", checkLlvm};

void tfc::verifyStage(OpPassManager &pm, const Stage &stage) {
  VerifyStagePassOptions options;
  options.stage = stage.name.str();
  pm.addPass(createVerifyStagePass(options));
}

void tfc::clean(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void tfc::fuse(OpPassManager &pm) {
  pm.addPass(createDecomposeFfnPass());
  pm.addPass(createDecomposeExpertsPass());
  pm.addPass(createFuseEpiloguesPass());
  pm.addPass(createFuseProjectionsPass());
}

void tfc::finishFused(OpPassManager &pm, const PipelineOptions &options,
                      transformer::Storage values, transformer::Storage factors,
                      transformer::Storage attention) {
  clean(pm);
  ChoosePrecisionPassOptions precision;
  precision.weights = options.weights;
  precision.rounds = options.rounds;
  precision.group = options.group;
  precision.hasZeros = options.zeros;
  precision.hasFloatZeros = options.floatZeros;
  precision.scales = options.scales;
  precision.values = values;
  precision.factors = factors;
  precision.attention = attention;
  pm.addPass(createChoosePrecisionPass(precision));
  verifyStage(pm, fusedStage);
}

void tfc::finishLinalg(OpPassManager &pm) {
  pm.addPass(createPackWeightsPass());
  // No cse here: it would make one of all equal fills, and bufferization would
  // copy that one back for every product.
  pm.addPass(createCanonicalizerPass());
  verifyStage(pm, linalgStage);
}

void tfc::bufferize(OpPassManager &pm) {
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(createOrderGlobalsPass());
  clean(pm);
  // What layers return is where an argument of theirs was.
  pm.addPass(bufferization::createDropEquivalentBufferResultsPass());
}

void tfc::bindHost(OpPassManager &pm) {
  pm.addPass(createBindWeightsPass());
  pm.addPass(createCallTapsPass());
  pm.addPass(createCallReducePass());
}

void tfc::makeParallelLoops(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToParallelLoopsPass());
  pm.addNestedPass<func::FuncOp>(createForallToParallelLoopPass());
}

void tfc::buildPlainFused(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createDecomposeFfnPass());
  pm.addPass(createDecomposeExpertsPass());
  finishFused(pm, options, transformer::Storage::F32);
}

void tfc::buildPlainLinalg(OpPassManager &pm, const PipelineOptions &) {
  pm.addPass(createLowerToLinalgPass());
  finishLinalg(pm);
}

void tfc::lowerToPlainBuffer(OpPassManager &pm, const Stage &stage) {
  bufferize(pm);
  makeParallelLoops(pm);
  bindHost(pm);
  pm.addPass(createExpandScalarKernelsPass());
  pm.addPass(createExpandMathPass());
  clean(pm);
  pm.addPass(createPlanWorkspacePass());
  verifyStage(pm, stage);
}

void tfc::finishLlvm(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createReturnStatusPass());
  EmitAbiPassOptions abi;
  abi.program = options.target.programName();
  abi.features = options.target.programFeatures();
  abi.isa = transformer::stringifyIsa(isaOf(options.target.machine)).str();
  pm.addPass(createEmitAbiPass(abi));
  verifyStage(pm, llvmStage);
}
