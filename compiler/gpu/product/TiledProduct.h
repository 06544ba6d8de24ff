// The kernel of a product of many rows: what it costs is multiplying.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_TILEDPRODUCT_H
#define TFC_COMPILER_GPU_PRODUCT_TILEDPRODUCT_H

#include "compiler/gpu/product/GroupScales.h"
#include "compiler/gpu/product/ProductEpilogue.h"
#include "compiler/gpu/product/StageCopies.h"

namespace tfc {

/// A block of four warps does a tile of `side` tokens and as many columns.
/// Stages of kSteps steps of k of both operands are in shared memory, the next
/// ones on their way while one is multiplied; a warp has a quarter of the
/// tile's sums in registers. Weights of integers are in a stage as they lie,
/// and their scales with them; a warp widens them once they are in its
/// registers. With a gate, the tile's columns are 8 of the gate and 8 of the
/// product in turns, so that a thread has the sums of both. A sum's order is
/// the same whatever the side.
struct TiledProduct {
  int32_t side;

  static constexpr int32_t kSteps = StageCopies::kSteps, kStages = 3;
  static constexpr int32_t kThreads = 4 * kWarpLanes;
  /// Of a row of x in a stage, and of one of w.
  static constexpr int32_t kRowBytes = StageCopies::kRowBytes;
  static int32_t weightRowBytes(const ProductForm &form) {
    return form.weightBytes(kSteps);
  }

  constexpr int32_t rows() const { return side; }
  constexpr int32_t threads() const { return kThreads; }
  /// Rows and columns of a warp; its products side by side, in rows of 16 and
  /// columns of 8; a thread's sums.
  constexpr int32_t warpSide() const { return side / 2; }
  constexpr int32_t lefts() const { return warpSide() / 16; }
  constexpr int32_t rights() const { return warpSide() / 8; }
  constexpr int32_t sums() const { return 4 * lefts() * rights(); }

  /// Where a stage has its w, behind x, and the scales of two groups, behind w.
  int32_t weightsOffset() const { return side * kRowBytes; }
  int32_t scalesOffset(const ProductForm &form) const {
    return weightsOffset() + side * weightRowBytes(form);
  }
  /// Of a stage, of shared memory.
  int32_t stageBytes(const ProductForm &form) const {
    return scalesOffset(form) +
           (form.group ? GroupScales(side, kThreads, form).bytes() : 0);
  }
  int32_t sharedBytes(const ProductForm &form) const {
    return kStages * stageBytes(form);
  }

  /// How many columns of the result a block does.
  int32_t resultColumns(const ProductForm &form) const {
    return form.gate ? side / 2 : side;
  }

  /// The kernel's code, for a grid of as many blocks as there are tiles of
  /// columns (x) and of tokens (y); blocks take tiles as findTile says.
  /// `shared` is the block's shared memory.
  void build(ThreadBuilder &t, const ProductForm &form,
             const ProductOperands &operands, mlir::Value shared) const;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_TILEDPRODUCT_H
