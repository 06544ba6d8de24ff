// Sums through the columns of a row in one order, whatever vectors a machine
// has.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_LANESUM_H
#define TFC_COMPILER_KERNEL_LANESUM_H

#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// Columns that are added at a time.
inline constexpr int64_t kSumLanes = 16;

/// What `step` makes of init, and of columns [0, columns): kSumLanes at a time,
/// in vectors of at most `lanes`, beginning with `start` in each lane and then
/// folded by `combine`, the lower half with the upper one, and the columns that
/// are left one by one. Of `lanes` 1 all are one by one.
mlir::Value reduceColumns(
    KernelBuilder &k, int64_t columns, int64_t lanes, mlir::Value init,
    mlir::Value start,
    llvm::function_ref<mlir::Value(mlir::Value column, int64_t width,
                                   mlir::Value old)>
        step,
    llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_LANESUM_H
