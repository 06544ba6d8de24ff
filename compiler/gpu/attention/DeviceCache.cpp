// A cache block of a device's kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/DeviceCache.h"

#include "compiler/kernel/NarrowFloat.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

/// Bytes of the widest access of a thread.
static constexpr int64_t kAccessBytes = 16;

DeviceCache::DeviceCache(transformer::CacheType type, int64_t queryRows)
    : CacheGeometry(type, kBlockTokens, queryRows), isLatent(type.isLatent()),
      isQuantized(element.isInteger()), headDim(type.getHeadDim()),
      valueDim(isLatent ? type.getValues() : headDim),
      positionBytes(headDim * elementBytes),
      headBytes(kBlockTokens *
                (positionBytes + (isQuantized ? sizeof(float) : 0))) {}

Value DeviceCache::keys(KernelBuilder &k, Value address, Value kvHead) const {
  return buildAddress(k.builder(), address, kvHead, headBytes);
}

Value DeviceCache::values(KernelBuilder &k, Value address, Value kvHead) const {
  int64_t first =
      isLatent ? (headDim - valueDim) * elementBytes : kBlockTokens * rowBytes;
  return buildAddress(k.builder(), address, kvHead, headBytes, first);
}

Value DeviceCache::scaleAt(KernelBuilder &k, Value address, Value slot) const {
  return buildAddress(k.builder(), address, slot, sizeof(float),
                      kBlockTokens * positionBytes);
}

Value DeviceCache::loadScale(KernelBuilder &k, Value address,
                             Value slot) const {
  return LLVM::LoadOp::create(k.builder(), k.builder().getF32Type(),
                              scaleAt(k, address, slot), sizeof(float));
}

Value DeviceCache::loadAligned(KernelBuilder &k, Value address,
                               int64_t count) const {
  ImplicitLocOpBuilder &b = k.builder();
  Value kept = LLVM::LoadOp::create(b, VectorType::get(count, element), address,
                                    count * elementBytes);
  if (isQuantized) {
    return arith::SIToFPOp::create(b, VectorType::get(count, b.getF32Type()),
                                   kept);
  }
  return element.isF32() ? kept : widenFloat(b, kept);
}

void DeviceCache::storeAligned(KernelBuilder &k, Value vector,
                               Value address) const {
  ImplicitLocOpBuilder &b = k.builder();
  int64_t count = cast<VectorType>(vector.getType()).getNumElements();
  if (!element.isF32()) {
    vector = narrowFloat(b, vector, element);
  }
  LLVM::StoreOp::create(b, vector, address, count * elementBytes);
}

int64_t DeviceCache::vectorWidth() const {
  int64_t width = kAccessBytes / elementBytes;
  while (headDim % width != 0) {
    width /= 2;
  }
  return width;
}

void DeviceCache::storeKept(KernelBuilder &k, Value vector,
                            Value address) const {
  auto type = cast<VectorType>(vector.getType());
  if (type.getElementType() == element) {
    LLVM::StoreOp::create(k.builder(), vector, address,
                          type.getNumElements() * elementBytes);
    return;
  }
  bool isWide = type.getElementType().isF32();
  storeAligned(k, isWide ? vector : widenFloat(k.builder(), vector), address);
}
