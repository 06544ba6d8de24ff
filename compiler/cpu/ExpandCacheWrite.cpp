// The cache write of the vector kernels: keys are transposed on their way into
// a block.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/ExpandCacheWrite.h"

#include "compiler/kernel/Quantize.h"
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
  Value firstToken; // of the item, or of some of its rows, in the step
  Value position;   // of that token, in the sequence
};

class VectorCacheWrite {
public:
  VectorCacheWrite(transformer::CacheWriteOp op, const VectorCache &cache,
                   Value step, int64_t lanes, OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()), cache(cache),
        lanes(lanes) {}

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
  /// Pointer to the first key of the group of the position, in the head.
  Value keyGroup(const WrittenHead &head, Value position);
  /// Pointer to the position's first key element of a column of the head.
  Value keyColumn(const WrittenHead &head, Value position, Value d);
  /// Of a quantized cache, the greatest element of a token's row; else null.
  Value findGreatest(Value rows, Value token, Value column);
  /// Of a quantized cache, stores the scale of a greatest element as the key's
  /// of the position; of as many positions as `greatest` has.
  void storeKeyScale(const WrittenHead &head, Value position, Value greatest);
  /// `elements` as the cache has them; each lane has a greatest one, or all
  /// have one.
  void store(Value elements, Value greatest, Value address);
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
    k.loop(k.constant(0), item.rows, 8, [&](Value row) {
      WrittenHead eight = head;
      eight.firstToken = k.add(head.firstToken, row);
      eight.position = k.add(head.position, row);
      Value rows = k.min(k.subtract(item.rows, row), k.constant(8));
      Value isWhole = arith::AndIOp::create(
          b, k.isEqual(rows, k.constant(8)),
          k.isEqual(k.remainder(eight.position, 8), k.constant(0)));
      k.when(
          isWhole, [&] { writeEightKeys(eight); },
          [&] { k.loop(rows, [&](Value row) { writeKeys(eight, row); }); });
    });
  });
}

Value VectorCacheWrite::keyGroup(const WrittenHead &head, Value position) {
  Value keys = cache.keys(k, block(head, position), head.number);
  Value slot = k.remainder(position, cache.blockTokens);
  Value group = k.divide(slot, cache.kGroup);
  return buildAddress(b, keys, group, cache.groupBytes);
}

Value VectorCacheWrite::keyColumn(const WrittenHead &head, Value position,
                                  Value d) {
  Value lane = k.remainder(position, cache.kGroup);
  Value address = keyGroup(head, position);
  address = buildAddress(b, address, lane, cache.elementBytes);
  return buildAddress(b, address, d, cache.lineBytes);
}

/// The greatest of integers is the same in any order.
Value VectorCacheWrite::findGreatest(Value rows, Value token, Value column) {
  if (!cache.isQuantized()) {
    return Value();
  }
  Value greatest = buildLeastGreatest(b);
  Value whole = vector::BroadcastOp::create(
      b, VectorType::get(lanes, b.getI32Type()), greatest);
  bool isWide = cache.headDim >= lanes;
  for (const ColumnPiece &piece : cutColumns(cache.headDim, lanes)) {
    Value part = load(rows, token, k.add(column, piece.offset), piece.width);
    if (piece.width == lanes) {
      whole = buildGreater(b, whole, part);
      continue;
    }
    Value least = vector::BroadcastOp::create(
        b, VectorType::get(piece.width, b.getI32Type()), buildLeastGreatest(b));
    greatest =
        vector::ReductionOp::create(b, vector::CombiningKind::MAXSI,
                                    buildGreater(b, least, part), greatest);
  }
  return isWide ? vector::ReductionOp::create(b, vector::CombiningKind::MAXSI,
                                              whole, greatest)
                : greatest;
}

