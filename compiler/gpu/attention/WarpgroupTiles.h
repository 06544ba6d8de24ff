// Tiles of queries, keys and values in shared memory that four warps multiply
// together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_WARPGROUPTILES_H
#define TFC_COMPILER_GPU_ATTENTION_WARPGROUPTILES_H

#include "compiler/gpu/attention/AttentionBlock.h"

namespace tfc {

/// 64 queries of a head, and the keys and the values of a block of the cache,
/// in panels of 64 columns, whose rows of 128 bytes are swizzled
/// (describeTile).
class WarpgroupTiles {
public:
  /// `memory` is a pointer to shared memory, at a multiple of kSwizzleBytes.
  WarpgroupTiles(AttentionBlock &block, mlir::Value memory)
      : block(block), k(block.k), b(block.b), memory(memory) {}

  /// Whether heads are whole panels, of which three tiles fit a block's shared
  /// memory.
  static bool suits(int64_t headDim) { return headDim == 64 || headDim == 128; }
  /// Of the three tiles.
  static int64_t bytesOf(int64_t headDim) { return 3 * tileBytes(headDim); }

  /// Writes the queries of `item`; rows that it has not repeat its last one.
  void storeQueries(const WorkItem &item, mlir::Value head);
  /// As KeyTiles'.
  void copyKeys(mlir::Value source, mlir::Value from, mlir::Value to) {
    copy(1, source, from, to);
  }
  void copyValues(mlir::Value source, mlir::Value from, mlir::Value to) {
    copy(2, source, from, to);
  }
  /// The products of the warp's 16 queries with the keys, for each eight of
  /// them.
  llvm::SmallVector<SumFragment> multiplyKeys();
  /// Adds to `sums`, fragments of eight columns, the values times `weights`, of
  /// which four words are those of 16 positions (LeftFragment).
  void addValues(llvm::ArrayRef<LeftFragment> weights,
                 llvm::SmallVectorImpl<SumFragment> &sums);

private:
  static int64_t panelBytes() { return KeyTiles::kPositions * 128; }
  static int64_t tileBytes(int64_t headDim) {
    return headDim / 64 * panelBytes();
  }
  /// The tile's first panel, or a later one.
  mlir::Value tile(int64_t number, int64_t panel = 0);
  /// Where the chunk of 16 bytes lies that is `chunk` of row `row`.
  mlir::Value placeOf(int64_t number, mlir::Value row, mlir::Value chunk);
  void copy(int64_t number, mlir::Value source, mlir::Value from,
            mlir::Value end);
  /// Calls `each(row, chunk)` for the thread's share of a tile's chunks.
  void forEachChunk(llvm::function_ref<void(mlir::Value part, mlir::Value row,
                                            mlir::Value chunk)>
                        each);

  AttentionBlock &block;
  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  mlir::Value memory;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_WARPGROUPTILES_H
