// Paged attention over keys and values of 16 bits, by tensor cores: 64 queries
// of a head, or the few of a step, and 64 positions at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_TENSORATTENTION_H
#define TFC_COMPILER_GPU_ATTENTION_TENSORATTENTION_H

#include "compiler/gpu/attention/AttentionParts.h"

namespace tfc {

/// Whether heads are whole fragments of 16 bits, of which a tile of 64 keys and
/// one of 64 values fit the shared memory that any block has: a multiple of 16
/// up to 176 columns.
bool suitsTensorTiles(transformer::CacheType type);

/// Emits the loop over items, heads and threads; or over items, heads, the
/// `numBlocks` that share out their `parts`, and threads.
void emitTensorAttention(AttentionBlock &block, AttentionParts *parts = nullptr,
                         mlir::Value numBlocks = mlir::Value());

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_TENSORATTENTION_H
