// Pooling of a sequence's rows to loops over the step's sequences.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_EXPANDPOOL_H
#define TFC_COMPILER_KERNEL_EXPANDPOOL_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// A parallel loop over rows; `step` is the pointer to the step. Columns are
/// taken `lanes` at a time, or each as an item of its own when `lanes` is 1.
/// Sums are in the order of the tokens: both give the same bits.
void expandPool(transformer::RaggedPoolOp op, mlir::Value step, int64_t lanes,
                mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_EXPANDPOOL_H
