// The roads of a CUDA device's programs: loops as they come, which become
// threads; or rows, products and attention that warps and blocks share out.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/Passes.h"
#include "compiler/gpu/Passes.h"
#include "compiler/gpu/product/ProductForm.h"
#include "compiler/host/Passes.h"
#include "compiler/kernel/Passes.h"
#include "compiler/lowering/Passes.h"
#include "compiler/pipeline/CheckStage.h"
#include "compiler/pipeline/SharedArrows.h"
#include "compiler/tiling/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace tfc;

static const StringRef bufferDialects[] = {
    "builtin", "func",   "arith", "math", "memref", "scf",
    "affine",  "vector", "ub",    "llvm", "gpu",    "nvvm"};
static const StringRef bufferOps[] = {
    "transformer.parameter", "transformer.worker", "transformer.product",
    "transformer.yield"};

static const StringRef kernelDialects[] = {
    "builtin", "func",   "arith", "math", "memref", "scf",
    "affine",  "vector", "llvm",  "gpu",  "nvvm"};
static const StringRef kernelOps[] = {"transformer.parameter"};

static const Stage bufferStage = {
    "buffer",
    "loops over buffers in memory that the host lends; products as they were",
    bufferDialects,
    bufferOps,
    "tfc-expand-scalar-kernels",
    checkBuffer};

static const Stage kernelStage = {
    "kernel",
    "what the device does as kernels of a `gpu.module`, what the host does as "
    "launches of them",
    kernelDialects,
    kernelOps,
    "tfc-outline-threads",
    checkKernel};

static const Stage imageStage = {
    "image", "kernels as a `gpu.binary`: PTX, and a cubin of it",
    kernelDialects, kernelOps, "tfc-emit-image"};

static void buildImageToLlvm(OpPassManager &pm,
                             const PipelineOptions &options) {
  pm.addPass(createBindStepPass());
  pm.addPass(createLowerLaunchesPass());
  pm.addPass(createConvertToLlvmPass());
  finishLlvm(pm, options);
}

/// Kernels as PTX, and as a binary of ptxas at `ptxasLevel`.
static void emitImage(OpPassManager &pm, EmitImagePassOptions image,
                      const PipelineOptions &options) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createConvertToLlvmPass());
  clean(device);
  image.chip = options.target.name;
  pm.addPass(createEmitImagePass(image));
  verifyStage(pm, imageStage);
}

//===----------------------------------------------------------------------===//
// --opt=none
//===----------------------------------------------------------------------===//

static void buildPlainBuffer(OpPassManager &pm, const PipelineOptions &) {
  lowerToPlainBuffer(pm, bufferStage);
}

/// Loops as kernels, and how these follow each other.
static void outlineKernels(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createFindGreatestPass());
  pm.addPass(createOutlineThreadsPass());
  if (options.target.hasOverlap()) {
    pm.addPass(createOverlapLaunchesPass());
  }
  clean(pm);
}

static void buildPlainKernel(OpPassManager &pm,
                             const PipelineOptions &options) {
  outlineKernels(pm, options);
  verifyStage(pm, kernelStage);
}

static void buildPlainImage(OpPassManager &pm, const PipelineOptions &options) {
  EmitImagePassOptions image;
  // Further on it spills registers around divisions of 64 bits; and a second
  // opinion is the better for few liberties.
  image.ptxasLevel = 1;
  emitImage(pm, image, options);
}

static const Arrow plainArrows[] = {
    {&modelStage, &fusedStage, buildPlainFused},
    {&fusedStage, &linalgStage, buildPlainLinalg},
    {&linalgStage, &bufferStage, buildPlainBuffer},
    {&bufferStage, &kernelStage, buildPlainKernel},
    {&kernelStage, &imageStage, buildPlainImage},
    {&imageStage, &llvmStage, buildImageToLlvm}};

const Road tfc::cudaPlainRoad = {"cuda none", TargetKind::Cuda, OptLevel::None,
                                 "sm_80", plainArrows};

//===----------------------------------------------------------------------===//
// --opt=full
//===----------------------------------------------------------------------===//

/// What values between ops are kept in: what matrices are, or bf16 where those
/// are integers, which kernels widen to it.
static transformer::Storage valuesOf(transformer::Storage weights) {
  bool areIntegers = weights == transformer::Storage::Int8 ||
                     weights == transformer::Storage::Int4;
  return areIntegers ? transformer::Storage::BF16 : weights;
}

static void buildFused(OpPassManager &pm, const PipelineOptions &options) {
  fuse(pm);
  finishFused(pm, options, valuesOf(options.weights));
}

static void buildLinalg(OpPassManager &pm, const PipelineOptions &) {
  LowerToLinalgPassOptions lower;
  lower.kernelRows = ProductForm::kMultiple;
  pm.addPass(createLowerToLinalgPass(lower));
  finishLinalg(pm);
}

/// Rows as vectors, which warps share out.
static void vectorizeRows(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createFuseRowsPass());
  VectorizePassOptions vectorize;
  vectorize.unroll = 1;
  pm.addNestedPass<func::FuncOp>(createVectorizePass(vectorize));
}

/// Our own polynomials; roundings are an instruction.
static void expandMath(OpPassManager &pm) {
  ExpandMathPassOptions options;
  options.polynomials = Polynomials::Own;
  options.rounding = false;
  pm.addPass(createExpandMathPass(options));
}

static void buildBuffer(OpPassManager &pm, const PipelineOptions &options) {
  vectorizeRows(pm);
  bufferize(pm);
  makeParallelLoops(pm);
  bindHost(pm);
  // Loops whose bounds are numbers can be seen to fill a buffer.
  clean(pm);
  ExpandDeviceKernelsPassOptions kernels;
  kernels.warpgroups = options.target.hasWarpgroups();
  kernels.sharedBytes = options.target.sharedBytes();
  pm.addPass(createExpandDeviceKernelsPass(kernels));
  pm.addPass(createExpandDeviceExpertsPass());
  pm.addPass(createExpandDeviceRecurrencesPass());
  pm.addPass(createExpandScalarKernelsPass());
  expandMath(pm);
  clean(pm);
  pm.addPass(createDistributeVectorsPass());
  pm.addPass(createWidenLoopsPass());
  pm.addPass(createJoinLoopsPass());
  clean(pm);
  pm.addPass(createPlanWorkspacePass());
  verifyStage(pm, bufferStage);
}

static void buildKernel(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createDistributeRowsPass());
  LowerProductsPassOptions products;
  products.deterministic = options.deterministic;
  products.warpgroups = options.target.hasWarpgroups();
  products.overlap = options.target.hasOverlap();
  pm.addPass(createLowerProductsPass(products));
  outlineKernels(pm, options);
  verifyStage(pm, kernelStage);
}

static void buildImage(OpPassManager &pm, const PipelineOptions &options) {
  EmitImagePassOptions image;
  SmallVector<StringRef> later;
  StringRef(options.target.microarchitecture)
      .split(later, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  image.laterChips.assign(later.begin(), later.end());
  emitImage(pm, image, options);
}

static const Arrow fastArrows[] = {{&modelStage, &fusedStage, buildFused},
                                   {&fusedStage, &linalgStage, buildLinalg},
                                   {&linalgStage, &bufferStage, buildBuffer},
                                   {&bufferStage, &kernelStage, buildKernel},
                                   {&kernelStage, &imageStage, buildImage},
                                   {&imageStage, &llvmStage, buildImageToLlvm}};

const Road tfc::cudaRoad = {"cuda full", TargetKind::Cuda, OptLevel::Full,
                            "sm_80", fastArrows};
