// A cache block of the vector kernels, and the vectors they cut rows into.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/VectorCache.h"

#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

VectorCache::VectorCache(transformer::CacheType type)
    : CacheGeometry(type, kBlockTokens, kQueryRows), kvHeads(type.getKvHeads()),
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

SmallVector<ColumnPiece> tfc::cutColumns(int64_t columns, int64_t lanes) {
  SmallVector<ColumnPiece> pieces;
  for (int64_t offset = 0, width = lanes; offset < columns;) {
    while (width > columns - offset) {
      width /= 2;
    }
    pieces.push_back({offset, width});
    offset += width;
  }
  return pieces;
}

VectorType tfc::f32Vector(KernelBuilder &k, int64_t width) {
  return VectorType::get(width, k.builder().getF32Type());
}

Value tfc::loadVector(KernelBuilder &k, Value address, int64_t width) {
  return LLVM::LoadOp::create(k.builder(), f32Vector(k, width), address,
                              /*alignment=*/sizeof(float));
}

void tfc::storeVector(KernelBuilder &k, Value vector, Value address) {
  LLVM::StoreOp::create(k.builder(), vector, address,
                        /*alignment=*/sizeof(float));
}
