// Some columns of rows and of a state, in registers: what kernels that go from
// token to token hold of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_COLUMNTILE_H
#define TFC_COMPILER_KERNEL_COLUMNTILE_H

#include "compiler/kernel/ColumnPieces.h"
#include "compiler/kernel/StateBlocks.h"

namespace tfc {

/// Columns from `first` on: pieces that are vectors, or numbers where they are
/// one wide.
class ColumnTile {
public:
  using Values = KernelBuilder::Values;

  ColumnTile(KernelBuilder &k, mlir::Value first,
             llvm::ArrayRef<ColumnPiece> pieces)
      : k(k), first(first), pieces(pieces.begin(), pieces.end()) {}

  /// A number in each column.
  Values broadcast(mlir::Value number);
  Values zeros() { return broadcast(k.number(0)); }

  /// The columns of row `row` of a buffer, and back, rounded to its elements;
  /// `offset` is what they are behind.
  Values loadRow(mlir::Value rows, mlir::Value row, mlir::Value offset);
  void storeRow(mlir::ValueRange values, mlir::Value rows, mlir::Value row,
                mlir::Value offset);
  /// Column c at `stride` c + `offset` of the row.
  void storeSpread(mlir::ValueRange values, mlir::Value rows, mlir::Value row,
                   int64_t stride, int64_t offset);
  /// The columns of a vector (`offset` is what they are behind), or of column
  /// `column` of a matrix with a row for each of ours.
  Values loadVector(mlir::Value vector, mlir::Value offset = {});
  Values loadTransposed(mlir::Value matrix, mlir::Value column);

  /// The columns of f32 numbers at `address`, and back.
  Values loadState(mlir::Value address);
  void storeState(mlir::ValueRange values, mlir::Value address);

  /// Piece by piece.
  Values fma(mlir::ValueRange a, mlir::ValueRange b, mlir::ValueRange c);
  Values multiply(mlir::ValueRange a, mlir::ValueRange b);
  Values subtract(mlir::ValueRange a, mlir::ValueRange b);
  /// `otherwise` where `condition` is false.
  Values select(mlir::Value condition, mlir::ValueRange values,
                mlir::ValueRange otherwise);

  size_t size() const { return pieces.size(); }

private:
  mlir::Value at(const ColumnPiece &piece, mlir::Value offset = {});

  KernelBuilder &k;
  mlir::Value first;
  llvm::SmallVector<ColumnPiece> pieces;
};

/// In parallel, for every sequence of the step, every place in `axes` and every
/// `vectors` x `lanes` of `columns` columns; those that are left get an item
/// for every sequence and place. With `lanes` 1 every column is one.
void forEachColumnTile(
    KernelBuilder &k, mlir::Value step, llvm::ArrayRef<int64_t> axes,
    int64_t columns, int64_t lanes, int64_t vectors,
    llvm::function_ref<void(mlir::Value sequence, mlir::ValueRange places,
                            ColumnTile &tile)>
        body);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_COLUMNTILE_H
