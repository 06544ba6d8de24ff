// The stage table: what the IR is between the arrows of the pipeline.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Stages.h"

#include "llvm/ADT/STLExtras.h"

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
    "transformer.product",     "transformer.yield",
    "transformer.tap"};

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

static const StringRef llvmDialects[] = {"builtin", "llvm"};

static const Stage stages[] = {
    {"model",
     "the model as mathematics: no layout, no target",
     modelDialects,
     {},
     "the frontend",
     "the frontend"},
    {"fused",
     "the same language, after the passes that rewrite it",
     modelDialects,
     {},
     "canonicalize",
     "tfc-insert-taps (with --taps), tfc-fuse-epilogues (full), canonicalize, "
     "cse"},
    {"linalg",
     "linalg on tensors, and the structured ops that linalg cannot say",
     linalgDialects, linalgOps, "tfc-lower-to-linalg",
     "tfc-lower-to-linalg, tfc-select-strategy (full), tfc-pack-weights, "
     "canonicalize"},
    {"tiled", "loops over tiles of static rows and widths (full only)",
     tiledDialects, linalgOps, "tfc-lower-to-linalg",
     "tfc-tile-and-fuse{level=parallel}, tfc-tile-and-fuse{level=rows}, "
     "tfc-tile-and-fuse{level=reduction}, "
     "canonicalize and cse after each"},
    {"vector",
     "static tiles as vectors; linalg only where rows are dynamic (full only)",
     vectorDialects, linalgOps, "tfc-lower-to-linalg",
     "tfc-vectorize, tfc-expand-math, canonicalize, cse"},
    {"buffer", "loops over buffers in memory that the host lends",
     bufferDialects, bufferOps, "tfc-expand-cpu-kernels",
     "one-shot-bufferize, tfc-order-globals, canonicalize, cse, loops for "
     "linalg "
     "(convert-linalg-to-parallel-loops; full: convert-linalg-to-loops, "
     "scf-forall-to-parallel), tfc-bind-weights, tfc-call-taps, "
     "tfc-expand-cpu-kernels, tfc-expand-math, tfc-split-tiles (full), "
     "canonicalize, "
     "cse, "
     "tfc-plan-workspace"},
    {"llvm",
     "the LLVM dialect, with the tables of the ABI",
     llvmDialects,
     {},
     "tfc-emit-abi",
     "tfc-bind-step, tfc-lower-parallel, tfc-convert-to-llvm, tfc-emit-abi"},
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

void tfc::printStages(llvm::raw_ostream &os) {
  os << "# Stages\n\nMade by `tfc --print-stages=md`. Each arrow is a pipeline "
        "`tfc-<stage>-to-<stage>`\nof `tfc-opt`; `tfc compile "
        "--stop-after=<stage>` prints the IR after a stage, which\n"
        "`tfc-verify-stage` checks.\n\n"
        "| Stage | The IR after it | Dialects and ops | Passes that lead here "
        "|\n|---|---|---|---|\n";
  for (const Stage &stage : stages) {
    os << "| `" << stage.name << "` | " << stage.summary << " | ";
    llvm::interleaveComma(stage.dialects, os);
    if (!stage.ops.empty()) {
      os << "; ";
      llvm::interleaveComma(stage.ops, os,
                            [&](StringRef op) { os << '`' << op << '`'; });
    }
    os << " | " << stage.passes << " |\n";
  }
}
