// The kernel of a product of many rows where four warps multiply together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_WARPGROUPPRODUCT_H
#define TFC_COMPILER_GPU_PRODUCT_WARPGROUPPRODUCT_H

#include "compiler/gpu/product/ProductEpilogue.h"
#include "compiler/gpu/product/StageCopies.h"
#include "compiler/gpu/product/WarpgroupMatrices.h"

namespace tfc {

/// A block of `groups` warpgroups does a tile of 64 tokens each and `columns`
/// columns. Stages of both operands are in shared memory, from where tensor
/// cores take them, while threads ask for the next ones. A warpgroup waits for
/// its products one stage late, so that there are always some to be done; or,
/// with `waitsAtOnce`, before the next ones, so that one more stage is on its
/// way, and leaves it to another block of the multiprocessor to multiply
/// meanwhile. With a gate, the tile's columns are 8 of the gate and 8 of the
/// product in turns. A sum is over 16 steps of k after the other whatever the
/// tile, so its bits are, too.
struct WarpgroupProduct {
  int32_t groups, columns, stages;
  bool waitsAtOnce = false;
  int32_t mostDepth = 0; // steps of k of what it is for; 0: any number

  /// Stages of products that are not waited for when the next ones are asked
  /// for, and stages of copies.
  int32_t pending() const { return waitsAtOnce ? 0 : 1; }
  int32_t ahead() const { return stages - 1 - pending(); }
  int32_t threads() const { return groups * kWarpgroupThreads; }
  int32_t rows() const { return groups * kWarpgroupRows; }
  int32_t weightsOffset() const { return rows() * StageCopies::kRowBytes; }
  int32_t stageBytes() const {
    return weightsOffset() + columns * StageCopies::kRowBytes;
  }
  int32_t sharedBytes(const ProductForm &) const {
    return stages * stageBytes();
  }
  /// How many columns of the result a block does.
  int32_t resultColumns(const ProductForm &form) const {
    return form.gate ? columns / 2 : columns;
  }

  /// The kernel's code, for a grid as TiledProduct's.
  void build(ThreadBuilder &t, const ProductForm &form,
             const ProductOperands &operands, mlir::Value shared) const;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_WARPGROUPPRODUCT_H
