// Rows that loops compute for a single reader, which does so itself.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ROWS_COMPUTEDROWS_H
#define TFC_COMPILER_GPU_ROWS_COMPUTEDROWS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Rows (tokens x columns) of a buffer that parallel loops fill, each its
/// columns of every part of a row (of a head), for nobody but one op. Who reads
/// them can compute what the loops would have stored.
class ComputedRows {
public:
  /// Of `rows`, which `reader` reads `count` columns at a time, from multiples
  /// of `count` on; nothing where they must be in memory.
  static std::optional<ComputedRows>
  find(mlir::Value rows, mlir::Operation *reader, int64_t count);

  /// `count` columns of row `token` from `column` on, as the buffer would keep
  /// them.
  mlir::Value build(mlir::ImplicitLocOpBuilder &b, mlir::Value token,
                    mlir::Value column) const;
  /// Erases the loops: nobody reads what they store any more.
  void erase(mlir::RewriterBase &rewriter) const;

private:
  /// A loop, and the columns of a part that it stores.
  struct Writer {
    mlir::scf::ParallelOp loop;
    int64_t first, columns;
  };

  std::optional<Writer> findWriter(mlir::memref::StoreOp store) const;
  bool addWriters(mlir::Value view, mlir::Operation *reader);
  bool coverParts();
  mlir::Value buildFrom(mlir::ImplicitLocOpBuilder &b,
                        llvm::ArrayRef<Writer> from, mlir::Value token,
                        mlir::Value part, mlir::Value column) const;

  mlir::memref::AllocOp buffer;
  mlir::Type element;                // of the buffer
  llvm::SmallVector<Writer> writers; // in the order of their columns
  int64_t count = 0;
  int64_t partColumns = 0; // of a part of a row, which all writers agree on
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ROWS_COMPUTEDROWS_H
