// Functions of layers: an entry whose layers are several loops calls one for
// each (docs/rationale/0025).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_LAYERFUNCTIONS_H
#define TFC_DIALECT_LAYERFUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tfc::transformer {

/// Of a function of layers: the symbol of its entry, which calls it once, at
/// the top of its body. What a call returns is computed in the place of the
/// first arguments, one for each result.
constexpr llvm::StringLiteral kLayersOfAttrName = "transformer.layers_of";

/// Of an argument of a function of layers: rows, one for each token of the
/// step.
constexpr llvm::StringLiteral kTokensAttrName = "transformer.tokens";

inline bool isOfLayers(mlir::func::FuncOp function) {
  return function->hasAttr(kLayersOfAttrName);
}

/// The name of the entry that `function` is, or is layers of.
llvm::StringRef entryNameOf(mlir::func::FuncOp function);

/// A function of layers and its call.
struct LayerCall {
  mlir::func::FuncOp function;
  mlir::func::CallOp call;
};

/// Those of `entry`, in the order of their calls. Fails, with a diagnostic,
/// where one is called twice or from within an op, or names another entry.
mlir::FailureOr<llvm::SmallVector<LayerCall>>
listLayerCalls(mlir::func::FuncOp entry);

/// Adds an argument behind the others, with an attribute of that name, and
/// `value` to the call. Returns the argument.
mlir::FailureOr<mlir::BlockArgument> addArgument(const LayerCall &layers,
                                                 mlir::Value value,
                                                 llvm::StringRef attribute);

/// Erases the arguments that `erased` has set, and what the call gives for
/// them.
mlir::LogicalResult eraseArguments(const LayerCall &layers,
                                   const llvm::BitVector &erased);

} // namespace tfc::transformer

#endif // TFC_DIALECT_LAYERFUNCTIONS_H
