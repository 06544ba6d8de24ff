// Weights of integers in the registers of a lane: as they lie, as pairs of 16
// bits, and what their groups have.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_WIDENEDWEIGHTS_H
#define TFC_COMPILER_GPU_PRODUCT_WIDENEDWEIGHTS_H

#include "compiler/gpu/product/ProductForm.h"
#include "compiler/gpu/thread/ThreadBuilder.h"

namespace tfc {

/// Of a form with integers: columns of a row of weights are read 64 at a time,
/// of which each of four lanes has 16, eight of each half, as
/// `#transformer.packed` has them in fragments.
class WidenedWeights {
public:
  /// Columns that are read at once, and those of a half, which are of one
  /// group.
  static constexpr int32_t kColumns = 64, kHalf = 32;

  WidenedWeights(ThreadBuilder &t, const ProductForm &form)
      : t(t), form(form) {}

  /// From row to row, of matrices of `depth` columns, which end with a whole
  /// stretch of 64.
  mlir::Value strideOf(mlir::Value depth);
  /// The lane's words of `columns` columns, 64 or a half of them, from an
  /// address on: of 64, four of bytes and two of four bits.
  llvm::SmallVector<mlir::Value> load(mlir::Value address,
                                      int32_t columns = kColumns);
  /// Of the lane's words, the eight columns of their half 0 or 1 as four words,
  /// pairs of the element of x, in the order of columns. `zero` is the group's
  /// zero point as it is kept, null where it is 0.
  llvm::SmallVector<mlir::Value> widen(llvm::ArrayRef<mlir::Value> words,
                                       int32_t half, mlir::Value zero);
  /// Bytes of a lane's columns of 64, which lie together, or of a half.
  int32_t laneBytes(int32_t columns = kColumns) const {
    return form.weightBytes(columns / 4);
  }

private:
  /// Both halves of a word, minus those of another, as the element of x.
  mlir::Value subtractPairs(mlir::Value x, mlir::Value y);
  mlir::Value maskOf(mlir::Value word, int32_t shift, uint32_t mask,
                     uint32_t set);
  llvm::SmallVector<mlir::Value> widenBytes(mlir::Value word);
  llvm::SmallVector<mlir::Value> widenFours(mlir::Value word, mlir::Value zero);
  /// 2^7 or 2^10, as pairs: what an integer stands behind in the element's
  /// bits.
  uint32_t above() const {
    return form.element.isBF16() ? 0x43004300 : 0x64006400;
  }

  ThreadBuilder &t;
  const ProductForm &form;
};

/// What the groups of one row of a matrix have.
class RowGroups {
public:
  /// Of row `row` of a matrix of `depth` columns.
  RowGroups(ThreadBuilder &t, const ProductForm &form,
            const ProductOperands::Groups &groups, mlir::Value row,
            mlir::Value depth);

  /// Of a group: its scale, as it is kept, and its zero point, null where there
  /// are none.
  mlir::Value loadScale(ThreadBuilder &t, mlir::Value group) const;
  mlir::Value loadZero(ThreadBuilder &t, mlir::Value group) const;

  /// The group of column `k`; the last one where there is no such column.
  static mlir::Value find(ThreadBuilder &t, const ProductForm &form,
                          mlir::Value k, mlir::Value depth);

private:
  mlir::Type scale;
  mlir::Value scales, zeros; // addresses of the first group's
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_WIDENEDWEIGHTS_H
