// Scales of groups of columns in a stage of a product's operands.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_GROUPSCALES_H
#define TFC_COMPILER_GPU_PRODUCT_GROUPSCALES_H

#include "compiler/gpu/product/ProductForm.h"
#include "compiler/gpu/thread/ThreadBuilder.h"

namespace tfc {

/// Of a stage of 64 steps of k, whose halves are of one group each: the scales
/// of `columns` rows of weights for the first half, and behind them those for
/// the second. With a gate they are of 8 rows of the gate and 8 of the product
/// in turns.
struct GroupScales {
  int32_t columns, threads; // of a block
  mlir::Type element;

  GroupScales(int32_t columns, int32_t threads, const ProductForm &form)
      : columns(columns), threads(threads), element(form.scale) {}

  int32_t elementBytes() const {
    return static_cast<int32_t>(element.getIntOrFloatBitWidth()) / 8;
  }
  int32_t halfBytes() const { return columns * elementBytes(); }
  int32_t bytes() const { return 2 * halfBytes(); }

  /// Asks for those of stage number `stage`, to be at `base`, for the tile that
  /// begins at column `firstColumn` of the result. Of columns that there are
  /// not they are zero.
  void request(ThreadBuilder &t, const ProductForm &form,
               const ProductOperands &operands, mlir::Value firstColumn,
               mlir::Value base, mlir::Value stage) const;
  /// Of a lane's two columns of the fragment of sums that begins at row
  /// `column` of the tile's weights, for half `half` (a number): as f32.
  std::array<mlir::Value, 2> load(ThreadBuilder &t, mlir::Value base,
                                  mlir::Value column, mlir::Value half) const;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_GROUPSCALES_H
