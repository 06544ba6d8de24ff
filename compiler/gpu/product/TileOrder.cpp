// Numbers of blocks, turned.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/TileOrder.h"

using namespace mlir;
using namespace tfc;

/// Rows of the grid that are done column by column before the next ones; the
/// last ones may be fewer.
static constexpr int32_t kGroup = 8;

TilePlace tfc::findTile(ThreadBuilder &t, const ProductForm &form, int32_t rows,
                        int32_t columns) {
  if (form.ofExperts) {
    return {t.number(0), t.scale(t.blockX(), columns)};
  }
  Value inGroup = t.add(
      t.multiply(t.remainder(t.blockY(), kGroup), t.blocksX()), t.blockX());
  Value above = t.scale(t.divide(t.blockY(), kGroup), kGroup);
  Value height = t.min(t.subtract(t.blocksY(), above), t.number(kGroup));
  Value column = t.divide(inGroup, height);
  Value row = t.add(above, t.subtract(inGroup, t.multiply(column, height)));
  return {t.scale(row, rows), t.scale(column, columns)};
}
