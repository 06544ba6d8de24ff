// Rows of bytes two by two, as instructions that multiply matrices take them,
// and the sums of two rows, as these leave them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/RowPairs.h"

#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <climits>

using namespace mlir;
using namespace tfc;

/// Rows whose pairs are not worth a second thread.
static constexpr int64_t kItemRows = 64;
/// Of sums that an instruction adds to.
static constexpr int64_t kSums = 4;

RowPairs::RowPairs(KernelBuilder &builder, int64_t columns)
    : k(builder), b(k.builder()), columns(columns) {}

int64_t RowPairs::rowBytes() const {
  return static_cast<int64_t>(llvm::alignTo(columns, kWordBytes));
}

/// One pair, of the rows at both places.
void RowPairs::emitPair(Value first, Value second, Value to) {
  int64_t two = columns / (2 * kWordBytes) * 2 * kWordBytes;
  auto words = VectorType::get(2, b.getI64Type());
  k.loop(k.constant(0), k.constant(two), 2 * kWordBytes, [&](Value at) {
    auto load = [&](Value row) -> Value {
      return LLVM::LoadOp::create(b, words, buildAddress(b, row, at, 1),
                                  /*alignment=*/1);
    };
    Value both = LLVM::ShuffleVectorOp::create(
        b, load(first), load(second), SmallVector<int32_t>{0, 2, 1, 3});
    LLVM::StoreOp::create(b, both, buildAddress(b, to, at, 2), /*alignment=*/8);
  });
  for (int64_t at = two; at < columns; at += kWordBytes) {
    int64_t bytes = std::min(columns - at, kWordBytes);
    const Value rows[] = {first, second};
    for (auto [i, row] : llvm::enumerate(rows)) {
      Value word =
          LLVM::LoadOp::create(b, b.getIntegerType(CHAR_BIT * bytes),
                               buildAddress(b, row, at), /*alignment=*/1);
      if (bytes < kWordBytes) {
        word = arith::ExtUIOp::create(b, b.getI64Type(), word);
      }
      int64_t place = 2 * at + static_cast<int64_t>(i) * kWordBytes;
      LLVM::StoreOp::create(b, word, buildAddress(b, to, place),
                            /*alignment=*/8);
    }
  }
}

Value RowPairs::emit(Value x, Value xRowBytes, Value tokens) {
  // Of an odd number of rows the last one has a second: a third more of each of
  // three rows, or less of each of more, is room for that.
  auto bytes = static_cast<int64_t>(llvm::divideCeil(4 * rowBytes(), 3));
  Value pairs = memref::AllocOp::create(
      b, MemRefType::get({ShapedType::kDynamic, bytes}, b.getI8Type()), tokens);
  Value place = memref::ExtractAlignedPointerAsIndexOp::create(b, pairs);
  Value zero = k.constant(0);
  Value end = arith::SelectOp::create(b, k.isEqual(tokens, k.constant(1)), zero,
                                      tokens);
  auto items = scf::ParallelOp::create(b, ValueRange{zero}, ValueRange{end},
                                       ValueRange{k.constant(kItemRows)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(items.getBody());
  Value begin = items.getInductionVars()[0];
  Value rows = k.min(k.subtract(tokens, begin), k.constant(kItemRows));
  Value last = k.subtract(tokens, k.constant(1));
  k.loop(k.constant(0), rows, 2, [&](Value number) {
    Value first = k.add(begin, number);
    auto placeOf = [&](Value row) {
      return k.pointer(k.add(x, arith::MulIOp::create(b, row, xRowBytes)));
    };
    emitPair(placeOf(first), placeOf(k.min(k.add(first, 1), last)),
             k.pointer(k.add(place, k.scale(first, rowBytes()))));
  });
  return place;
}

/// Of `width` sums of a row, and then of another one, lane by lane of two
/// vectors where they are as an instruction leaves them.
static SmallVector<int32_t> listPaired(int64_t width) {
  SmallVector<int32_t> places;
  for (int64_t lane = 0; lane < 2 * width; ++lane) {
    int64_t row = lane % kSums / 2;
    int64_t column = lane / kSums * 2 + lane % 2;
    places.push_back(static_cast<int32_t>(row * width + column));
  }
  return places;
}

/// Two vectors out of the lanes of two.
static std::pair<Value, Value> arrange(ImplicitLocOpBuilder &b, Value first,
                                       Value second, ArrayRef<int32_t> lanes) {
  auto build = [&](ArrayRef<int32_t> own) -> Value {
    return LLVM::ShuffleVectorOp::create(b, first, second, own);
  };
  size_t half = lanes.size() / 2;
  return {build(lanes.take_front(half)), build(lanes.drop_front(half))};
}

std::pair<Value, Value> RowPairs::pairSums(ImplicitLocOpBuilder &b, Value first,
                                           Value second) {
  int64_t width = cast<VectorType>(first.getType()).getNumElements();
  return arrange(b, first, second, listPaired(width));
}

std::pair<Value, Value> RowPairs::splitSums(ImplicitLocOpBuilder &b,
                                            Value first, Value second) {
  int64_t width = cast<VectorType>(first.getType()).getNumElements();
  SmallVector<int32_t> paired = listPaired(width), lanes(paired.size());
  for (auto [lane, place] : llvm::enumerate(paired)) {
    lanes[place] = static_cast<int32_t>(lane);
  }
  return arrange(b, first, second, lanes);
}
