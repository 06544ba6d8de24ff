// The arrows between the stages, one function each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Pipelines.h"

#include "compiler/cpu/Passes.h"
#include "compiler/emit/Passes.h"
#include "compiler/fusion/Passes.h"
#include "compiler/gpu/Passes.h"
#include "compiler/host/Passes.h"
#include "compiler/lowering/Passes.h"
#include "compiler/pipeline/Passes.h"
#include "compiler/tiling/Passes.h"
#include "compiler/tiling/Strategy.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tfc;

static Strategy strategyOf(const PipelineOptions &options) {
  return chooseStrategy(options.target.name, options.target.microarchitecture);
}

/// Whether values become tiles and vectors, by the strategies of a CPU. A
/// device's programs are loops, which its own passes share out.
static bool isTiled(const PipelineOptions &options) {
  return options.opt == OptLevel::Full && !options.target.isDevice();
}

/// Whether products are kernels of a device's tensor cores, which take elements
/// of 16 bits.
static bool hasProductKernels(const PipelineOptions &options) {
  return options.opt == OptLevel::Full && options.target.isDevice() &&
         options.weights != transformer::Storage::F32;
}

static void clean(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// The same for registers and their addresses, most of which are chains that
/// nobody uses: from the users on it takes half the time.
static void cleanRegisters(OpPassManager &pm) {
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(false);
  pm.addPass(createCanonicalizerPass(config));
  pm.addPass(createCSEPass());
}

static void verifyStage(OpPassManager &pm, StringRef stage) {
  VerifyStagePassOptions options;
  options.stage = stage.str();
  pm.addPass(createVerifyStagePass(options));
}

void tfc::buildTaps(OpPassManager &pm) { pm.addPass(createInsertTapsPass()); }

void tfc::buildModelToFused(OpPassManager &pm, const PipelineOptions &options) {
  if (!options.target.isDevice()) {
    pm.addPass(createOutlineLayersPass());
  }
  pm.addPass(createDecomposeFfnPass());
  if (options.opt == OptLevel::Full) {
    pm.addPass(createFuseEpiloguesPass());
    pm.addPass(createFuseProjectionsPass());
  }
  clean(pm);
  ChoosePrecisionPassOptions precision;
  precision.weights = options.weights;
  precision.rounds = options.rounds;
  if (options.opt == OptLevel::Full && options.target.isDevice()) {
    precision.values = options.weights;
  }
  pm.addPass(createChoosePrecisionPass(precision));
  verifyStage(pm, "fused");
}

void tfc::buildFusedToLinalg(OpPassManager &pm,
                             const PipelineOptions &options) {
  LowerToLinalgPassOptions lower;
  if (isTiled(options)) {
    lower.panel = strategyOf(options).panel;
  } else if (hasProductKernels(options)) {
    // Plain rows, read 16 bytes at a time.
    lower.panel = 1;
    lower.multiple = 8;
  }
  pm.addPass(createLowerToLinalgPass(lower));
  if (isTiled(options)) {
    SelectStrategyPassOptions select;
    select.target = options.target.name;
    select.microarchitecture = options.target.microarchitecture;
    pm.addPass(createSelectStrategyPass(select));
  }
  pm.addPass(createPackWeightsPass());
  // No cse here: it would make one of all equal fills, and bufferization would
  // copy that one back for every product.
  pm.addPass(createCanonicalizerPass());
  verifyStage(pm, "linalg");
}

static void bufferize(OpPassManager &pm) {
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

/// What any target needs of the host once there are buffers.
static void bindHost(OpPassManager &pm) {
  pm.addPass(createBindWeightsPass());
  pm.addPass(createCallTapsPass());
}

/// Rows as vectors, which a device's warps share out.
static void vectorizeRows(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createFuseRowsPass());
  VectorizePassOptions vectorize;
  vectorize.unroll = 1;
  pm.addNestedPass<func::FuncOp>(createVectorizePass(vectorize));
}

void tfc::buildLinalgToBuffer(OpPassManager &pm,
                              const PipelineOptions &options) {
  if (options.opt == OptLevel::Full) {
    vectorizeRows(pm);
  }
  bufferize(pm);
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToParallelLoopsPass());
  pm.addNestedPass<func::FuncOp>(createForallToParallelLoopPass());
  bindHost(pm);
  if (options.opt == OptLevel::Full && options.target.isDevice()) {
    // Loops whose bounds are numbers can be seen to fill a buffer.
    clean(pm);
    pm.addPass(createExpandDeviceKernelsPass());
  }
  pm.addPass(createExpandCpuKernelsPass());
  pm.addPass(createExpandMathPass());
  clean(pm);
  if (options.opt == OptLevel::Full) {
    pm.addPass(createDistributeVectorsPass());
    pm.addPass(createWidenLoopsPass());
    pm.addPass(createJoinLoopsPass());
    clean(pm);
  }
  pm.addPass(createPlanWorkspacePass());
  verifyStage(pm, "buffer");
}

/// Our own polynomials; --opt=none keeps upstream's, as a second opinion.
static void expandMath(OpPassManager &pm) {
  ExpandMathPassOptions options;
  options.polynomials = Polynomials::Own;
  pm.addPass(createExpandMathPass(options));
}

static void tile(OpPassManager &pm, StringRef level) {
  TileAndFusePassOptions options;
  options.level = level.str();
  pm.addNestedPass<func::FuncOp>(createTileAndFusePass(options));
  clean(pm);
}

