// The vectors that kernels cut rows into.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_COLUMNPIECES_H
#define TFC_COMPILER_KERNEL_COLUMNPIECES_H

#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// Columns [offset, offset + width) of a row: a vector of static width.
struct ColumnPiece {
  int64_t offset, width;
};

/// Cuts `columns` columns into vectors: `lanes` wide as long as they fit, then
/// of half the width, and so on, so that nothing is read beyond the row and no
/// mask is needed.
llvm::SmallVector<ColumnPiece> cutColumns(int64_t columns, int64_t lanes);

mlir::VectorType f32Vector(KernelBuilder &k, int64_t width);

/// `width` floats at a pointer that is aligned to a float; what is stored may
/// be a single one.
mlir::Value loadVector(KernelBuilder &k, mlir::Value address, int64_t width);
void storeVector(KernelBuilder &k, mlir::Value vector, mlir::Value address);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_COLUMNPIECES_H
