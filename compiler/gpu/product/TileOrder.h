// Which tile of a product a block does.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_TILEORDER_H
#define TFC_COMPILER_GPU_PRODUCT_TILEORDER_H

#include "compiler/gpu/product/ProductForm.h"
#include "compiler/gpu/thread/ThreadBuilder.h"

namespace tfc {

/// The first row and the first column of the block's tile, of a grid that has
/// tiles of columns on x and tiles of rows on y.
struct TilePlace {
  mlir::Value row, column;
};

/// Blocks run in the order of their numbers, x first. Those of a few rows of
/// the grid are numbered down its columns instead: blocks that run side by side
/// then share both operands in the second-level cache; row by row they would
/// read all of the weights for every row of tiles. Of experts a block's rows
/// are all there are: those are looked for elsewhere (ExpertTile), and rows of
/// tiles have matrices of their own.
TilePlace findTile(ThreadBuilder &t, const ProductForm &form, int32_t rows,
                   int32_t columns);

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_TILEORDER_H
