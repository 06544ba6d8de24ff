// Numbers side by side in a row, as a thread moves them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/rows/RowVector.h"

#include "compiler/gpu/rows/RowAlignment.h"
#include "compiler/kernel/NarrowFloat.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

Value tfc::loadKeptVector(KernelBuilder &k, Value rows, Value token,
                          Value column, int64_t count) {
  auto type = cast<MemRefType>(rows.getType());
  return vector::LoadOp::create(
      k.builder(), VectorType::get(count, type.getElementType()), rows,
      ValueRange{token, column}, /*nontemporal=*/false,
      llvm::MaybeAlign(alignmentOfRow(rows, count)));
}

Value tfc::loadRowVector(KernelBuilder &k, Value rows, Value token,
                         Value column, int64_t count) {
  Value kept = loadKeptVector(k, rows, token, column, count);
  return getElementTypeOrSelf(kept.getType()).isF32()
             ? kept
             : widenFloat(k.builder(), kept);
}

void tfc::storeRowVector(KernelBuilder &k, Value vector, Value rows,
                         Value token, Value column) {
  auto type = cast<VectorType>(vector.getType());
  Type element = cast<MemRefType>(rows.getType()).getElementType();
  if (!element.isF32()) {
    vector = narrowFloat(k.builder(), vector, element);
  }
  vector::StoreOp::create(
      k.builder(), vector, rows, ValueRange{token, column},
      /*nontemporal=*/false,
      llvm::MaybeAlign(alignmentOfRow(rows, type.getNumElements())));
}
