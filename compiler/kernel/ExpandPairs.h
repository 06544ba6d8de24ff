// Expansion of ragged_pairs and ragged_weights into loops over buffers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_EXPANDPAIRS_H
#define TFC_COMPILER_KERNEL_EXPANDPAIRS_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Replaces `op` by loops over its columns, `lanes` at a time.
void expandPairs(transformer::RaggedPairsOp op, mlir::Value step, int64_t lanes,
                 mlir::RewriterBase &rewriter);
void expandWeights(transformer::RaggedWeightsOp op, mlir::Value step,
                   int64_t lanes, mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_EXPANDPAIRS_H
