// Which experts rows take, and rows sorted by expert.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_EXPANDEXPERTS_H
#define TFC_COMPILER_KERNEL_EXPANDEXPERTS_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Rows in parallel, each from one end to the other.
void expandChooseExperts(transformer::ChooseExpertsOp op,
                         mlir::RewriterBase &rewriter);

/// In turns: counts, then places, on the calling thread, in time linear in
/// pairs of a row and an expert. Otherwise experts in parallel, each of which
/// looks at all pairs: a device's host code cannot look at any.
void expandSortByExpert(transformer::SortByExpertOp op, bool inTurns,
                        mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_EXPANDEXPERTS_H
