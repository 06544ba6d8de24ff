// The arrows between the stages, one function each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_PIPELINES_H
#define TFC_COMPILER_PIPELINE_PIPELINES_H

#include "compiler/target/TargetInfo.h"
#include "dialect/TransformerDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace tfc {

using transformer::OptLevel;

/// What the passes may depend on besides the IR: the module's TargetAttr.
struct PipelineOptions {
  TargetInfo target;
  OptLevel opt = OptLevel::None;
  /// What matrices are kept in, and whether weights are rounded to it.
  transformer::Storage weights = transformer::Storage::F32;
  bool rounds = false;
  /// Whether a row's bits may not depend on the other rows of its step, on
  /// devices either.
  bool deterministic = false;
};

/// Writes the attribute that readTarget reads.
void setTarget(mlir::ModuleOp module, const PipelineOptions &options);
/// What `module` is compiled for. Reports a module without the attribute, or
/// with one that names no program of ours, or one that there is not.
mlir::FailureOr<PipelineOptions> readTarget(mlir::ModuleOp module);

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
void buildBufferToKernel(mlir::OpPassManager &pm,
                         const PipelineOptions &options);
void buildKernelToImage(mlir::OpPassManager &pm,
                        const PipelineOptions &options);
void buildImageToLlvm(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Before the first arrow: taps behind every op, for a library that reports its
/// values, and for the interpreter that is run beside it.
void buildTaps(mlir::OpPassManager &pm);

/// An arrow: the stages it leads from and to, and how.
struct Arrow {
  llvm::StringRef from;
  llvm::StringRef stage;
  void (*build)(mlir::OpPassManager &, const PipelineOptions &);
};

/// The arrows that a program of a device, or else of a CPU at a level, takes,
/// in order; the first starts at the stage `model`.
llvm::ArrayRef<Arrow> getArrows(const PipelineOptions &options);

/// One of each road that there are arrows for.
llvm::ArrayRef<PipelineOptions> listRoads();

/// That between two stages of a road, or null.
const Arrow *findArrow(const PipelineOptions &options, llvm::StringRef from,
                       llvm::StringRef stage);

} // namespace tfc

#endif // TFC_COMPILER_PIPELINE_PIPELINES_H
