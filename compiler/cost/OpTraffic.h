// The bytes that a group of ops moves, if what they hand each other stays.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_COST_OPTRAFFIC_H
#define TFC_COMPILER_COST_OPTRAFFIC_H

#include "compiler/cost/StepSizes.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace tfc::cost {

/// What `ops` read of tensors that others made, each once, and write of those
/// that others read. Equal slices of a value are to be one value (cse). Nothing
/// where a size does not follow from the step.
std::optional<double> trafficOf(llvm::ArrayRef<mlir::Operation *> ops,
                                const StepSizes &sizes);

} // namespace tfc::cost

#endif // TFC_COMPILER_COST_OPTRAFFIC_H
