// A row's vectors in the registers of a warp, or of a block.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ROWS_WARPROW_H
#define TFC_COMPILER_GPU_ROWS_WARPROW_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// Emits what one lane does of ops on vectors as long as a row. A vector is the
/// lane's pieces of it, or one number where all columns have the same.
class WarpRow {
public:
  static constexpr int64_t kLanes = 32;
  /// Threads of a block, and the longest row that a warp's registers hold.
  static constexpr int64_t kBlockLanes = 128, kWarpColumns = 2048;

  /// How many lanes share a row of `width` columns: those of a warp, or of a
  /// block.
  static int64_t lanesOf(int64_t width) {
    return width <= kWarpColumns ? kLanes : kBlockLanes;
  }

  /// Rows of `width` columns; `b` is where the lane's code goes, `lane` its
  /// place among lanesOf(width).
  WarpRow(mlir::ImplicitLocOpBuilder &b, mlir::Value lane, int64_t width);

  /// Whether emit knows the op, on vectors of one axis.
  static bool isKnown(mlir::Operation *op);

  /// What the row's code calls `from` is `to` for the lane.
  void map(mlir::ValueRange from, mlir::ValueRange to) {
    scalars.map(from, to);
  }
  void emit(mlir::Operation *op);

private:
  using Pieces = llvm::SmallVector<mlir::Value>;

  void emitRead(mlir::vector::TransferReadOp op);
  void emitWrite(mlir::vector::TransferWriteOp op);
  void emitReduction(mlir::vector::MultiDimReductionOp op);
  /// What all lanes of the warp have; of all warps of the block.
  mlir::Value sumOfWarp(mlir::Value sum);
  mlir::Value sumOfBlock(mlir::Value sum);
  /// An op on numbers, or on vectors whose columns are all the same.
  void emitOnce(mlir::Operation *op);
  void emitPieces(mlir::Operation *op);

  /// The type of a piece, or of a number where a piece is one column.
  mlir::Type pieceOf(mlir::Type vector) const;
  bool isSame(mlir::Value vector) const { return scalars.contains(vector); }
  /// Piece `index` of a vector, as a vector of its own where all columns are
  /// the same.
  mlir::Value piece(mlir::Value vector, size_t index);
  /// The indices of a piece's first column, whose row begins at `indices`.
  Pieces place(mlir::OperandRange indices, size_t index);
  bool isPartial(size_t index) const {
    return isShort && index + 1 == columns.size();
  }

  mlir::ImplicitLocOpBuilder &b;
  mlir::Value lane;
  int64_t lanes, columnsOfPiece;
  /// Where each piece begins, and whether the lane has the last one; null where
  /// every lane does.
  Pieces columns;
  mlir::Value hasLast;
  bool isShort = false;
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Pieces> pieces;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ROWS_WARPROW_H
