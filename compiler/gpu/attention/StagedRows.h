// Rows of 16 bits in shared memory, which warps multiply fragments of.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_STAGEDROWS_H
#define TFC_COMPILER_GPU_ATTENTION_STAGEDROWS_H

#include "compiler/gpu/product/MatrixFragments.h"
#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// Rows of `columns` elements, a multiple of 16. Behind each there are 16 bytes
/// that nobody uses, so that eight rows of a tile of 8 x 8 lie in different
/// banks. Rows and columns are indices.
class StagedRows {
public:
  /// `memory` is a pointer to shared memory, a multiple of 16 bytes; `lane` is
  /// the thread's in its warp.
  StagedRows(KernelBuilder &k, mlir::Value memory, mlir::Value lane,
             int64_t columns)
      : k(k), memory(memory), lane(lane), rowBytes(rowBytesOf(columns)) {}

  static int64_t rowBytesOf(int64_t columns) { return 2 * columns + 16; }
  static int64_t bytesOf(int64_t rows, int64_t columns) {
    return rows * rowBytesOf(columns);
  }

  mlir::Value addressOf(mlir::Value row, mlir::Value column);
  /// Left sides: 16 rows from `row` on, 16 columns from `column` on.
  LeftFragment loadLeft(mlir::Value row, mlir::Value column);
  /// Right sides of a product with the rows: as many, two fragments of 8 rows.
  LeftFragment loadRows(mlir::Value row, mlir::Value column);
  /// Right sides of a product with the columns: two fragments of 8 columns.
  LeftFragment loadColumns(mlir::Value row, mlir::Value column);

private:
  KernelBuilder &k;
  mlir::Value memory, lane;
  int64_t rowBytes;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_STAGEDROWS_H
