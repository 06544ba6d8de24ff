// The arrows between the stages, one function each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_PIPELINES_H
#define TFC_COMPILER_PIPELINE_PIPELINES_H

#include "compiler/target/TargetInfo.h"
#include "mlir/Pass/PassManager.h"

namespace tfc {

/// none: plain scalar loops, the second opinion. full: packed, tiled, vectors.
enum class OptLevel { None, Full };

/// What the passes may depend on besides the IR.
struct PipelineOptions {
  TargetInfo target;
  OptLevel opt = OptLevel::None;
  bool taps = false;
};

/// Each adds the passes of one arrow and the contract check of its stage.
void buildModelToFused(mlir::OpPassManager &pm, const PipelineOptions &options);
void buildFusedToLinalg(mlir::OpPassManager &pm,
                        const PipelineOptions &options);
void buildLinalgToBuffer(mlir::OpPassManager &pm,
                         const PipelineOptions &options);
void buildLinalgToTiled(mlir::OpPassManager &pm,
                        const PipelineOptions &options);
void buildTiledToVector(mlir::OpPassManager &pm,
                        const PipelineOptions &options);
void buildVectorToBuffer(mlir::OpPassManager &pm,
                         const PipelineOptions &options);
void buildBufferToLlvm(mlir::OpPassManager &pm, const PipelineOptions &options);

/// The taps that `taps` asks for, alone: the module that an interpreter runs
/// beside a library with taps.
void buildTaps(mlir::OpPassManager &pm);

/// An arrow: the stages it leads from and to, and how.
struct Arrow {
  llvm::StringRef from;
  llvm::StringRef stage;
  void (*build)(mlir::OpPassManager &, const PipelineOptions &);
};

/// The arrows of a level, in order; the first starts at the stage `model`.
llvm::ArrayRef<Arrow> getArrows(OptLevel opt);

} // namespace tfc

#endif // TFC_COMPILER_PIPELINE_PIPELINES_H
