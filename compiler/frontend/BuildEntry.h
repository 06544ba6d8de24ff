// An entry function: its ports, and what a step lends it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_BUILDENTRY_H
#define TFC_COMPILER_FRONTEND_BUILDENTRY_H

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace tfc {

/// An input port; transformer::InputAttr says what the fields mean.
struct Port {
  std::string name;
  transformer::Fill fill;
  int64_t limit;
  int64_t width = 0;
};

/// The function and its arguments. `caches` are the parts of one, self or
/// scratch, none when the entry has no such cache; `cross` is null without such
/// a cache, `state` when no layer has one.
struct Entry {
  mlir::func::FuncOp function;
  mlir::SmallVector<Port> ports;
  mlir::Value rows, batch, cross, state;
  mlir::SmallVector<mlir::Value> caches;

  /// The argument of a port; `name` is one of `ports`.
  mlir::Value input(llvm::StringRef name) const;
};

/// Adds `@name` with one argument a port (`tensor<?xi32>`, or of those with a
/// width `tensor<?x width xf32>`), the wanted rows, the batch and what is not
/// null of caches and states, and sets `builder` to its body.
Entry buildEntry(mlir::OpBuilder &builder, mlir::Location loc,
                 llvm::StringRef name, llvm::ArrayRef<Port> ports,
                 llvm::ArrayRef<transformer::CacheType> caches,
                 transformer::CacheType cross, transformer::StateType state);

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_BUILDENTRY_H
