// A stage of a tiled product whose weights are integers: from shared memory to
// fragments.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_WIDENEDSTAGE_H
#define TFC_COMPILER_GPU_PRODUCT_WIDENEDSTAGE_H

#include "compiler/gpu/product/GroupScales.h"
#include "compiler/gpu/product/WidenedWeights.h"

namespace tfc {

struct TiledProduct;

/// A lane has eight steps of k of each 32, which do not care in what order they
/// are, both of x and of w: in 16 bytes of a row of x, and in a word or two of
/// a row of w, which it widens. So w goes through shared memory as narrow as it
/// is. Chunk c of row r of x lies at place c xor 4 (r % 2), so that eight
/// lanes, which read four chunks of two rows, meet all banks; those of w do
/// where they lie.
class WidenedStage {
public:
  using Sums = ThreadBuilder::Values;

  /// Of a thread: the block's shared memory, the lane, its warp's first row and
  /// column in the tile, the tile's first column.
  struct Places {
    mlir::Value shared, lane, warpRow, warpColumn, firstColumn;
  };

  WidenedStage(ThreadBuilder &t, const TiledProduct &tile,
               const ProductForm &form, const ProductOperands &operands,
               const Places &places);

  /// Where chunk `chunk` of row `row` of x lies in its row.
  mlir::Value placeOf(mlir::Value chunk, mlir::Value row);
  /// Asks for the scales of stage number `stage`, whose memory is at `base`: of
  /// both halves' groups, for all columns of the tile.
  void requestScales(mlir::Value base, mlir::Value stage);
  /// `sums`, and the products of stage number `stage`, which is at place
  /// `slot`.
  Sums multiply(mlir::Value slot, mlir::Value stage,
                llvm::ArrayRef<mlir::Value> sums);

private:
  using Words = llvm::SmallVector<mlir::Value>;

  llvm::SmallVector<Words> loadInput(mlir::Value base, mlir::Value half);
  Words loadWeights(mlir::Value base, int32_t right, mlir::Value half,
                    mlir::Value group);
  mlir::Value loadZero(int32_t right, mlir::Value group);
  Words loadScales(mlir::Value base, int32_t right, mlir::Value half);
  Sums multiplyHalf(mlir::Value base, mlir::Value half, mlir::Value stage,
                    mlir::ValueRange before);
  void multiplyRight(llvm::ArrayRef<Words> input, const Words &weights,
                     const Words &scales, int32_t right, Sums &sums);

  ThreadBuilder &t;
  const TiledProduct &tile;
  const ProductForm &form;
  const ProductOperands &p;
  Places at;
  GroupScales scales;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_WIDENEDSTAGE_H
