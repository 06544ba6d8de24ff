// The plain expansion of the structured ops, kept as the second opinion: one
// query at a time, keys and values as rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_EMITSCALAR_H
#define TFC_COMPILER_CPU_EMITSCALAR_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "tfc/abi.h"

namespace tfc {

/// The layout of a cache block of the scalar kernels: per layer, the keys of
/// its block_tokens positions as rows [kv_heads * head_dim], then the values.
struct ScalarCache {
  explicit ScalarCache(transformer::CacheType type);

  int64_t rowBytes;   // one position's keys, or values
  int64_t layerBytes; // from one layer to the next; 0 in a scratch cache
  int64_t blockBytes;

  /// Positions in a block: small, so that short sequences waste little.
  static constexpr int64_t kBlockTokens = 16;
  /// Queries in a work item: an item's cost is its overhead times many.
  static constexpr int64_t kQueryRows = 4;
};

/// Expands `op`; `step` is the pointer to the step, `workers` their number.
void emitScalar(transformer::CacheWriteOp op, mlir::Value step,
                mlir::RewriterBase &rewriter);
void emitScalar(transformer::PagedAttentionOp op, mlir::Value step,
                mlir::Value workers, mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_CPU_EMITSCALAR_H
