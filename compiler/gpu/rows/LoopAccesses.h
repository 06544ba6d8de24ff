// What parallel loops read and write, and whether that is apart.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ROWS_LOOPACCESSES_H
#define TFC_COMPILER_GPU_ROWS_LOOPACCESSES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tfc {

/// What `buffer` is a view of: an allocation, a table, or an argument. Null
/// where it comes from anything else.
mlir::Value findRoot(mlir::Value buffer);

/// An access of a loop's body.
struct LoopAccess {
  /// What is accessed: the root of a buffer, or null for memory behind an
  /// address, the step's or the cache's.
  mlir::Value root;
  /// Of the view that is accessed; null behind an address.
  mlir::MemRefType view;
  bool isWrite;
  /// Whether the root is allocated beside the loop: then nothing else that has
  /// another root is in it.
  bool isOwn = false;
};

/// Everything that a loop reads and writes; nothing where some of it is not
/// known.
std::optional<llvm::SmallVector<LoopAccess>>
listAccesses(mlir::scf::ParallelOp loop);

/// Whether loops of one block with these accesses may run in any order: what
/// one writes, the other does not touch.
bool areIndependent(llvm::ArrayRef<LoopAccess> a, llvm::ArrayRef<LoopAccess> b);

} // namespace tfc

#endif // TFC_COMPILER_GPU_ROWS_LOOPACCESSES_H
