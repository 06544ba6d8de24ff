// The kernel of a product of many rows with integers, where four warps multiply
// together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_WIDENEDWARPGROUPS_H
#define TFC_COMPILER_GPU_PRODUCT_WIDENEDWARPGROUPS_H

#include "compiler/gpu/product/GroupScales.h"
#include "compiler/gpu/product/StageCopies.h"
#include "compiler/gpu/product/WarpgroupMatrices.h"

namespace tfc {

/// As WarpgroupProduct, but weights are in a stage as narrow as they lie. While
/// tensor cores multiply one stage, all threads widen the weights of the next
/// one, exactly, into one of two tiles of 16 bits. With groups, sums begin anew
/// in every half of a stage, or every stage where that is of one group, and are
/// added to those before by a multiply-add with the group's scale.
struct WidenedWarpgroups {
  int32_t groups, stages;

  int32_t threads() const { return groups * kWarpgroupThreads; }
  int32_t rows() const { return groups * kWarpgroupRows; }
  /// Of weights: two threads widen a row.
  int32_t columns() const { return threads() / 2; }
  int32_t resultColumns(const ProductForm &form) const {
    return form.gate ? columns() / 2 : columns();
  }

  int32_t weightsOffset() const { return rows() * StageCopies::kRowBytes; }
  int32_t scalesOffset(const ProductForm &form) const {
    return weightsOffset() + columns() * form.weightBytes(StageCopies::kSteps);
  }
  /// Swizzled rows begin at a multiple of what they repeat after.
  int32_t stageBytes(const ProductForm &form) const {
    int32_t bytes =
        scalesOffset(form) +
        (form.group ? GroupScales(columns(), threads(), form).bytes() : 0);
    return (bytes + kSwizzleBytes - 1) / kSwizzleBytes * kSwizzleBytes;
  }
  /// Where the two tiles of widened weights are, and of how many bytes each.
  int32_t wideOffset(const ProductForm &form) const {
    return stages * stageBytes(form);
  }
  int32_t wideBytes() const { return columns() * StageCopies::kRowBytes; }
  int32_t sharedBytes(const ProductForm &form) const {
    return wideOffset(form) + 2 * wideBytes();
  }

  /// The kernel's code, for a grid as TiledProduct's.
  void build(ThreadBuilder &t, const ProductForm &form,
             const ProductOperands &operands, mlir::Value shared) const;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_WIDENEDWARPGROUPS_H
