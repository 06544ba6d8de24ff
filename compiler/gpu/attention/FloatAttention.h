// Paged attention of f32, in tiles: fused multiply-adds of what lies in shared
// memory, a block for many queries of a head.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_FLOATATTENTION_H
#define TFC_COMPILER_GPU_ATTENTION_FLOATATTENTION_H

#include "compiler/gpu/attention/DeviceCache.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Queries of an item, at most, that warps do, one each: a block takes as long
/// for one as for all it has.
constexpr int64_t kFewFloatQueries = 8;

/// Queries of an item, which a block does: so many that its threads have sums
/// and scores in registers.
int64_t floatQueryRows(transformer::CacheType type);

/// Whether blocks do `op`: queries, keys and values of f32, in heads of a
/// multiple of 4 columns up to 128, and scores of products.
bool suitsFloatTiles(transformer::PagedAttentionOp op);

/// Expands `op`, which suits tiles, over a cache with items of at most its
/// floatQueryRows, into two parallel loops; `step` is the pointer to the step.
/// One, of warps, takes the items of few queries, one, over items, heads and
/// the 128 threads of a block, the others. A query has the same bits in either
/// (FloatOrder.h).
void expandFloatAttention(transformer::PagedAttentionOp op,
                          const DeviceCache &cache, mlir::Value step,
                          mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_FLOATATTENTION_H
