// The columns of a head that a step asks for alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_ASKEDCOLUMNS_H
#define TFC_COMPILER_CPU_ASKEDCOLUMNS_H

#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// Reads `tfc_step_v0.head_rows`, as it is for a matrix in panels of `width`
/// rows.
class AskedColumns {
public:
  AskedColumns(KernelBuilder &builder, mlir::Value step, int64_t width);

  /// How many there are; 0: all columns are wanted.
  mlir::Value number() const { return count; }
  /// i1: whether all columns are wanted.
  mlir::Value isAll();
  /// i1: whether a column of the panel is wanted.
  mlir::Value isRead(mlir::Value panel);
  /// For each that is asked for and lies in the panel: its number in the step's
  /// list, and where it is in the panel.
  void
  forEach(mlir::Value panel,
          llvm::function_ref<void(mlir::Value number, mlir::Value lane)> body);

private:
  mlir::Value laneOf(mlir::Value panel, mlir::Value number);
  mlir::Value isLane(mlir::Value lane);

  KernelBuilder &k;
  int64_t width;
  mlir::Value count, list; // an index, a pointer
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_ASKEDCOLUMNS_H
