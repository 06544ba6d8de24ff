// Paged attention in vectors: tiles of up to 8 queries of a head, keys and
// values from the cache's blocks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_EXPANDATTENTION_H
#define TFC_COMPILER_CPU_EXPANDATTENTION_H

#include "compiler/cpu/AttentionTiles.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Expands `op` for such vectors of floats, its products for tiles of AMX where
/// it has factors; `step` is the pointer to the step, `workers` their number.
/// The bits of a query's result depend on the query and on what it sees alone:
/// not on its tile, the batch, the workers, the lanes, or the steps that filled
/// the cache.
void expandAttention(transformer::PagedAttentionOp op, const VectorCache &cache,
                     mlir::Value step, mlir::Value workers,
                     const Registers &registers, mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_CPU_EXPANDATTENTION_H
