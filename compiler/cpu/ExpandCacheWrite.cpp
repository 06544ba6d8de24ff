// The cache write of the vector kernels: keys are transposed on their way into
// a block.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/ExpandCacheWrite.h"

#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

namespace {

/// A head of a work item at run time.
struct WrittenHead {
  WorkItem item;
  Value number;     // of the head
  Value column;     // its first, in key and value
  Value firstToken; // of the item, in the step
  Value position;   // of that token, in the sequence
};

class VectorCacheWrite {
public:
  VectorCacheWrite(transformer::CacheWriteOp op, Value step, int64_t lanes,
                   OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()),
        cache(op.getCache().getType()), lanes(lanes) {}

  void emit();

private:
  /// Keys of 8 positions that lie in one half of a group: whole vectors.
  void writeEightKeys(const WrittenHead &head);
  void writeKeys(const WrittenHead &head, Value row);
  void writeValues(const WrittenHead &head, Value row);

  Value block(const WrittenHead &head, Value position) {
    return k.blockAddress(cache, head.item,
                          k.divide(position, cache.blockTokens), op.getLayer());
  }
  /// Pointer to the position's first key element of a column of the head.
  Value keyColumn(const WrittenHead &head, Value position, Value d);
  Value load(Value rows, Value token, Value column, int64_t width) {
    return vector::LoadOp::create(b, f32Vector(k, width), rows,
                                  ValueRange{token, column});
  }

  transformer::CacheWriteOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  VectorCache cache;
  int64_t lanes;
};

} // namespace

/// What 8 rows of 8 are by columns, in three steps that swap blocks of 4, of 2
/// and of 1 across the diagonal.
static Values transpose(ImplicitLocOpBuilder &b, Values rows) {
  for (size_t size = 4; size > 0; size /= 2) {
    Values next(rows.size());
    for (size_t row = 0; row < rows.size(); ++row) {
      if (row & size) {
        continue;
      }
      SmallVector<int64_t> upper, lower;
      for (size_t column = 0; column < 8; ++column) {
        bool isSecond = column & size;
        upper.push_back(isSecond ? column - size + 8 : column);
        lower.push_back(isSecond ? column + 8 : column + size);
      }
      Value x = rows[row], y = rows[row + size];
      next[row] = vector::ShuffleOp::create(b, x, y, upper);
      next[row + size] = vector::ShuffleOp::create(b, x, y, lower);
    }
    rows = next;
  }
  return rows;
}

void VectorCacheWrite::emit() {
  int64_t heads = op.getCache().getType().getKvHeads();
  k.forEachItem(cache, heads, [&](const ItemPart &own, const ItemPart &next) {
    const WorkItem &item = own.item;
    Value number = own.part;
    Value nextColumn = k.scale(next.part, cache.headDim);
    WrittenHead head;
    head.item = item;
    head.number = number;
    head.column = k.scale(number, cache.headDim);
    head.firstToken = k.add(item.firstToken, item.firstRow);
    head.position = k.add(item.past, item.firstRow);
    k.loop(item.rows, [&](Value row) {
      for (Value rows : {op.getKey(), op.getValue()}) {
        k.prefetchRow(rows, next.item, row, nextColumn, cache.headDim);
      }
      writeValues(head, row);
    });
    auto isEqual = [&](Value x, int64_t y) {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x,
                                   k.constant(y));
    };
    Value isWhole = arith::AndIOp::create(
        b, isEqual(item.rows, 8), isEqual(k.remainder(head.position, 8), 0));
    auto choice = scf::IfOp::create(b, isWhole, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    writeEightKeys(head);
    b.setInsertionPointToStart(choice.elseBlock());
    k.loop(item.rows, [&](Value row) { writeKeys(head, row); });
  });
}

Value VectorCacheWrite::keyColumn(const WrittenHead &head, Value position,
                                  Value d) {
  Value keys = cache.keys(k, block(head, position), head.number);
  Value slot = k.remainder(position, cache.blockTokens);
  Value group = k.divide(slot, cache.kGroup);
  Value lane = k.remainder(slot, cache.kGroup);
  Value address = buildAddress(b, keys, group, cache.groupBytes);
  address = buildAddress(b, address, lane, cache.elementBytes);
  return buildAddress(b, address, d, cache.lineBytes);
}

void VectorCacheWrite::writeEightKeys(const WrittenHead &head) {
  int64_t whole = cache.headDim / 8 * 8;
  k.loop(k.constant(0), k.constant(whole), 8, [&](Value d) {
    Values rows;
    for (int64_t row = 0; row < 8; ++row) {
      rows.push_back(load(op.getKey(), k.add(head.firstToken, row),
                          k.add(head.column, d), 8));
    }
    Value address = keyColumn(head, head.position, d);
    for (auto [u, column] : llvm::enumerate(transpose(b, rows))) {
      cache.store(k, column, buildAddress(b, address, u * cache.lineBytes));
    }
  });
  k.loop(k.constant(whole), k.constant(cache.headDim), 1, [&](Value d) {
    Value address = keyColumn(head, head.position, d);
    for (int64_t row = 0; row < 8; ++row) {
      Value key = memref::LoadOp::create(
          b, op.getKey(),
          ValueRange{k.add(head.firstToken, row), k.add(head.column, d)});
      cache.store(k, key, buildAddress(b, address, row * cache.elementBytes));
    }
  });
}

void VectorCacheWrite::writeKeys(const WrittenHead &head, Value row) {
  Value token = k.add(head.firstToken, row);
  Value position = k.add(head.position, row);
  k.loop(k.constant(cache.headDim), [&](Value d) {
    Value key = memref::LoadOp::create(
        b, op.getKey(), ValueRange{token, k.add(head.column, d)});
    cache.store(k, key, keyColumn(head, position, d));
  });
}

void VectorCacheWrite::writeValues(const WrittenHead &head, Value row) {
  Value token = k.add(head.firstToken, row);
  Value position = k.add(head.position, row);
  Value values = cache.values(k, block(head, position), head.number);
  Value slot = k.remainder(position, cache.blockTokens);
  Value address = buildAddress(b, values, slot, cache.valueBytes);
  for (const ColumnPiece &piece : cutColumns(cache.headDim, lanes)) {
    Value value = load(op.getValue(), token, k.add(head.column, piece.offset),
                       piece.width);
    cache.store(k, value,
                buildAddress(b, address, piece.offset * cache.elementBytes));
  }
}

void tfc::expandCacheWrite(transformer::CacheWriteOp op, Value step,
                           int64_t lanes, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  VectorCacheWrite(op, step, lanes, rewriter).emit();
  rewriter.eraseOp(op);
}
