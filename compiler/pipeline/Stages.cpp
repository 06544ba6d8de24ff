// The stage table: what the IR is between the arrows of the pipeline.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Stages.h"

using namespace tfc;
using llvm::StringRef;

static const StringRef modelDialects[] = {"builtin", "func",   "arith",
                                          "scf",     "tensor", "transformer"};

static const StringRef linalgDialects[] = {
    "builtin", "func",   "arith",  "math",          "scf",
    "tensor",  "linalg", "memref", "bufferization",
};
static const StringRef linalgOps[] = {
    "transformer.parameter",   "transformer.weight",
    "transformer.cache_write", "transformer.paged_attention",
    "transformer.ragged_pool", "transformer.product",
    "transformer.yield",       "transformer.tap"};

static const StringRef tiledDialects[] = {
    "builtin", "func",   "arith",  "math",          "scf",
    "tensor",  "linalg", "memref", "bufferization", "affine",
};
static const StringRef vectorDialects[] = {
    "builtin", "func",   "arith",         "math",   "scf",    "tensor",
    "linalg",  "memref", "bufferization", "affine", "vector", "ub",
};

static const StringRef bufferDialects[] = {
    "builtin", "func",   "arith", "math", "memref", "scf",
    "affine",  "vector", "ub",    "llvm", "gpu",    "nvvm"};
static const StringRef bufferOps[] = {
    "transformer.parameter", "transformer.worker", "transformer.product",
    "transformer.yield"};

static const StringRef kernelDialects[] = {"builtin", "func", "arith",  "math",
                                           "memref",  "scf",  "vector", "llvm",
                                           "gpu",     "nvvm"};
static const StringRef kernelOps[] = {"transformer.parameter"};

static const StringRef llvmDialects[] = {"builtin", "llvm"};

static const Stage stages[] = {
    {"model",
     "the model as mathematics: no layout, no target",
     modelDialects,
     {},
     "the frontend"},
    {"fused",
     "the same language, after the passes that rewrite it",
     modelDialects,
     {},
     "canonicalize"},
    {"linalg",
     "linalg on tensors, and the structured ops that linalg cannot say",
     linalgDialects, linalgOps, "tfc-lower-to-linalg"},
    {"tiled", "loops over tiles of static rows and widths (full only)",
     tiledDialects, linalgOps, "tfc-lower-to-linalg"},
    {"vector",
     "static tiles as vectors; linalg only where rows are dynamic (full only)",
     vectorDialects, linalgOps, "tfc-lower-to-linalg"},
    {"buffer", "loops over buffers in memory that the host lends",
     bufferDialects, bufferOps, "tfc-expand-cpu-kernels"},
    {"kernel",
     "what a device does as kernels of a `gpu.module`, what the host does as "
     "launches of them (cuda only)",
     kernelDialects, kernelOps, "tfc-outline-threads"},
    {"image", "kernels as a `gpu.binary`: PTX, and a cubin of it (cuda only)",
     kernelDialects, kernelOps, "tfc-emit-image"},
    {"llvm",
     "the LLVM dialect, with the tables of the ABI",
     llvmDialects,
     {},
     "tfc-emit-abi"},
};

llvm::ArrayRef<Stage> tfc::getStages() { return stages; }

const Stage *tfc::findStage(StringRef name) {
  for (const Stage &stage : stages) {
    if (stage.name == name) {
      return &stage;
    }
  }
  return nullptr;
}