void tfc::buildLinalgToTiled(OpPassManager &pm, const PipelineOptions &) {
  tile(pm, "parallel");
  tile(pm, "rows");
  tile(pm, "reduction");
  verifyStage(pm, "tiled");
}

void tfc::buildTiledToVector(OpPassManager &pm,
                             const PipelineOptions &options) {
  Strategy strategy = strategyOf(options);
  VectorizePassOptions vectorize;
  vectorize.unroll = strategy.unroll;
  pm.addNestedPass<func::FuncOp>(createVectorizePass(vectorize));
  expandMath(pm);
  clean(pm);
  verifyStage(pm, "vector");
}

void tfc::buildVectorToBuffer(OpPassManager &pm,
                              const PipelineOptions &options) {
  bufferize(pm);
  // What has no static tile is rows of plain loops, which LLVM vectorises.
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addNestedPass<func::FuncOp>(createForallToParallelLoopPass());
  bindHost(pm);
  ExpandCpuKernelsPassOptions kernels;
  kernels.kernels = "vector";
  Strategy strategy = strategyOf(options);
  kernels.lanes = strategy.lanes;
  pm.addPass(createExpandCpuKernelsPass(kernels));
  expandMath(pm);
  SplitTilesPassOptions contractions;
  contractions.lanes = strategy.lanes;
  pm.addNestedPass<func::FuncOp>(createSplitTilesPass(contractions));
  cleanRegisters(pm);
  pm.addPass(createPlanWorkspacePass());
  verifyStage(pm, "buffer");
}

/// Behind the conversion: what the host is told, and what tells of it.
static void finishLlvm(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createReturnStatusPass());
  EmitAbiPassOptions abi;
  abi.program = options.target.programName();
  abi.features = options.target.features;
  pm.addPass(createEmitAbiPass(abi));
  verifyStage(pm, "llvm");
}

void tfc::buildBufferToLlvm(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createBindStepPass());
  pm.addPass(createLowerParallelPass());
  pm.addPass(createConvertToLlvmPass());
  finishLlvm(pm, options);
}

void tfc::buildBufferToKernel(OpPassManager &pm,
                              const PipelineOptions &options) {
  if (options.opt == OptLevel::Full) {
    pm.addPass(createDistributeRowsPass());
    LowerProductsPassOptions products;
    products.deterministic = options.deterministic;
    pm.addPass(createLowerProductsPass(products));
  }
  pm.addPass(createOutlineThreadsPass());
  clean(pm);
  verifyStage(pm, "kernel");
}

void tfc::buildKernelToImage(OpPassManager &pm,
                             const PipelineOptions &options) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createConvertToLlvmPass());
  clean(device);
  EmitImagePassOptions image;
  image.chip = options.target.name;
  if (options.opt == OptLevel::None) {
    // Further on it spills registers around divisions of 64 bits; and a second
    // opinion is the better for few liberties.
    image.ptxasLevel = 1;
  }
  pm.addPass(createEmitImagePass(image));
  verifyStage(pm, "image");
}

void tfc::buildImageToLlvm(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createBindStepPass());
  pm.addPass(createLowerLaunchesPass());
  pm.addPass(createConvertToLlvmPass());
  finishLlvm(pm, options);
}

ArrayRef<Arrow> tfc::getArrows(const PipelineOptions &options) {
  static const Arrow none[] = {{"model", "fused", buildModelToFused},
                               {"fused", "linalg", buildFusedToLinalg},
                               {"linalg", "buffer", buildLinalgToBuffer},
                               {"buffer", "llvm", buildBufferToLlvm}};
  static const Arrow full[] = {{"model", "fused", buildModelToFused},
                               {"fused", "linalg", buildFusedToLinalg},
                               {"linalg", "tiled", buildLinalgToTiled},
                               {"tiled", "vector", buildTiledToVector},
                               {"vector", "buffer", buildVectorToBuffer},
                               {"buffer", "llvm", buildBufferToLlvm}};
  static const Arrow device[] = {{"model", "fused", buildModelToFused},
                                 {"fused", "linalg", buildFusedToLinalg},
                                 {"linalg", "buffer", buildLinalgToBuffer},
                                 {"buffer", "kernel", buildBufferToKernel},
                                 {"kernel", "image", buildKernelToImage},
                                 {"image", "llvm", buildImageToLlvm}};
  if (options.target.isDevice()) {
    return device;
  }
  return options.opt == OptLevel::None ? ArrayRef<Arrow>(none)
                                       : ArrayRef<Arrow>(full);
}

ArrayRef<PipelineOptions> tfc::listRoads() {
  static const PipelineOptions roads[] = {
      {*TargetInfo::findProgram("x86-64-v3"), OptLevel::None},
      {*TargetInfo::findProgram("x86-64-v3"), OptLevel::Full},
      {*TargetInfo::findProgram("sm_80"), OptLevel::None},
      {*TargetInfo::findProgram("sm_80"), OptLevel::Full}};
  return roads;
}

const Arrow *tfc::findArrow(const PipelineOptions &options, StringRef from,
                            StringRef stage) {
  for (const Arrow &arrow : getArrows(options)) {
    if (arrow.from == from && arrow.stage == stage) {
      return &arrow;
    }
  }
  return nullptr;
}
