// Keys and values on their way from the cache to shared memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_POSITIONCOPIES_H
#define TFC_COMPILER_GPU_ATTENTION_POSITIONCOPIES_H

#include "compiler/gpu/attention/DeviceCache.h"

namespace tfc {

/// Threads of a block that does attention in tiles.
constexpr int64_t kAttentionThreads = 128;

/// Rows of shared memory, one for each position of a block of the cache.
struct PositionRows {
  mlir::Value memory;
  int64_t rowBytes;
};

/// Asks for the positions [from, end) of a head's block, whose keys or values
/// begin at `source`, in `to`; others are zero. All threads of the block take
/// part; `thread` is which one this is, an index. A position is whole copies.
void copyPositions(KernelBuilder &k, const DeviceCache &cache,
                   mlir::Value thread, const PositionRows &to,
                   mlir::Value source, mlir::Value from, mlir::Value end);

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_POSITIONCOPIES_H
