// Outermost parallel loops as work for somebody else: which of them can share a
// function, what that takes from outside, and which item is which.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_PARALLELLOOPS_H
#define TFC_COMPILER_KERNEL_PARALLELLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

#include <string>

namespace tfc {

/// Loops of one entry, its layers included, that do the same to what they take
/// from outside.
using LoopGroup = llvm::SmallVector<mlir::scf::ParallelOp>;

/// The outermost parallel loops of `module` in groups, in order. Those inside
/// of them become sequential first.
llvm::SmallVector<LoopGroup> groupParallelLoops(mlir::ModuleOp module);

/// The paths that the locations of `loops` name, in order, divided by '+':
/// those of the ops that they were made of. A path that another one goes on
/// from says nothing more: a sublayer's addition, fused into the product before
/// it.
std::string nameOf(llvm::ArrayRef<mlir::scf::ParallelOp> loops);

/// What a loop uses from outside, its bounds included, in order of first use.
llvm::SetVector<mlir::Value> outsideValues(mlir::scf::ParallelOp loop);

bool isConstant(mlir::Value value);

/// Asks for the lengths of buffers outside of the loop, for a function made of
/// it that gets them as pointers.
void hoistLengths(mlir::scf::ParallelOp loop);

/// What a loop takes from outside, for a function made of it: constants are
/// made again there, the rest are its arguments.
struct Captures {
  explicit Captures(mlir::scf::ParallelOp loop);

  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Operation *> constants;
};

/// How many items a loop has.
mlir::Value buildItemCount(mlir::ImplicitLocOpBuilder &b,
                           mlir::scf::ParallelOp loop,
                           const mlir::IRMapping &mapping = {});
/// Of each axis, how many values its index takes: at least 1, so that a
/// division by it is defined where there is no item.
llvm::SmallVector<mlir::Value> buildExtents(mlir::ImplicitLocOpBuilder &b,
                                            mlir::scf::ParallelOp loop,
                                            const mlir::IRMapping &mapping);
/// The place of item number `item` on each axis; the last axis is the fastest.
llvm::SmallVector<mlir::Value> splitItem(mlir::ImplicitLocOpBuilder &b,
                                         mlir::Value item,
                                         llvm::ArrayRef<mlir::Value> extents);
/// Clones the body of `loop` for the item at `places`.
void buildItem(mlir::ImplicitLocOpBuilder &b, mlir::scf::ParallelOp loop,
               llvm::ArrayRef<mlir::Value> places, mlir::IRMapping &mapping);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_PARALLELLOOPS_H
