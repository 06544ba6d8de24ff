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
                      kPositions * rowBytesOf(cache.headDim));
}

/// A head's rows lie one after the other, as its copies do.
void KeyTiles::copy(Value to, Value source, Value from, Value end) {
  ImplicitLocOpBuilder &b = k.builder();
  int64_t perRow = cache.positionBytes / kCopyBytes;
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
    Value place = buildAddress(b, to, row, rowBytesOf(cache.headDim));
    copyAsync(b, buildAddress(b, place, column, kCopyBytes),
              buildAddress(b, device, part, kCopyBytes), fill);
  }
}

LeftFragment KeyTiles::loadKeys(Value position, int64_t column) {
  ImplicitLocOpBuilder &b = k.builder();
  // Lanes name rows 0 to 7 of two tiles beside each other, then 8 to 15.
  Value row = k.add(k.remainder(lane, 8), k.scale(k.divide(lane, 16), 8));
  Value half = k.remainder(k.divide(lane, 8), 2);
  Value address =
      buildAddress(b, memory, k.add(position, row), rowBytesOf(cache.headDim));
  return loadTiles(b, buildAddress(b, address, half, 16, 2 * column));
}

LeftFragment KeyTiles::loadValues(Value position, int64_t column) {
  ImplicitLocOpBuilder &b = k.builder();
  // Rows 0 to 15 of a tile, then of the one beside it.
  Value row = k.remainder(lane, 16), half = k.divide(lane, 16);
  Value address = buildAddress(b, values(), k.add(position, row),
                               rowBytesOf(cache.headDim));
  return loadTiles(b, buildAddress(b, address, half, 16, 2 * column),
                   /*isTransposed=*/true);
}
