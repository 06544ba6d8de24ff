// Memory that the threads of a block have together, in loops that become
// kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/thread/SharedMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

/// The state space of shared memory in pointers and buffers.
static constexpr unsigned kSharedSpace = 3;

Value tfc::allocateShared(ImplicitLocOpBuilder &b, int64_t bytes,
                          int64_t alignment) {
  auto type = MemRefType::get({bytes}, b.getI8Type(), AffineMap(),
                              b.getI64IntegerAttr(kSharedSpace));
  Value buffer =
      memref::AllocaOp::create(b, type, b.getI64IntegerAttr(alignment));
  Value address = arith::IndexCastOp::create(
      b, b.getI64Type(),
      memref::ExtractAlignedPointerAsIndexOp::create(b, buffer));
  return LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace), address);
}
