// A cache block of the vector kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_VECTORCACHE_H
#define TFC_COMPILER_CPU_VECTORCACHE_H

#include "compiler/kernel/ColumnPieces.h"

namespace tfc {

/// A block holds, per layer,
///   keys   [kv_heads][positions / 16][head_dim][16]
///   values [kv_heads][positions][head_dim]
/// in elements of the cache's type: 16 positions' scores are a sum of whole
/// vectors, and in f32 a group of 16 positions of a head 64 wide is one page
/// of 4 KB.
/// Groups stay 16 for narrower vectors too, which read them in halves. Of a
/// quantized cache 16 scales stand before each group of keys, and those of all
/// positions before a head's values.
struct VectorCache : CacheGeometry {
  VectorCache(transformer::CacheType type, int64_t queryRows);

  /// Whether elements are integers: those that are loaded are without a scale,
  /// and those that are stored are i32.
  bool isQuantized() const { return scaleBytes != 0; }

  static constexpr int64_t kBlockTokens = 64;
  /// Of an item: as many as are a tile of vectors, and two of AMX's.
  static constexpr int64_t kQueryRows = 8;
  static constexpr int64_t kPackedRows = 32;
  static constexpr int64_t kGroup = 16;

  /// Pointers into a block's layer at `address`: the keys, or the values, of a
  /// head.
  mlir::Value keys(KernelBuilder &k, mlir::Value address,
                   mlir::Value kvHead) const;
  mlir::Value values(KernelBuilder &k, mlir::Value address,
                     mlir::Value kvHead) const;
  /// Of a quantized cache, pointers to the scales of a group of keys, or of a
  /// head's values, from the one to these.
  mlir::Value keyScales(KernelBuilder &k, mlir::Value group) const;
  mlir::Value valueScales(KernelBuilder &k, mlir::Value values) const;

  int64_t kvHeads, headDim;
  int64_t scaleBytes; // of a head's keys, or values, of a position; or 0
  int64_t headBytes;  // a head's keys in a block, or its values, with scales
  int64_t groupBytes; // from 16 positions' keys to the next
  int64_t valueBytes; // one position's values
  int64_t lineBytes;  // a column of 16 positions' keys
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_VECTORCACHE_H
