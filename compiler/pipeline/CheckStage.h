// What a stage promises beyond the ops that it may have.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_CHECKSTAGE_H
#define TFC_COMPILER_PIPELINE_CHECKSTAGE_H

#include "compiler/pipeline/Stages.h"
#include "mlir/IR/BuiltinOps.h"

namespace tfc {

/// Checks that the passes of the arrow to `stage` have done what they are for:
/// in `tiled` no product is whole and no tile size unused, in `vector` no tile
/// is left in linalg, in `buffer` no vector is longer than any target's
/// registers, in `kernel` an entry touches no memory of a device, in `llvm` a
/// function's stack is small. Reports the first op that is not so. Maps over
/// rows that stay plain loops are right and slow: a warning says how many of
/// them there are.
mlir::LogicalResult checkStage(const Stage &stage, mlir::ModuleOp module);

} // namespace tfc

#endif // TFC_COMPILER_PIPELINE_CHECKSTAGE_H
