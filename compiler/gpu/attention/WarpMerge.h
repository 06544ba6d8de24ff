// What the warps of a block have of the same rows, put together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_WARPMERGE_H
#define TFC_COMPILER_GPU_ATTENTION_WARPMERGE_H

#include "compiler/gpu/attention/AttentionParts.h"
#include "compiler/gpu/attention/FragmentSoftmax.h"

namespace tfc {

/// Every warp leaves its sums, maxima and totals in shared memory, where the
/// tiles were; then a thread has an eighth of a row.
class WarpMerge {
public:
  /// `memory` is a pointer to shared memory.
  WarpMerge(AttentionBlock &block, mlir::Value memory)
      : block(block), k(block.k), b(block.b), memory(memory),
        rowBytes((block.cache.headDim + 4) * sizeof(float)),
        numbersAt(AttentionBlock::kWarps * AttentionBlock::kRows * rowBytes) {}

  /// Merges the warps' states, whose totals are those of their positions, and
  /// writes the rows of `item`; where that has several of `parts`, which may be
  /// null, what the block's part has of them.
  void emit(const RowState &state, const WorkItem &item, mlir::Value head,
            AttentionParts *parts);

private:
  void storeState(const RowState &state);
  mlir::Value load(mlir::Value address);
  void storePart(llvm::ArrayRef<mlir::Value> sums, mlir::Value highest,
                 mlir::Value total, AttentionParts &parts);
  /// The thread's pairs of columns lie between those of its neighbours.
  mlir::Value columnOf(size_t pair) {
    return k.add(k.scale(k.remainder(block.thread, 8), 2), pair * 16);
  }

  AttentionBlock &block;
  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  mlir::Value memory;
  int64_t rowBytes;  // from row to row of sums
  int64_t numbersAt; // maxima and totals, behind the sums
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_WARPMERGE_H
