// What a stage promises beyond the ops that it may have.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_CHECKSTAGE_H
#define TFC_COMPILER_PIPELINE_CHECKSTAGE_H

#include "mlir/IR/BuiltinOps.h"

namespace tfc {

// Each checks that the passes of the arrow to its stage have done what they are
// for, and reports the first op that is not so.

/// No product is whole and no tile size unused.
mlir::LogicalResult checkTiled(mlir::ModuleOp module);

/// That, and no tile is left in linalg. Maps over rows that stay plain loops
/// are right and slow: a warning says how many of them there are.
mlir::LogicalResult checkVector(mlir::ModuleOp module);

/// No vector is longer than any target's registers.
mlir::LogicalResult checkBuffer(mlir::ModuleOp module);

/// An entry touches no memory of a device.
mlir::LogicalResult checkKernel(mlir::ModuleOp module);

/// A function's stack is small.
mlir::LogicalResult checkLlvm(mlir::ModuleOp module);

} // namespace tfc

#endif // TFC_COMPILER_PIPELINE_CHECKSTAGE_H
