// Rounding f32 to what is kept: the same wherever something is stored.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_NARROWFLOAT_H
#define TFC_COMPILER_KERNEL_NARROWFLOAT_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// `value`, f32 or a vector of them, as `element`: f16 or bf16, to the nearest,
/// of two equally near ones the even one. A NaN stays one. LLVM would call a
/// function for bf16.
mlir::Value narrowFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                        mlir::Type element);
/// The same back to f32, which is exact.
mlir::Value widenFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value value);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_NARROWFLOAT_H
