// Attention by tensor cores: which kernels do it, and which items each does.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_EXPANDTENSORATTENTION_H
#define TFC_COMPILER_GPU_ATTENTION_EXPANDTENSORATTENTION_H

#include "compiler/gpu/attention/DeviceCache.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// What a device has for tensor cores.
struct TensorDevice {
  /// Four warps may multiply together.
  bool hasWarpgroups = false;
  /// Shared memory of a block, at most, in bytes.
  int64_t sharedBytes = 0;
};

/// Queries of an item.
constexpr int64_t kTensorQueryRows = 64;

/// Whether tensor cores do `op`: its queries are kept as the cache's keys are,
/// so that nothing is rounded that was not before but the weights of values;
/// and heads suit TensorAttention or WideAttention.
bool suitsTensorCores(transformer::PagedAttentionOp op,
                      const TensorDevice &device);
bool suitsTensorCores(transformer::PagedLatentOp op,
                      const TensorDevice &device);

/// Expands `op`, which suits tensor cores, over a cache with items of
/// kTensorQueryRows, into parallel loops; `step` is the pointer to the step.
/// One takes items whose queries, of all heads that share keys, are at most 16,
/// or one query; there parts of what an item sees are blocks' of their own, and
/// another loop puts them together. The last takes the other items. Either way
/// tiles lie at multiples of 64 and parts at multiples of 256, so that the bits
/// of an item's results depend on the item and what it sees alone.
void expandTensorAttention(transformer::PagedAttentionOp op,
                           const DeviceCache &cache, mlir::Value step,
                           const TensorDevice &device,
                           mlir::RewriterBase &rewriter);

/// The same of latents, which a loop in front writes to the cache.
void expandTensorAttention(transformer::PagedLatentOp op,
                           const DeviceCache &cache, mlir::Value step,
                           const TensorDevice &device,
                           mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_EXPANDTENSORATTENTION_H
