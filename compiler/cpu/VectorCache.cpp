// A cache block of the vector kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/VectorCache.h"

#include "compiler/kernel/StepFields.h"

using namespace mlir;
using namespace tfc;

VectorCache::VectorCache(transformer::CacheType type, int64_t queryRows)
    : CacheGeometry(type, kBlockTokens, queryRows), kvHeads(type.getKvHeads()),
      headDim(type.getHeadDim()),
      scaleBytes(element.isInteger() ? sizeof(float) : 0) {
  valueBytes = headDim * elementBytes;
  lineBytes = kGroup * elementBytes;
  groupBytes = kGroup * (valueBytes + scaleBytes);
  headBytes = kBlockTokens * (valueBytes + scaleBytes);
}

Value VectorCache::keys(KernelBuilder &k, Value address, Value kvHead) const {
  return buildAddress(k.builder(), address, kvHead, headBytes,
                      kGroup * scaleBytes);
}

Value VectorCache::values(KernelBuilder &k, Value address, Value kvHead) const {
  return buildAddress(k.builder(), address, kvHead, headBytes,
                      kBlockTokens * (rowBytes + scaleBytes));
}

Value VectorCache::keyScales(KernelBuilder &k, Value group) const {
  return buildAddress(k.builder(), group, -kGroup * scaleBytes);
}

Value VectorCache::valueScales(KernelBuilder &k, Value values) const {
  return buildAddress(k.builder(), values, -kBlockTokens * scaleBytes);
}
