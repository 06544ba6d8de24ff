// Numbers side by side in a row, as a thread moves them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ROWS_ROWVECTOR_H
#define TFC_COMPILER_GPU_ROWS_ROWVECTOR_H

#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// `count` numbers from `column` of row `token` on, as a vector of what they
/// are kept in. Column and width of the rows are multiples of `count`.
mlir::Value loadKeptVector(KernelBuilder &k, mlir::Value rows,
                           mlir::Value token, mlir::Value column,
                           int64_t count);
/// The same, widened to f32.
mlir::Value loadRowVector(KernelBuilder &k, mlir::Value rows, mlir::Value token,
                          mlir::Value column, int64_t count);
/// And back, rounded to what the rows keep.
void storeRowVector(KernelBuilder &k, mlir::Value vector, mlir::Value rows,
                    mlir::Value token, mlir::Value column);

} // namespace tfc

#endif // TFC_COMPILER_GPU_ROWS_ROWVECTOR_H
