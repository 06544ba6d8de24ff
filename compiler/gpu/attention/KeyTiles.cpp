// A tile of keys and one of values in shared memory, for tensor cores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/KeyTiles.h"

#include "compiler/gpu/thread/AsyncCopies.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

/// The state space of device memory in pointers.
static constexpr unsigned kGlobalSpace = 1;

Value KeyTiles::values() {
  return buildAddress(k.builder(), memory,
                      StagedRows::bytesOf(kPositions, cache.headDim));
}

/// A head's rows lie one after the other, as its copies do.
void KeyTiles::copy(Value to, Value source, Value from, Value end) {
  ImplicitLocOpBuilder &b = k.builder();
  constexpr int64_t perCopy = kCopyBytes / 2;
  int64_t perRow = cache.headDim / perCopy;
  Value device = LLVM::AddrSpaceCastOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace), source);
  Type word = b.getI32Type();
  Value all = arith::ConstantOp::create(b, b.getI32IntegerAttr(kCopyBytes));
  Value none = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  for (int64_t first = 0; first < kPositions * perRow; first += kThreads) {
    Value part = k.add(thread, first);
    Value row = k.divide(part, perRow), column = k.remainder(part, perRow);
    Value isInside = arith::AndIOp::create(
        b, k.isLess(row, end),
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, row, from));
    Value fill = arith::SelectOp::create(b, word, isInside, all, none);
    copyAsync(b, rowsAt(to).addressOf(row, k.scale(column, perCopy)),
              buildAddress(b, device, part, kCopyBytes), fill);
  }
}
