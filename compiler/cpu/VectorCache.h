// A cache block of the vector kernels, and the vectors they cut rows into.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_VECTORCACHE_H
#define TFC_COMPILER_CPU_VECTORCACHE_H

#include "compiler/kernel/KernelBuilder.h"

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

/// Columns [offset, offset + width) of a row: a vector of static width.
struct ColumnPiece {
  int64_t offset, width;
};

/// Cuts `columns` columns into vectors: `lanes` wide as long as they fit, then
/// of half the width, and so on, so that nothing is read beyond the row and no
/// mask is needed.
llvm::SmallVector<ColumnPiece> cutColumns(int64_t columns, int64_t lanes);

mlir::VectorType f32Vector(KernelBuilder &k, int64_t width);

/// `width` floats at a pointer that is aligned to a float.
mlir::Value loadVector(KernelBuilder &k, mlir::Value address, int64_t width);
void storeVector(KernelBuilder &k, mlir::Value vector, mlir::Value address);

} // namespace tfc

#endif // TFC_COMPILER_CPU_VECTORCACHE_H
