// What the host knows of the items of a step, by which it leaves out launches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_STEPITEMS_H
#define TFC_COMPILER_GPU_ATTENTION_STEPITEMS_H

#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// Emits, from the numbers of tokens, items and sequences, what can be said of
/// items of at most `queryRows` queries. A sequence's last item has what its
/// others leave.
class StepItems {
public:
  StepItems(KernelBuilder &k, mlir::Value step, int64_t queryRows)
      : k(k), step(step), queryRows(queryRows) {}

  /// A bound of how many queries an item has: no more than there are beside one
  /// for each of the other items.
  mlir::Value mostRows();
  /// Whether there may be items of at most `few` queries, and of more.
  mlir::Value mayHaveFew(int64_t few);
  mlir::Value mayHaveMany(int64_t few);

private:
  mlir::Value field(int64_t offset);

  KernelBuilder &k;
  mlir::Value step;
  int64_t queryRows;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_STEPITEMS_H
