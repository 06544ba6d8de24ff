// The cache write of the vector kernels: keys are transposed on their way into
// a block.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_EXPANDCACHEWRITE_H
#define TFC_COMPILER_CPU_EXPANDCACHEWRITE_H

#include "compiler/cpu/VectorCache.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Expands `op` for vectors of `lanes` floats, 16 or 8; `step` is the pointer
/// to the step.
void expandCacheWrite(transformer::CacheWriteOp op, const VectorCache &cache,
                      mlir::Value step, int64_t lanes,
                      mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_CPU_EXPANDCACHEWRITE_H
