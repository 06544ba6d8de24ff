// What an op does in a step, where linalg cannot say it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_COST_WORKOPINTERFACE_H
#define TFC_COMPILER_COST_WORKOPINTERFACE_H

#include "compiler/cost/Machine.h"
#include "compiler/cost/StepSizes.h"
#include "mlir/IR/OpDefinition.h"

#include <optional>

#include "compiler/cost/WorkOpInterface.h.inc"

namespace tfc::cost {

/// The structured ops' own: products, attention over the cache, writes to it.
void registerWorkModels(mlir::DialectRegistry &registry);

} // namespace tfc::cost

#endif // TFC_COMPILER_COST_WORKOPINTERFACE_H
