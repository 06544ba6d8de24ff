// A cache block of a device's kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_DEVICECACHE_H
#define TFC_COMPILER_GPU_ATTENTION_DEVICECACHE_H

#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// A block holds, per layer,
///   keys   [kv_heads][positions][head_dim]
///   values [kv_heads][positions][head_dim]
/// in elements of the cache's type: what a block of threads reads of a head,
/// positions one after the other, lies together. Behind a head's integers lie
/// the scales of its positions, of keys as of values. Latents are keys of one
/// head, whose last columns are the values.
struct DeviceCache : CacheGeometry {
  /// Items of `queryRows` queries, which all caches of an entry agree on.
  DeviceCache(transformer::CacheType type, int64_t queryRows);

  static constexpr int64_t kBlockTokens = 64;

  /// Pointers into a block's layer at `address`: the keys, or the values, of a
  /// head's first position.
  mlir::Value keys(KernelBuilder &k, mlir::Value address,
                   mlir::Value kvHead) const;
  mlir::Value values(KernelBuilder &k, mlir::Value address,
                     mlir::Value kvHead) const;
  /// The scale of a position, of a cache of integers, whose keys (values) of a
  /// head begin at `address`; where it lies.
  mlir::Value scaleAt(KernelBuilder &k, mlir::Value address,
                      mlir::Value slot) const;
  mlir::Value loadScale(KernelBuilder &k, mlir::Value address,
                        mlir::Value slot) const;
  /// `count` elements at `address`, which is a multiple of as many of them,
  /// widened; and back.
  mlir::Value loadAligned(KernelBuilder &k, mlir::Value address,
                          int64_t count) const;
  void storeAligned(KernelBuilder &k, mlir::Value vector,
                    mlir::Value address) const;
  /// The same of a vector of what is kept elsewhere; what is kept so already is
  /// not touched.
  void storeKept(KernelBuilder &k, mlir::Value vector,
                 mlir::Value address) const;
  /// The most elements, a power of two, that a thread moves at once: of at most
  /// 16 bytes, so many that a head is whole ones.
  int64_t vectorWidth() const;

  bool isLatent, isQuantized;
  int64_t headDim;       // columns of a key
  int64_t valueDim;      // and of a value
  int64_t positionBytes; // a head's key at one position, or its value
  int64_t headBytes;     // a head's keys in a block, or its values; scales too
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_DEVICECACHE_H
