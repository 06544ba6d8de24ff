// Items of a parallel loop that lie side by side, done as one on vectors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ROWS_WIDEITEM_H
#define TFC_COMPILER_GPU_ROWS_WIDEITEM_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// Emits what `count` items do that follow each other along the last axis of a
/// loop: what they read and write side by side is a vector, what they have in
/// common a number.
class WideItem {
public:
  /// Whether the loop can be done so: its last axis counts from 0 to a constant
  /// that `count` divides, and its body is arithmetic on elements that lie at
  /// the item's place of that axis, or a constant distance from it.
  static bool suits(mlir::scf::ParallelOp loop, int64_t count);

  /// Of a loop that suits; `b` is where the code goes.
  WideItem(mlir::ImplicitLocOpBuilder &b, mlir::scf::ParallelOp loop,
           int64_t count)
      : b(b), loop(loop), count(count) {}

  /// Emits the items from `places` on, one place an axis; that of the last axis
  /// is a multiple of `count`.
  void emit(llvm::ArrayRef<mlir::Value> places);
  /// The same for a loop with a single store, which is left out: what it would
  /// store.
  mlir::Value emitStored(llvm::ArrayRef<mlir::Value> places);

private:
  /// Whether an index of the body is the place on the last axis, or a distance
  /// from it.
  bool isPlace(mlir::Value value);
  void emitOp(mlir::Operation *op);
  void emitLoad(mlir::memref::LoadOp op);
  void emitStore(mlir::memref::StoreOp op);
  void emitEach(mlir::Operation *op);
  /// `value` as a vector, all of whose elements are the same if it is a number.
  mlir::Value wide(mlir::Value value);
  /// The indices of an access, of its first element.
  llvm::SmallVector<mlir::Value> placeOf(mlir::OperandRange indices);

  mlir::ImplicitLocOpBuilder &b;
  mlir::scf::ParallelOp loop;
  int64_t count;
  mlir::IRMapping mapping;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ROWS_WIDEITEM_H
