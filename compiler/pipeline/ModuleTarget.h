// The target as the module says it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_MODULETARGET_H
#define TFC_COMPILER_PIPELINE_MODULETARGET_H

#include "compiler/target/TargetInfo.h"
#include "dialect/TransformerDialect.h"
#include "mlir/IR/BuiltinOps.h"

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
  /// Of int4, columns that have a scale, whether they have a zero point, or a
  /// zero that is a float, and what scales and such zeros are kept in.
  int64_t group = 0;
  bool zeros = false, floatZeros = false;
  transformer::Storage scales = transformer::Storage::F32;
};

/// What the library's tables say of a program that runs on such a host.
transformer::Isa isaOf(Machine machine);

/// Writes the attribute that readTarget reads.
void setTarget(mlir::ModuleOp module, const PipelineOptions &options);
/// What `module` is compiled for. Reports a module without the attribute, or
/// with one that names no program of ours, or one that there is not.
mlir::FailureOr<PipelineOptions> readTarget(mlir::ModuleOp module);

} // namespace tfc

#endif // TFC_COMPILER_PIPELINE_MODULETARGET_H
