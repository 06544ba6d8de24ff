// Paged attention of any width and element: a warp does one query of one head.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_WARPATTENTION_H
#define TFC_COMPILER_GPU_ATTENTION_WARPATTENTION_H

#include "compiler/gpu/attention/DeviceCache.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Whether a warp's registers hold a query's sums (head_dim is at most 1024),
/// and keys and values are floats of their own.
bool fitsWarp(transformer::CacheType type);

/// Expands `op`, whose cache fits a warp, into a parallel loop over items of
/// one query, heads, and the 32 lanes of a warp; `step` is the pointer to the
/// step. Every lane scores one position of a chunk of 32; chunks lie at fixed
/// positions, so that the bits of a row depend on what it sees alone.
void expandWarpAttention(transformer::PagedAttentionOp op,
                         const DeviceCache &cache, mlir::Value step,
                         mlir::RewriterBase &rewriter);
/// The same at the builder's place, without erasing `op`, of items of at most
/// `few` queries, beside a loop that does the others in FloatOrder.h's order:
/// chunks are kFloatChunk positions.
void emitWarpAttention(transformer::PagedAttentionOp op,
                       const DeviceCache &cache, mlir::Value step, int64_t few,
                       mlir::OpBuilder &builder);

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_WARPATTENTION_H
