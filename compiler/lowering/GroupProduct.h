// Products with integers that have groups of columns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_LOWERING_GROUPPRODUCT_H
#define TFC_COMPILER_LOWERING_GROUPPRODUCT_H

#include "compiler/lowering/Patterns.h"

namespace tfc {

/// Whether the weight's integers have a scale for each group of columns, not
/// for each row.
inline bool hasGroups(transformer::LinearOp op) {
  mlir::Value scales = op.getWeightScales();
  return scales &&
         llvm::cast<mlir::RankedTensorType>(scales.getType()).getRank() == 2;
}

/// The product of rows of bytes with a matrix of integers that have groups,
/// bytes or of four bits in rows one after the other, before rows' scales:
/// plain loops, f32. With `experts`, a row is multiplied with the matrix of its
/// own.
mlir::Value buildGroupProduct(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                              mlir::Value weight, const Epilogue &epilogue,
                              mlir::Value experts = {});

} // namespace tfc

#endif // TFC_COMPILER_LOWERING_GROUPPRODUCT_H
