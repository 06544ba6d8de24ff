// A cache block of a device's kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/DeviceCache.h"

#include "compiler/host/NarrowFloat.h"
#include "compiler/host/StepFields.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

/// Bytes of the widest access of a thread.
static constexpr int64_t kAccessBytes = 16;

DeviceCache::DeviceCache(transformer::CacheType type, int64_t queryRows)
    : CacheGeometry(type, kBlockTokens, queryRows), headDim(type.getHeadDim()),
      positionBytes(headDim * elementBytes),
      headBytes(kBlockTokens * positionBytes) {}

Value DeviceCache::keys(KernelBuilder &k, Value address, Value kvHead) const {
  return buildAddress(k.builder(), address, kvHead, headBytes);
}

Value DeviceCache::values(KernelBuilder &k, Value address, Value kvHead) const {
  return buildAddress(k.builder(), address, kvHead, headBytes,
                      kBlockTokens * rowBytes);
}

Value DeviceCache::loadAligned(KernelBuilder &k, Value address,
                               int64_t count) const {
  ImplicitLocOpBuilder &b = k.builder();
  Value kept = LLVM::LoadOp::create(b, VectorType::get(count, element), address,
                                    count * elementBytes);
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

Value tfc::loadRowVector(KernelBuilder &k, Value rows, Value token,
                         Value column, int64_t count) {
  ImplicitLocOpBuilder &b = k.builder();
  auto type = cast<MemRefType>(rows.getType());
  Type element = type.getElementType();
  // Rows of a part of a wider buffer may begin anywhere.
  int64_t elements = type.getLayout().isIdentity() ? count : 1;
  int64_t alignment =
      std::min(elements * element.getIntOrFloatBitWidth() / 8, kAccessBytes);
  Value kept = vector::LoadOp::create(
      b, VectorType::get(count, element), rows, ValueRange{token, column},
      /*nontemporal=*/false, llvm::MaybeAlign(alignment));
  return element.isF32() ? kept : widenFloat(b, kept);
}
