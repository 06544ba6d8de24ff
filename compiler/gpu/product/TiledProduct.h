// The kernel of a product of many rows: what it costs is multiplying.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_TILEDPRODUCT_H
#define TFC_COMPILER_GPU_PRODUCT_TILEDPRODUCT_H

#include "compiler/gpu/product/ProductEpilogue.h"

namespace tfc {

/// A block does a tile of kRows tokens and kColumns columns. Stages of kSteps
/// steps of k of both operands are in shared memory, the next ones on their way
/// while one is multiplied; a warp has a quarter of the tile's sums in
/// registers. Weights of integers are in a stage as they lie, and their scales
/// with them; a warp widens them once they are in its registers. With a gate,
/// the tile's columns are 8 of the gate and 8 of the product in turns, so that
/// a thread has the sums of both.
struct TiledProduct {
  static constexpr int32_t kRows = 128, kColumns = 128, kSteps = 64;
  static constexpr int32_t kStages = 3;
  static constexpr int32_t kWarpRows = 64, kWarpColumns = 64;
  static constexpr int32_t kThreads =
      kRows / kWarpRows * (kColumns / kWarpColumns) * kWarpLanes;
  /// Of a row of x in a stage, and of one of w.
  static constexpr int32_t kRowBytes = kSteps * 2;
  static int32_t weightRowBytes(const ProductForm &form) {
    return form.weightBytes(kSteps);
  }
  /// Where a stage has its w, behind x, and the scales of two groups, behind w.
  static constexpr int32_t kWeightsOffset = kRows * kRowBytes;
  static int32_t scalesOffset(const ProductForm &form) {
    return kWeightsOffset + kColumns * weightRowBytes(form);
  }
  /// Scales of a group, of a stage, of shared memory.
  static constexpr int32_t kScaleBytes = kColumns * int32_t(sizeof(float));
  static int32_t stageBytes(const ProductForm &form) {
    return scalesOffset(form) + (form.group ? 2 * kScaleBytes : 0);
  }
  static int32_t sharedBytes(const ProductForm &form) {
    return kStages * stageBytes(form);
  }

  /// How many columns of the result a block does.
  static constexpr int32_t resultColumns(const ProductForm &form) {
    return form.gate ? kColumns / 2 : kColumns;
  }

  /// The kernel's code, for a grid of as many blocks as there are tiles of
  /// columns (x) and of tokens (y); blocks take tiles as findTile says.
  /// `shared` is the block's shared memory.
  static void build(ThreadBuilder &t, const ProductForm &form,
                    const ProductOperands &operands, mlir::Value shared);
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_TILEDPRODUCT_H
