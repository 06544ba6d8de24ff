// What roads have in common: stages of every target, and parts of arrows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_SHAREDARROWS_H
#define TFC_COMPILER_PIPELINE_SHAREDARROWS_H

#include "compiler/pipeline/Road.h"

namespace tfc {

/// Ops of the dialect that linalg cannot say, at the stages before loops.
extern const llvm::StringRef structuredOps[20];

/// Stages that mean the same on every road.
extern const Stage modelStage, fusedStage, linalgStage, llvmStage;

/// The passes of an arrow's end: the contract of its stage.
void verifyStage(mlir::OpPassManager &pm, const Stage &stage);

/// Canonical IR without common subexpressions.
void clean(mlir::OpPassManager &pm);

/// Ops joined where that saves a trip through memory.
void fuse(mlir::OpPassManager &pm);

/// The end of every arrow to `fused`: canonical IR, with matrices kept as
/// `options` says, values between ops in `values`, and what products and
/// attention multiply in `factors` and `attention`.
void finishFused(mlir::OpPassManager &pm, const PipelineOptions &options,
                 transformer::Storage values,
                 transformer::Storage factors = transformer::Storage::F32,
                 transformer::Storage attention = transformer::Storage::F32);

/// The end of every arrow to `linalg`: weights are packed as products read
/// them.
void finishLinalg(mlir::OpPassManager &pm);

void bufferize(mlir::OpPassManager &pm);

/// What any target needs of the host once there are buffers.
void bindHost(mlir::OpPassManager &pm);

/// Arrows of --opt=none, which are the same for all targets: nothing is fused,
/// and ops become loops as they come, without tiles.
void buildPlainFused(mlir::OpPassManager &pm, const PipelineOptions &options);
void buildPlainLinalg(mlir::OpPassManager &pm, const PipelineOptions &options);
/// The third of them, to the road's own stage `buffer`.
void lowerToPlainBuffer(mlir::OpPassManager &pm, const Stage &stage);

/// Ops of structure as parallel loops over their elements, where bufferize has
/// run.
void makeParallelLoops(mlir::OpPassManager &pm);

/// Behind the conversion to the LLVM dialect: what the host is told, and what
/// tells of it.
void finishLlvm(mlir::OpPassManager &pm, const PipelineOptions &options);

} // namespace tfc

#endif // TFC_COMPILER_PIPELINE_SHAREDARROWS_H
