// What is done to a product's sums in registers, and where they go.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_PRODUCTEPILOGUE_H
#define TFC_COMPILER_GPU_PRODUCT_PRODUCTEPILOGUE_H

#include "compiler/gpu/product/ProductForm.h"
#include "compiler/gpu/thread/ThreadBuilder.h"

namespace tfc {

/// Emits a product's body on single sums: in f32, rounded once when stored.
/// Reading is apart from storing so that many reads can be under way at once.
class ProductEpilogue {
public:
  /// An element of each operand.
  using Elements = llvm::SmallVector<mlir::Value>;

  ProductEpilogue(ThreadBuilder &t, const ProductForm &form,
                  const ProductOperands &operands)
      : t(t), form(form), operands(operands) {}

  /// Of `count` columns (1 or 2) from `column` on, which is even where they are
  /// 2: what the body reads of columns and of a row, one after the other. A row
  /// or a column beyond the last one is the last one.
  llvm::SmallVector<Elements> loadColumns(mlir::Value column, unsigned count);
  llvm::SmallVector<Elements> loadRow(mlir::Value row, mlir::Value column,
                                      unsigned count);
  /// The body's result; with a gate, of the gate's sum and the product's own.
  mlir::Value apply(llvm::ArrayRef<mlir::Value> sums, const Elements &columns,
                    const Elements &rows);
  /// Stores as many results as there are, side by side; those beyond the last
  /// column, and all when `isRow` is not so, are dropped.
  void store(mlir::Value row, mlir::Value column, mlir::Value isRow,
             llvm::ArrayRef<mlir::Value> results);

  /// All of that for a warp's sums, which are fragments of 16 rows and 8
  /// columns side by side (SumFragment): `lefts` rows of as many of them each,
  /// from row `row` and column `column` of the result on. With a gate they are
  /// the gate's and the product's own in turns.
  void finish(mlir::Value row, mlir::Value column,
              llvm::ArrayRef<mlir::Value> sums, int32_t lefts);

private:
  /// `count` elements as f32.
  Elements loadFloats(mlir::Value base, mlir::Type element, mlir::Value row,
                      mlir::Value stride, mlir::Value column, unsigned count);
  /// The body of `op`, which is the form's or its gate's.
  mlir::Value applyBody(transformer::ProductOp op, mlir::Value sum,
                        llvm::ArrayRef<mlir::Value> columns,
                        llvm::ArrayRef<mlir::Value> rows);
  mlir::Value lastOf(mlir::Value count, int32_t elements);

  ThreadBuilder &t;
  const ProductForm &form;
  const ProductOperands &operands;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_PRODUCTEPILOGUE_H
