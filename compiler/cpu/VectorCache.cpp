// A cache block of the vector kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/VectorCache.h"

#include "compiler/kernel/StepFields.h"

using namespace mlir;
using namespace tfc;

VectorCache::VectorCache(transformer::CacheType type)
    : CacheGeometry(type, kBlockTokens, kQueryRows),
      headDim(type.getHeadDim()) {
  valueBytes = headDim * elementBytes;
  lineBytes = kGroup * elementBytes;
  groupBytes = kGroup * valueBytes;
  headBytes = kBlockTokens * valueBytes;
}

Value VectorCache::keys(KernelBuilder &k, Value address, Value kvHead) const {
  return buildAddress(k.builder(), address, kvHead, headBytes);
}

Value VectorCache::values(KernelBuilder &k, Value address, Value kvHead) const {
  return buildAddress(k.builder(), address, kvHead, headBytes,
                      kBlockTokens * rowBytes);
}
