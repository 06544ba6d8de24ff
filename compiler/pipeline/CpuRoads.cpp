// The roads of a CPU's programs: loops as they come, or tiles and vectors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/Passes.h"
#include "compiler/emit/Passes.h"
#include "compiler/fusion/Passes.h"
#include "compiler/host/Passes.h"
#include "compiler/kernel/Passes.h"
#include "compiler/lowering/Passes.h"
#include "compiler/pipeline/CheckStage.h"
#include "compiler/pipeline/SharedArrows.h"
#include "compiler/tiling/Passes.h"
#include "compiler/tiling/Strategy.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tfc;

static const StringRef tiledDialects[] = {
    "builtin", "func",   "arith",  "math",          "scf",
    "tensor",  "linalg", "memref", "bufferization", "affine",
};
static const StringRef vectorDialects[] = {
    "builtin", "func",   "arith",         "math",   "scf",    "tensor",
    "linalg",  "memref", "bufferization", "affine", "vector", "ub",
};
static const StringRef bufferDialects[] = {
    "builtin", "func",   "arith",  "math", "memref",
    "scf",     "affine", "vector", "ub",   "llvm"};
static const StringRef bufferOps[] = {"transformer.parameter",
                                      "transformer.worker"};

static const Stage tiledStage = {"tiled",
                                 "loops over tiles of static rows and widths",
                                 tiledDialects,
                                 structuredOps,
                                 "tfc-lower-to-linalg",
                                 checkTiled};

static const Stage vectorStage = {
    "vector",
    "static tiles as vectors; linalg only where rows are dynamic",
    vectorDialects,
    structuredOps,
    "tfc-lower-to-linalg",
    checkVector};

static const Stage bufferStage = {
    "buffer",
    "loops over buffers in memory that the host lends",
    bufferDialects,
    bufferOps,
    "tfc-expand-cpu-kernels",
    checkBuffer};

static Strategy strategyOf(const PipelineOptions &options) {
  return chooseStrategy(options.target.name, options.target.microarchitecture);
}

static void buildBufferToLlvm(OpPassManager &pm,
                              const PipelineOptions &options) {
  pm.addPass(createBindStepPass());
  pm.addPass(createLowerParallelPass());
  pm.addPass(createConvertToLlvmPass());
  pm.addPass(createCheckAccessesPass());
  finishLlvm(pm, options);
}

//===----------------------------------------------------------------------===//
// --opt=none
//===----------------------------------------------------------------------===//

static void buildPlainFusedFunctions(OpPassManager &pm,
                                     const PipelineOptions &options) {
  pm.addPass(createOutlineLayersPass());
  buildPlainFused(pm, options);
}

static void buildPlainBuffer(OpPassManager &pm, const PipelineOptions &) {
  lowerToPlainBuffer(pm, bufferStage);
}

static const Arrow plainArrows[] = {
    {&modelStage, &fusedStage, buildPlainFusedFunctions},
    {&fusedStage, &linalgStage, buildPlainLinalg},
    {&linalgStage, &bufferStage, buildPlainBuffer},
    {&bufferStage, &llvmStage, buildBufferToLlvm}};

const Road tfc::cpuPlainRoad = {"none", TargetKind::Cpu, OptLevel::None,
                                "x86-64-v3", plainArrows};

//===----------------------------------------------------------------------===//
// --opt=full
//===----------------------------------------------------------------------===//

static void buildFused(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createPrepareWeightsPass());
  pm.addPass(createOutlineLayersPass());
  fuse(pm);
  bool hasFactors = options.target.multiplies == Factors::BF16;
  auto factors = hasFactors ? options.weights : transformer::Storage::F32;
  finishFused(pm, options, transformer::Storage::F32, factors,
              strategyOf(options).tiles ? factors : transformer::Storage::F32);
}

static void buildLinalg(OpPassManager &pm, const PipelineOptions &options) {
  Strategy strategy = strategyOf(options);
  LowerToLinalgPassOptions lower;
  lower.panel = strategy.panel;
  lower.bf16Word = strategy.bf16Word;
  lower.int8Rows = strategy.excess     ? IntegerRows::Excess
                   : strategy.matrices ? IntegerRows::Matrices
                   : strategy.isSigned ? IntegerRows::Signed
                                       : IntegerRows::Wide;
  pm.addPass(createLowerToLinalgPass(lower));
  SelectStrategyPassOptions select;
  select.target = options.target.name;
  select.microarchitecture = options.target.microarchitecture;
  pm.addPass(createSelectStrategyPass(select));
  finishLinalg(pm);
}

static void tile(OpPassManager &pm, StringRef level) {
  TileAndFusePassOptions options;
  options.level = level.str();
  pm.addNestedPass<func::FuncOp>(createTileAndFusePass(options));
  clean(pm);
}

static void buildTiled(OpPassManager &pm, const PipelineOptions &) {
  tile(pm, "parallel");
  tile(pm, "rows");
  tile(pm, "reduction");
  verifyStage(pm, tiledStage);
}

/// Our own polynomials; --opt=none keeps upstream's, as a second opinion.
static void expandMath(OpPassManager &pm) {
  ExpandMathPassOptions options;
  options.polynomials = Polynomials::Own;
  pm.addPass(createExpandMathPass(options));
}

static void buildVector(OpPassManager &pm, const PipelineOptions &options) {
  VectorizePassOptions vectorize;
  vectorize.unroll = strategyOf(options).unroll;
  pm.addNestedPass<func::FuncOp>(createVectorizePass(vectorize));
  expandMath(pm);
  clean(pm);
  verifyStage(pm, vectorStage);
}

/// Cleans registers and their addresses, most of which are chains that nobody
/// uses: from the users on it takes half the time.
static void cleanRegisters(OpPassManager &pm) {
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(false);
  pm.addPass(createCanonicalizerPass(config));
  pm.addPass(createCSEPass());
}

static void buildBuffer(OpPassManager &pm, const PipelineOptions &options) {
  Strategy strategy = strategyOf(options);
  bufferize(pm);
  // What has no static tile is rows of plain loops, which LLVM vectorises.
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addNestedPass<func::FuncOp>(createForallToParallelLoopPass());
  bindHost(pm);
  ExpandCpuKernelsPassOptions kernels;
  kernels.lanes = strategy.lanes;
  kernels.byLane = strategy.byLane;
  kernels.dots = strategy.tiles ? "amx" : "vector";
  pm.addPass(createExpandCpuKernelsPass(kernels));
  expandMath(pm);
  SplitTilesPassOptions contractions;
  contractions.lanes = strategy.lanes;
  pm.addNestedPass<func::FuncOp>(createSplitTilesPass(contractions));
  cleanRegisters(pm);
  pm.addPass(createPlanWorkspacePass());
  verifyStage(pm, bufferStage);
}

static const Arrow fastArrows[] = {
    {&modelStage, &fusedStage, buildFused},
    {&fusedStage, &linalgStage, buildLinalg},
    {&linalgStage, &tiledStage, buildTiled},
    {&tiledStage, &vectorStage, buildVector},
    {&vectorStage, &bufferStage, buildBuffer},
    {&bufferStage, &llvmStage, buildBufferToLlvm}};

const Road tfc::cpuRoad = {"full", TargetKind::Cpu, OptLevel::Full, "x86-64-v3",
                           fastArrows};
