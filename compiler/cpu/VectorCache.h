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
/// Groups stay 16 for narrower vectors too, which read them in halves.
struct VectorCache : CacheGeometry {
  explicit VectorCache(transformer::CacheType type);

  static constexpr int64_t kBlockTokens = 64;
  static constexpr int64_t kQueryRows = 8;
  static constexpr int64_t kGroup = 16;

  /// Pointers into a block's layer at `address`: the keys, or the values, of a
  /// head.
  mlir::Value keys(KernelBuilder &k, mlir::Value address,
                   mlir::Value kvHead) const;
  mlir::Value values(KernelBuilder &k, mlir::Value address,
                     mlir::Value kvHead) const;

  int64_t headDim;
  int64_t headBytes;  // a head's keys in a block, or its values
  int64_t groupBytes; // 16 positions' keys
  int64_t valueBytes; // one position's values
  int64_t lineBytes;  // a column of 16 positions' keys
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_VECTORCACHE_H
