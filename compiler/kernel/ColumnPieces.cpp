// The vectors that kernels cut rows into.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ColumnPieces.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

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
