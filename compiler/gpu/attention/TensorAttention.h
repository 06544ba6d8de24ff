// Paged attention over keys and values of 16 bits, by tensor cores: 64 queries
// of a head, or the few of a step, and 64 positions at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_TENSORATTENTION_H
#define TFC_COMPILER_GPU_ATTENTION_TENSORATTENTION_H

#include "compiler/gpu/attention/DeviceCache.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Queries of an item: a block of four warps does them, 16 a warp.
constexpr int64_t kTensorQueryRows = 64;

/// Whether tensor cores do attention over this cache: elements of 16 bits, and
/// heads that are whole fragments, of which a tile of 64 keys and one of 64
/// values fit a block's shared memory: a multiple of 16 up to 176 columns.
bool suitsTensorCores(transformer::CacheType type);
/// Whether they do `op`: its queries are kept as the cache's keys are, so that
/// nothing is rounded that was not before but the weights of values.
bool suitsTensorCores(transformer::PagedAttentionOp op);

/// Expands `op`, which suits tensor cores, over a cache with items of
/// kTensorQueryRows, into parallel loops; `step` is the pointer to the step.
/// One, over items, heads of keys, parts and the 128 threads of a block, takes
/// items whose queries, of all heads that share keys, are at most 16; there the
/// four warps share out the positions of a part. One puts parts together. The
/// last, over items, heads and threads, takes the other items, and there the
/// warps share out the queries, and multiply together where the device
/// `hasWarpgroups` and heads suit WarpgroupTiles. Either way tiles lie at
/// multiples of 64 and parts at multiples of 256, so that the bits of an item's
/// results depend on the item and what it sees alone.
void expandTensorAttention(transformer::PagedAttentionOp op,
                           const DeviceCache &cache, mlir::Value step,
                           bool hasWarpgroups, mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_TENSORATTENTION_H
