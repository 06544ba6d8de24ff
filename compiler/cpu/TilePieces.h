// Tiles, vectors of any shape, as pieces that a register holds.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_TILEPIECES_H
#define TFC_COMPILER_CPU_TILEPIECES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tfc {

/// A part of a tile: `width` neighbours of the last dimension.
struct Piece {
  llvm::SmallVector<int64_t> offsets; // of each dimension of the tile
  int64_t width;
};

/// The parts of a tile, row by row: vectors of `lanes`, and what is left.
llvm::SmallVector<Piece> piecesOf(mlir::VectorType tile, int64_t lanes);

/// A tile's type becomes the types of its pieces; other types stay.
struct PieceTypes : mlir::TypeConverter {
  /// `lanes`: elements of a register.
  explicit PieceTypes(int64_t lanes);

  /// Whether `type` is a vector that no single register holds.
  bool isTile(mlir::Type type) const;

  static mlir::VectorType typeOf(const Piece &piece, mlir::VectorType tile);

  int64_t lanes;
};

/// The rewrites of ops on tiles, on buffers, piece by piece. They keep `types`,
/// which must live as long.
void populateTilePiecePatterns(const PieceTypes &types,
                               mlir::RewritePatternSet &patterns);

} // namespace tfc

#endif // TFC_COMPILER_CPU_TILEPIECES_H
