// The kernel of a product of few rows: what it costs is reading the weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_SKINNYPRODUCT_H
#define TFC_COMPILER_GPU_PRODUCT_SKINNYPRODUCT_H

#include "compiler/gpu/product/ProductEpilogue.h"

namespace tfc {

/// A block's warps share out k between them; each multiplies `16 weightTiles`
/// rows of the weights, as the left side of mma.sync, with `8 tokenTiles`
/// tokens, and their sums are added in shared memory, in order. Operands go
/// from device memory to registers: 16 bytes of a row are 8 steps of k, and in
/// which order tensor cores add those does not matter as long as both sides
/// agree. Of integers a lane has as many steps as 64 of all four lanes are:
/// twice those of 16 bits. With a gate, half of the rows are the gate's.
struct SkinnyProduct {
  int32_t weightTiles, tokenTiles;
  int32_t unroll; // rounds of k whose operands a warp asks for at once
  /// Whether block y does tokens from y * tokens() on, and there may be more
  /// than one; of experts all kernels are so. The order of a token's sums is
  /// the same everywhere.
  bool isStriped = false;

  static constexpr int32_t kWarps = 8;

  int32_t threads() const { return kWarps * kWarpLanes; }
  /// The most tokens a block does, and how many rows of weights it reads.
  int32_t tokens() const { return 8 * tokenTiles; }
  int32_t columns() const { return 16 * weightTiles; }
  /// How many columns of the result a block does.
  int32_t resultColumns(const ProductForm &form) const {
    return form.gate ? columns() / 2 : columns();
  }
  /// Of shared memory.
  int32_t sharedBytes() const;

  /// Asks for the first bytes of the block's rows of weights, in the
  /// second-level cache, while the kernel in front is still running.
  void prefetch(ThreadBuilder &t, const ProductForm &form,
                const ProductOperands &operands) const;
  /// A thread's share of that.
  static constexpr int32_t kPrefetched = 32;

  /// The kernel's code: block x does columns from x * resultColumns on.
  /// `shared` is the block's shared memory.
  void build(ThreadBuilder &t, const ProductForm &form,
             const ProductOperands &operands, mlir::Value shared) const;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_SKINNYPRODUCT_H
