// Rows with their neighbours to loops over the step's sequences.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_EXPANDUNFOLD_H
#define TFC_COMPILER_KERNEL_EXPANDUNFOLD_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// A parallel loop over sequences and columns, `lanes` at a time, or each as an
/// item of its own when `lanes` is 1; `step` is the pointer to the step.
void expandUnfold(transformer::RaggedUnfoldOp op, mlir::Value step,
                  int64_t lanes, mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_EXPANDUNFOLD_H