void VectorCacheWrite::storeKeyScale(const WrittenHead &head, Value position,
                                     Value greatest) {
  if (!greatest) {
    return;
  }
  Value scales = cache.keyScales(k, keyGroup(head, position));
  Value lane = k.remainder(position, cache.kGroup);
  storeVector(k, buildScale(b, greatest),
              buildAddress(b, scales, lane, cache.scaleBytes));
}

void VectorCacheWrite::store(Value elements, Value greatest, Value address) {
  if (greatest) {
    auto type = dyn_cast<VectorType>(elements.getType());
    if (type && !isa<VectorType>(greatest.getType())) {
      greatest =
          vector::BroadcastOp::create(b, type.clone(b.getI32Type()), greatest);
    }
    elements = buildInteger(b, elements, greatest, /*excess=*/0);
  }
  cache.store(k, elements, address);
}

void VectorCacheWrite::writeEightKeys(const WrittenHead &head) {
  int64_t whole = cache.headDim / 8 * 8;
  Values greatest(8);
  Value all;
  if (cache.isQuantized()) {
    for (int64_t row = 0; row < 8; ++row) {
      greatest[row] =
          findGreatest(op.getKey(), k.add(head.firstToken, row), head.column);
    }
    all = vector::FromElementsOp::create(b, VectorType::get(8, b.getI32Type()),
                                         greatest);
    storeKeyScale(head, head.position, all);
  }
  k.loop(k.constant(0), k.constant(whole), 8, [&](Value d) {
    Values rows;
    for (int64_t row = 0; row < 8; ++row) {
      rows.push_back(load(op.getKey(), k.add(head.firstToken, row),
                          k.add(head.column, d), 8));
    }
    Value address = keyColumn(head, head.position, d);
    for (auto [u, column] : llvm::enumerate(transpose(b, rows))) {
      store(column, all, buildAddress(b, address, u * cache.lineBytes));
    }
  });
  k.loop(k.constant(whole), k.constant(cache.headDim), 1, [&](Value d) {
    Value address = keyColumn(head, head.position, d);
    for (int64_t row = 0; row < 8; ++row) {
      Value key = memref::LoadOp::create(
          b, op.getKey(),
          ValueRange{k.add(head.firstToken, row), k.add(head.column, d)});
      store(key, greatest[row],
            buildAddress(b, address, row * cache.elementBytes));
    }
  });
}

void VectorCacheWrite::writeKeys(const WrittenHead &head, Value row) {
  Value token = k.add(head.firstToken, row);
  Value position = k.add(head.position, row);
  Value greatest = findGreatest(op.getKey(), token, head.column);
  storeKeyScale(head, position, greatest);
  k.loop(k.constant(cache.headDim), [&](Value d) {
    Value key = memref::LoadOp::create(
        b, op.getKey(), ValueRange{token, k.add(head.column, d)});
    store(key, greatest, keyColumn(head, position, d));
  });
}

void VectorCacheWrite::writeValues(const WrittenHead &head, Value row) {
  Value token = k.add(head.firstToken, row);
  Value position = k.add(head.position, row);
  Value values = cache.values(k, block(head, position), head.number);
  Value slot = k.remainder(position, cache.blockTokens);
  Value address = buildAddress(b, values, slot, cache.valueBytes);
  Value greatest = findGreatest(op.getValue(), token, head.column);
  if (greatest) {
    storeVector(
        k, buildScale(b, greatest),
        buildAddress(b, cache.valueScales(k, values), slot, cache.scaleBytes));
  }
  for (const ColumnPiece &piece : cutColumns(cache.headDim, lanes)) {
    Value value = load(op.getValue(), token, k.add(head.column, piece.offset),
                       piece.width);
    store(value, greatest,
          buildAddress(b, address, piece.offset * cache.elementBytes));
  }
}

void tfc::expandCacheWrite(transformer::CacheWriteOp op,
                           const VectorCache &cache, Value step, int64_t lanes,
                           RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  VectorCacheWrite(op, cache, step, lanes, rewriter).emit();
  rewriter.eraseOp(op);
}
