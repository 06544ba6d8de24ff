// Which rows of which expert a block multiplies.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_EXPERTTILE_H
#define TFC_COMPILER_GPU_PRODUCT_EXPERTTILE_H

#include "compiler/gpu/thread/ThreadBuilder.h"

namespace tfc {

/// The experts of rows that are sorted by them: an i32 for each of `rows` rows
/// from `sorted` on, in [0, experts). All others are i32, too.
struct ExpertList {
  mlir::Value sorted, rows, experts;
};

/// `rows` rows of an expert from `firstRow` of all on: a tile of them, and
/// those of the expert behind it.
struct ExpertTile {
  mlir::Value expert, firstRow, rows;
};

/// The rows of each expert are tiles of `tileRows`, the last of which may have
/// fewer; a grid has one on each place of y, and does not know which: blocks
/// look for theirs, number y of all, as each warp does by itself. Emits `then`
/// for those that find it; whole blocks go the one way or the other.
void forExpertTile(ThreadBuilder &t, const ExpertList &list, int32_t tileRows,
                   llvm::function_ref<void(const ExpertTile &)> then);

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_EXPERTTILE_H
