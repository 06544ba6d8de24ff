// The floating-point operations of an op in a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_COST_OPWORK_H
#define TFC_COMPILER_COST_OPWORK_H

#include "compiler/cost/Machine.h"
#include "compiler/cost/StepSizes.h"

#include <optional>

namespace tfc::cost {

/// How many ops of `arith` and `math` in `body` compute a float of floats: each
/// is one operation, a root or an exponential as well as a sum.
double countArithmetic(mlir::Region &body);

/// Whether `op` does work: an op of linalg that computes, or one with a
/// WorkOpInterface.
bool doesWork(mlir::Operation *op);

/// Its operations, and those of its bytes that no operand and no result shows:
/// of a cache, and what a body reads of a table by an index. Nothing where they
/// do not follow from the step.
std::optional<Work> workOf(mlir::Operation *op, const StepSizes &sizes);

} // namespace tfc::cost

#endif // TFC_COMPILER_COST_OPWORK_H
