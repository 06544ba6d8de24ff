// A recurrence whose state stays in registers from token to token.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_RECURRENT_WARPRECURRENCE_H
#define TFC_COMPILER_GPU_RECURRENT_WARPRECURRENCE_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Whether the lanes of a warp hold some columns of a head's matrix (of at most
/// 512 keys, or of 256 with a decay each).
bool fitsWarp(transformer::RaggedRecurrenceOp op);

/// Expands `op`, which fits a warp, into a parallel loop over sequences, heads,
/// stretches of columns, and the 32 lanes of a warp; `step` is the pointer to
/// the step. A warp goes from token to token; the order of its sums follows
/// from the op's sizes, so that a row's bits depend on no other sequence, nor
/// on where its prompt is cut.
void expandWarpRecurrence(transformer::RaggedRecurrenceOp op, mlir::Value step,
                          mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_GPU_RECURRENT_WARPRECURRENCE_H
