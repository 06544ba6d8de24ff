// A tile of keys and one of values in shared memory, for tensor cores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_KEYTILES_H
#define TFC_COMPILER_GPU_ATTENTION_KEYTILES_H

#include "compiler/gpu/attention/PositionCopies.h"
#include "compiler/gpu/attention/StagedRows.h"

namespace tfc {

/// The keys, and the values, of a head in a block of the cache. A row is a
/// position; head_dim is a multiple of 16.
class KeyTiles {
public:
  static constexpr int64_t kThreads = kAttentionThreads;
  static constexpr int64_t kPositions = DeviceCache::kBlockTokens;

  /// `memory` is a pointer to shared memory; `thread` and `lane` are indices.
  KeyTiles(KernelBuilder &k, const DeviceCache &cache, mlir::Value memory,
           mlir::Value thread, mlir::Value lane)
      : k(k), cache(cache), memory(memory), thread(thread), lane(lane) {}

  /// Of both tiles.
  static int64_t bytesOf(int64_t headDim) {
    return 2 * StagedRows::bytesOf(kPositions, headDim);
  }

  /// Asks for the positions [from, to) of a head's block, whose keys or values
  /// begin at `source`; others are zero. All threads of the block take part.
  void copyKeys(mlir::Value source, mlir::Value from, mlir::Value to) {
    copy(memory, source, from, to);
  }
  void copyValues(mlir::Value source, mlir::Value from, mlir::Value to) {
    copy(values(), source, from, to);
  }

  /// Right sides of q . K for 16 positions from `position` on and 16 columns
  /// from `column` on: two fragments of 8 positions.
  LeftFragment loadKeys(mlir::Value position, int64_t column) {
    return rowsAt(memory).loadRows(position, k.constant(column));
  }
  /// Right sides of p . V for as many: two fragments of 8 columns.
  LeftFragment loadValues(mlir::Value position, int64_t column) {
    return rowsAt(values()).loadColumns(position, k.constant(column));
  }

private:
  mlir::Value values();
  StagedRows rowsAt(mlir::Value rows) {
    return StagedRows(k, rows, lane, cache.headDim);
  }
  void copy(mlir::Value to, mlir::Value source, mlir::Value from,
            mlir::Value end);

  KernelBuilder &k;
  const DeviceCache &cache;
  mlir::Value memory, thread, lane;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_KEYTILES_H
