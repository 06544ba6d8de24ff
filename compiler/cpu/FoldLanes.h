// One value out of a vector's elements, in an order that the IR says.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_FOLDLANES_H
#define TFC_COMPILER_CPU_FOLDLANES_H

#include "mlir/IR/Builders.h"

namespace tfc {

/// Combines the elements of `vector`, of rank 1: the lower half with the upper,
/// until one is left. Of a width that is no power of two the first elements, as
/// many as the largest one in it, are folded so, and then what the rest gives
/// is combined with it. `combine` is called for vectors and for single values.
mlir::Value
foldLanes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value vector,
          llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

} // namespace tfc

#endif // TFC_COMPILER_CPU_FOLDLANES_H
