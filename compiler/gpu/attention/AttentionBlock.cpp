// What the threads of a block know of an item of attention by tensor cores: who
// they are, and which queries are rows of whose fragments.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/AttentionBlock.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace tfc;

void AttentionBlock::beginThread(Value number) {
  thread = number;
  warp = k.divide(thread, WarpBuilder::kLanes);
  lanes.lane = k.remainder(thread, WarpBuilder::kLanes);
}

void AttentionBlock::beginRows(const WorkItem &item, Value head) {
  eighth = k.divide(lanes.lane, 4);
  pair = k.scale(k.remainder(lanes.lane, 4), 2);
  kvHead = isShared ? head : k.divide(head, group);
  for (int64_t half = 0; half < 2; ++half) {
    Value number = k.add(eighth, half * 8);
    if (!isShared) {
      number = k.add(number, k.scale(warp, kRows));
    }
    rows[half] = makeRow(item, head, number);
  }
}

FragmentRow AttentionBlock::makeRow(const WorkItem &item, Value head,
                                    Value number) {
  FragmentRow row;
  Value query = number;
  if (isShared) {
    query = k.divide(number, group);
    head = k.add(k.scale(head, group), k.remainder(number, group));
  }
  row.isOwn = k.isLess(query, item.rows);
  query = k.min(query, lastQuery(item));
  row.token = k.add(item.firstToken, k.add(item.firstRow, query));
  static_cast<ScoreRow &>(row) = score.rowOf(item, query, head);
  return row;
}

std::pair<Value, Value> AttentionBlock::seenByAll(const WorkItem &item) {
  Value first = k.constant(0), begin = first;
  if (score.hasFirst()) {
    begin = score.first(item, k.subtract(item.rows, k.constant(1)));
  }
  return {begin, score.end(item, first)};
}

void AttentionBlock::storeColumns(Value columns, const FragmentRow &row,
                                  Value column) {
  auto type = cast<MemRefType>(op.getInit().getType());
  Type element = type.getElementType();
  int64_t count = cast<VectorType>(columns.getType()).getNumElements();
  int64_t alignment = element.getIntOrFloatBitWidth() / 8;
  if (!element.isF32()) {
    columns =
        arith::TruncFOp::create(b, VectorType::get(count, element), columns);
  }
  vector::StoreOp::create(
      b, columns, op.getInit(),
      ValueRange{row.token, k.add(k.scale(row.head, cache.valueDim), column)},
      /*nontemporal=*/false,
      llvm::MaybeAlign(type.getLayout().isIdentity() ? count * alignment
                                                     : alignment));
}

Value AttentionBlock::larger(Value x, Value y) {
  return LLVM::MaximumOp::create(b, x, y);
}

Value AttentionBlock::isEqual(Value x, int64_t y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, k.constant(y));
}

Value AttentionBlock::lowest() {
  return k.number(std::numeric_limits<float>::lowest());
}
