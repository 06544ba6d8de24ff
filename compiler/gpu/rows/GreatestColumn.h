// The greatest column of a row, and which one that is: a block does a row.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ROWS_GREATESTCOLUMN_H
#define TFC_COMPILER_GPU_ROWS_GREATESTCOLUMN_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tfc {

/// Threads of a block: enough for one to have a row of a vocabulary on its way
/// at once, since a step of one sequence has no other.
constexpr int32_t kGreatestThreads = 1024;

/// The kernel for rows of f32 at the end of `kernels`: (rows, a number of 32
/// bits for each, the width of a row). Block i does row i, and gives what
/// `tfc_step_v0.greatest` is.
mlir::gpu::GPUFuncOp buildGreatestColumn(mlir::Location loc,
                                         mlir::gpu::GPUModuleOp kernels);

} // namespace tfc

#endif // TFC_COMPILER_GPU_ROWS_GREATESTCOLUMN_H
