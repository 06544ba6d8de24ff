// Convolutions and recurrences to loops over the step's sequences.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_EXPANDRECURRENT_H
#define TFC_COMPILER_KERNEL_EXPANDRECURRENT_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Parallel loops over sequences and columns, tokens one after the other;
/// `step` is the pointer to the step. Columns are taken `lanes` at a time, or
/// one when that is 1. A column's sums are in the order that the ops say: all
/// give the same bits.
void expandConv(transformer::RaggedConvOp op, mlir::Value step, int64_t lanes,
                mlir::RewriterBase &rewriter);
void expandRecurrence(transformer::RaggedRecurrenceOp op, mlir::Value step,
                      int64_t lanes, mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_EXPANDRECURRENT_H
