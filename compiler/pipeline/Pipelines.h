// The arrows between the stages, one function each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_PIPELINES_H
#define TFC_COMPILER_PIPELINE_PIPELINES_H

#include "compiler/target/TargetInfo.h"
#include "mlir/Pass/PassManager.h"

namespace tfc {

/// What the passes may depend on besides the IR.
struct PipelineOptions {
  TargetInfo target;
  bool taps = false;
};

/// Each adds the passes of one arrow and the contract check of its stage.
void buildModelToFused(mlir::OpPassManager &pm, const PipelineOptions &options);
void buildFusedToLinalg(mlir::OpPassManager &pm,
                        const PipelineOptions &options);
void buildLinalgToBuffer(mlir::OpPassManager &pm,
                         const PipelineOptions &options);
void buildBufferToLlvm(mlir::OpPassManager &pm, const PipelineOptions &options);

/// An arrow: the name of the stage it leads to, and how to get there.
struct Arrow {
  llvm::StringRef stage;
  void (*build)(mlir::OpPassManager &, const PipelineOptions &);
};

/// All arrows, in order; the first starts at the stage `model`.
llvm::ArrayRef<Arrow> getArrows();

} // namespace tfc

#endif // TFC_COMPILER_PIPELINE_PIPELINES_H
