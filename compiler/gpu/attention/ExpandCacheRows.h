// Writing keys and values into the cache, a thread a few columns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_EXPANDCACHEROWS_H
#define TFC_COMPILER_GPU_ATTENTION_EXPANDCACHEROWS_H

#include "compiler/gpu/attention/DeviceCache.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Expands `op` into a parallel loop over items, their rows, and vectors of a
/// row; `step` is the pointer to the step.
void expandCacheRows(transformer::CacheWriteOp op, const DeviceCache &cache,
                     mlir::Value step, mlir::RewriterBase &rewriter);

/// The rows of latents that `op` writes, in the same way; it stands as it was.
void expandLatentRows(transformer::PagedLatentOp op, const DeviceCache &cache,
                      mlir::Value step, mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_EXPANDCACHEROWS_H
