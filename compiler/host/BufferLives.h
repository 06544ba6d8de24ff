// How long the buffers of an entry are alive, and which have no single life.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HOST_BUFFERLIVES_H
#define TFC_COMPILER_HOST_BUFFERLIVES_H

#include "dialect/LayerFunctions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Support/LLVM.h"

namespace tfc {

/// From the allocation to the last operation that may touch the buffer, in
/// pre-order numbers of the operations below the root.
struct BufferLife {
  unsigned begin, end;
};

/// Numbers operations in pre-order; an operation's subtree is a range. What a
/// function of layers does is below its call.
class BufferLives {
public:
  BufferLives(mlir::Operation *root,
              llvm::ArrayRef<transformer::LayerCall> calls);

  /// The life of what `op` allocates, aliases included. Fails, with a
  /// diagnostic, where one place for all of it would be wrong: the allocation
  /// is of a parallel loop's body, which several workers run at once; a loop
  /// carries it to its next round, which allocates it anew; a branch between
  /// blocks takes it, which nobody follows.
  mlir::FailureOr<BufferLife> find(mlir::memref::AllocOp op);

private:
  void number(mlir::Operation *op);
  unsigned last(mlir::Operation *op) const { return ranges.lookup(op).second; }
  /// Adds the values that may be the buffer because `user` takes `alias`.
  mlir::LogicalResult follow(mlir::memref::AllocOp op, mlir::Value alias,
                             mlir::Operation *user,
                             llvm::SmallVectorImpl<mlir::Value> &aliases);

  mlir::Operation *root;
  /// The functions that are called, by their calls.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> functions;
  llvm::DenseMap<mlir::Operation *, std::pair<unsigned, unsigned>> ranges;
  unsigned next = 0;
};

} // namespace tfc

#endif // TFC_COMPILER_HOST_BUFFERLIVES_H
