// Expansion of ragged_hashed into loops over buffers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_EXPANDHASHED_H
#define TFC_COMPILER_KERNEL_EXPANDHASHED_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Replaces `op` by loops over its rows and heads, with vectors unless `lanes`
/// is 1.
void expandHashed(transformer::RaggedHashedOp op, mlir::Value step,
                  int64_t lanes, mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_EXPANDHASHED_H
