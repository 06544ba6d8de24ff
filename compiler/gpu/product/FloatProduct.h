// The kernel of a product in f32: multiply-adds of registers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_FLOATPRODUCT_H
#define TFC_COMPILER_GPU_PRODUCT_FLOATPRODUCT_H

#include "compiler/gpu/product/ProductEpilogue.h"

namespace tfc {

/// A block does a tile of tokens and columns; of its warps, which lie side by
/// side in the tile, four lanes share rows and eight share columns. Stages of
/// kSteps steps of k of both operands are in shared memory, the next ones on
/// their way while one is multiplied. A sum is one chain of fused multiply-adds
/// from the first step of k to the last, in every shape of a tile: its bits
/// depend on nothing but its row and its column. With a gate, the tile's
/// columns are 8 of the gate and 8 of the product in turns, so that a thread
/// has the sums of both.
struct FloatProduct {
  int32_t warpsDown, warpsAcross;
  /// Sums of a thread: so many rows, four apart, and columns, eight apart.
  int32_t lefts, rights;

  static constexpr int32_t kSteps = 32, kStages = 3;
  static constexpr int32_t kRowBytes = kSteps * int32_t(sizeof(float));
  /// Lanes of a warp that share columns, and rows.
  static constexpr int32_t kLanesDown = 4, kLanesAcross = 8;

  constexpr int32_t threads() const {
    return warpsDown * warpsAcross * kWarpLanes;
  }
  constexpr int32_t rows() const { return warpsDown * kLanesDown * lefts; }
  constexpr int32_t columns() const {
    return warpsAcross * kLanesAcross * rights;
  }
  /// How many columns of the result a block does.
  int32_t resultColumns(const ProductForm &form) const {
    return form.gate ? columns() / 2 : columns();
  }
  int32_t stageBytes() const { return (rows() + columns()) * kRowBytes; }
  int32_t sharedBytes(const ProductForm &) const {
    return kStages * stageBytes();
  }

  /// The kernel's code, for a grid of as many blocks as there are tiles of
  /// columns (x) and of tokens (y), in the order of findTile. `shared` is the
  /// block's shared memory.
  void build(ThreadBuilder &t, const ProductForm &form,
             const ProductOperands &operands, mlir::Value shared) const;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_FLOATPRODUCT_H
