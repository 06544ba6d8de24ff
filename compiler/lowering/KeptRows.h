// What rows are kept in between ops, and where that is read and written.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_LOWERING_KEPTROWS_H
#define TFC_COMPILER_LOWERING_KEPTROWS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// Ops over rows are of f32. Where rows are kept in 16 bits between them,
/// tfc-choose-precision has put a rounding behind the op that computes them
/// (arith.truncf) and a widening before those that read them (arith.extf). What
/// an op becomes reads rows as they are kept and writes them so; neither is a
/// loop of its own then.

/// What `rows` are a widening of; `rows` where they are none.
mlir::Value keptRows(mlir::Value rows);

/// The op that computes `rows`, roundings and widenings apart; or null.
mlir::Operation *findSource(mlir::Value rows);

/// Whether all uses of `kept`, and of what it is widened to, are as `test`
/// says.
bool allUses(mlir::Value kept,
             llvm::function_ref<bool(mlir::OpOperand &)> test);

/// What the one result of `op` is kept in: that of the rounding that is its
/// only use, else f32.
mlir::FloatType keptElement(mlir::Operation *op);

/// A float as one of type `element`: widened, rounded to the nearest, or as it
/// is.
mlir::Value convertFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                         mlir::Type element);

} // namespace tfc

#endif // TFC_COMPILER_LOWERING_KEPTROWS_H
