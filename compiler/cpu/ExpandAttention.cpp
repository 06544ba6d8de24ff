// Paged attention in vectors: tiles of up to 8 queries of a head, keys and
// values from the cache's blocks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/ExpandAttention.h"

#include "compiler/cpu/AmxFactors.h"
#include "compiler/cpu/AttentionSoftmax.h"
#include "compiler/cpu/AttentionTiles.h"
#include "compiler/cpu/RelativeTiles.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace tfc;

namespace {

/// Emits the kernel. An item's queries go through the positions in stretches,
/// and keep for what they have seen so far: the maximum of the scores, the
/// total of exp(score - maximum) and the sum of values weighted by that. A new
/// maximum makes the old total and sum decay by exp(old - new).
class VectorAttention {
public:
  VectorAttention(transformer::PagedAttentionOp op, const VectorCache &cache,
                  Value step, Value workers, const Registers &registers,
                  OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()), cache(cache),
        score(k, op),
        scratch({cache.queryRows, cache.headDim, score.tableSize(),
                 RelativeTiles::sizeOf(op, cache.headDim, cache.queryRows),
                 cache.isQuantized() && score.valueTable(),
                 AttentionScore::hasFactors(op)}),
        tiles(k, cache, scratch, score, op, registers),
        relative(k, cache, scratch, score, tiles, registers.lanes),
        products(k, cache, scratch, tiles, op),
        softmax(k, scratch, tiles, score, registers.lanes,
                AttentionScore::hasFactors(op) ? &products : nullptr),
        step(step), workers(workers), lanes(registers.lanes),
        group(op.getNumHeads() / cache.kvHeads),
        hasFactors(AttentionScore::hasFactors(op)) {
    auto type =
        MemRefType::get({ShapedType::kDynamic, scratch.size}, b.getF32Type());
    scratch.memory = memref::AllocOp::create(b, type, workers);
  }

  void emit();

private:
  /// i1: whether heads that share keys and values are rows of one tile, which
  /// reads those once: all items have one query, and there is such a tile for
  /// every worker. A row has the same bits in any tile. Null: they never are.
  Value sharesKeys();
  /// Whether a head is the first row of a tile.
  Value isFirst(Value head);
  /// The head of an item, or those that it takes along.
  AttentionHead takeHead(const ItemPart &own, const ItemPart &next);
  void emitHead(const AttentionHead &head);
  void emitStretch(const AttentionHead &head, Value begin, Value end);
  void emitSoftmax(const AttentionHead &head, const Stretch &stretch);
  /// Spare rows of a tile repeat the last query.
  void loadQuery(const AttentionHead &head, Value row);
  void storeResult(const AttentionHead &head, Value row);
  /// body(1 | 2 | 4 | 8), whichever the number of rows is.
  void switchRows(Value rows, function_ref<void(int64_t)> body);
  Value tokenOf(const AttentionHead &head, Value row) {
    Value query = head.queryOf(k, row);
    return k.add(head.item.firstToken, k.add(head.item.firstRow, query));
  }
  /// A row's first column, that of the first row being at `first`.
  Value columnOf(const AttentionHead &head, Value first, Value row) {
    return k.add(first, k.scale(head.headOf(k, row), cache.headDim));
  }

  transformer::PagedAttentionOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  VectorCache cache;
  AttentionScore score;
  AttentionScratch scratch;
  AttentionTiles tiles;
  RelativeTiles relative;
  AmxAttention products; // where the op has factors
  AttentionSoftmax softmax;
  Value step, workers;
  int64_t lanes;
  int64_t group; // heads that share a head of keys and values
  bool hasFactors;
  Value isShared; // see sharesKeys
  Value number;   // of the head
  Value column;   // its first, in query and result
  WorkItem nextItem;
  Value nextColumn; // of its head, in query
  Value tileRows;   // the head's rows, rounded up to a tile
};

} // namespace

Value VectorAttention::sharesKeys() {
  // Beside sinks, what is more in a score may be a head's own.
  if (group == 1 || score.isAdjusted() || AttentionScore::isRelative(op)) {
    return Value();
  }
  Value items = loadIndex(b, step, offsetof(tfc_step_v0, n_items), 64);
  Value areSingle = k.isEqual(k.mostRows(cache), k.constant(1));
  int64_t tilesOfItem =
      cache.kvHeads * llvm::divideCeil(group, cache.queryRows);
  Value isEnough = k.isAtMost(workers, k.scale(items, tilesOfItem));
  return arith::AndIOp::create(b, areSingle, isEnough);
}

Value VectorAttention::isFirst(Value head) {
  Value place = k.remainder(k.remainder(head, group), cache.queryRows);
  Value isAlone = k.isEqual(place, k.constant(0));
  Value none = arith::ConstantIntOp::create(b, 1, 1);
  return arith::SelectOp::create(b, isShared, isAlone, none);
}

AttentionHead VectorAttention::takeHead(const ItemPart &own,
                                        const ItemPart &next) {
  AttentionHead head;
  head.item = own.item;
  head.kvHead = k.divide(number, group);
  head.rows = own.item.rows;
  nextItem = next.item;
  Value following = next.part;
  if (isShared) {
    head.areHeads = isShared;
    Value left = k.subtract(k.constant(group), k.remainder(number, group));
    Value taken = k.min(left, k.constant(cache.queryRows));
    head.rows = arith::SelectOp::create(b, isShared, taken, head.rows);
    Value behind =
        k.min(k.add(number, taken),
              k.constant(static_cast<int64_t>(op.getNumHeads()) - 1));
    behind = arith::SelectOp::create(b, k.isEqual(number, next.part), number,
                                     behind);
    following = arith::SelectOp::create(b, isShared, behind, following);
  }
  nextColumn = k.scale(following, cache.headDim);
  return head;
}

void VectorAttention::emit() {
  isShared = sharesKeys();
  int64_t heads = op.getNumHeads();
  k.forEachItem(cache, heads, [&](const ItemPart &own, const ItemPart &next) {
    number = own.part;
    scratch.worker = transformer::WorkerOp::create(b, b.getIndexType());
    if (!isShared) {
      emitHead(takeHead(own, next));
      return;
    }
    k.when(isFirst(number), [&] { emitHead(takeHead(own, next)); });
  });
}

void VectorAttention::emitHead(const AttentionHead &head) {
  const WorkItem &item = head.item;
  column = k.scale(number, cache.headDim);
  tileRows = k.constant(cache.queryRows);
  for (int64_t rows = cache.queryRows / 2; rows > 0; rows /= 2) {
    Value isMore = k.isLess(k.constant(rows), head.rows);
    tileRows = arith::SelectOp::create(b, isMore, tileRows, k.constant(rows));
  }
  if (hasFactors) {
    products.begin();
    tileRows = head.rows;
  }
  k.loop(tileRows, [&](Value row) { loadQuery(head, row); });
  score.beginHead(number, {scratch.memory, scratch.worker, scratch.table},
                  lanes);
  relative.beginHead(head, column);
  Value last = k.subtract(item.rows, k.constant(1));
  Value begin = k.constant(0), end = score.end(item, last);
  if (score.hasFirst()) {
    Value first = score.first(item, k.constant(0));
    begin = k.scale(k.divide(first, scratch.kStretch), scratch.kStretch);
  }
  k.loop(begin, end, scratch.kStretch, [&](Value begin) {
    Value isSeen = score.seesStretch(item, begin, scratch.kStretch);
    if (!isSeen) {
      emitStretch(head, begin, end);
      return;
    }
    k.when(isSeen, [&] { emitStretch(head, begin, end); });
  });
  if (hasFactors) {
    products.end();
  }
  k.loop(head.rows, [&](Value row) { storeResult(head, row); });
}

void VectorAttention::emitStretch(const AttentionHead &head, Value begin,
                                  Value end) {
  Stretch stretch;
  stretch.begin = begin;
  stretch.count = k.min(k.subtract(end, begin), k.constant(scratch.kStretch));
  stretch.firstBlock = k.divide(begin, cache.blockTokens);
  Value first = score.end(head.item, k.constant(0));
  auto inside = [&](Value position) {
    return k.max(k.min(k.subtract(position, begin), stretch.count),
                 k.constant(0));
  };
  stretch.common = inside(first);
  stretch.first = stretch.commonBegin = k.constant(0);
  if (score.hasFirst()) {
    auto firstOf = [&](Value row) {
      return inside(score.first(head.item, row));
    };
    stretch.first = firstOf(k.constant(0));
    stretch.commonBegin = firstOf(k.subtract(head.item.rows, k.constant(1)));
    stretch.common = k.max(stretch.common, stretch.commonBegin);
  }
  if (hasFactors) {
    products.emitScores(head, stretch);
    emitSoftmax(head, stretch);
    products.emitSums(head, stretch, [&](Value row) {
      return softmax.rangeOf(head, stretch, row);
    });
    return;
  }
  switchRows(tileRows,
             [&](int64_t rows) { tiles.emitScores(head, stretch, rows); });
  relative.addTerms(head, stretch, column);
  emitSoftmax(head, stretch);
  tiles.scaleWeights(head, stretch, head.rows);
  if (score.hasFirst()) {
    k.loop(head.rows,
           [&](Value row) { tiles.emitFirstSums(head, stretch, row); });
  }
  switchRows(tileRows,
             [&](int64_t rows) { tiles.emitSums(head, stretch, rows); });
  // To the right, all of a bidirectional item's queries see the same, and the
  // first one sees nothing behind what all see.
  if (score.hasOwnEnds()) {
    k.loop(k.constant(1), head.item.rows, 1,
           [&](Value row) { tiles.emitLastSums(head, stretch, row); });
  }
  if (score.valueTable()) {
    k.loop(head.item.rows,
           [&](Value row) { relative.addValues(head, stretch, row, column); });
  }
}

void VectorAttention::emitSoftmax(const AttentionHead &head,
                                  const Stretch &stretch) {
  k.loop(head.rows, [&](Value row) {
    k.prefetchRow(op.getQuery(), nextItem, head.queryOf(k, row),
                  columnOf(head, nextColumn, row), cache.headDim);
    softmax.emitMaximum(head, stretch, row);
  });
  k.loop(head.rows, [&](Value row) {
    k.prefetchRow(op.getInit(), head.item, head.queryOf(k, row),
                  columnOf(head, column, row), cache.headDim);
    softmax.emitWeights(head, stretch, row);
  });
}

void VectorAttention::loadQuery(const AttentionHead &head, Value row) {
  Value last = k.subtract(head.rows, k.constant(1));
  Value own = k.min(row, last);
  Value token = tokenOf(head, own);
  Value first = columnOf(head, column, own);
  Value place = k.scale(row, scratch.rowStride);
  Value factor;
  if (!hasFactors) {
    factor = score.scale(head.item, head.queryOf(k, own));
  }
  for (const ColumnPiece &piece : cutColumns(cache.headDim, lanes)) {
    VectorType type = f32Vector(k, piece.width);
    Value query = vector::LoadOp::create(
        b, type, op.getQuery(), ValueRange{token, k.add(first, piece.offset)});
    if (Value bias = score.queryBias()) {
      Value added =
          vector::LoadOp::create(b, type, bias, k.add(first, piece.offset));
      query = arith::AddFOp::create(b, query, added);
    }
    if (hasFactors) {
      products.storeQuery(query, row, piece.offset);
    } else {
      Value scale = vector::BroadcastOp::create(b, type, factor);
      tiles.storeScratch(arith::MulFOp::create(b, query, scale),
                         k.add(place, scratch.queries + piece.offset));
    }
    Value zero = vector::BroadcastOp::create(b, type, k.number(0));
    tiles.storeScratch(zero, k.add(place, scratch.sums + piece.offset));
  }
  if (hasFactors) {
    products.padQuery(row);
  }
  // Finite, so that the first difference is no NaN. A sink has been seen before
  // any position, with the weight 1.
  Value sink = score.sink(token, k.add(number, head.headOf(k, own)));
  Value highest = sink ? sink : k.number(std::numeric_limits<float>::lowest());
  tiles.storeScratch(highest, k.add(row, scratch.maxima));
  tiles.storeScratch(k.number(sink ? 1 : 0), k.add(row, scratch.totals));
}

void VectorAttention::storeResult(const AttentionHead &head, Value row) {
  Value total = tiles.loadScratch(k.add(row, scratch.totals));
  Value inverse = arith::DivFOp::create(b, k.number(1), total);
  Value token = tokenOf(head, row);
  Value first = columnOf(head, column, row);
  Value place = k.add(k.scale(row, scratch.rowStride), scratch.sums);
  for (const ColumnPiece &piece : cutColumns(cache.headDim, lanes)) {
    Value sum = tiles.loadScratch(k.add(place, piece.offset), piece.width);
    if (hasFactors) {
      sum = flushSums(b, sum);
    }
    Value factor =
        vector::BroadcastOp::create(b, f32Vector(k, piece.width), inverse);
    Value mean = arith::MulFOp::create(b, sum, factor);
    vector::StoreOp::create(b, mean, op.getInit(),
                            ValueRange{token, k.add(first, piece.offset)});
  }
}

void VectorAttention::switchRows(Value rows, function_ref<void(int64_t)> body) {
  SmallVector<int64_t> cases;
  for (int64_t count = 1; count < cache.queryRows; count *= 2) {
    cases.push_back(count);
  }
  auto op =
      scf::IndexSwitchOp::create(b, TypeRange(), rows, cases, cases.size());
  auto fill = [&](Region &region, int64_t count) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&region);
    body(count);
    scf::YieldOp::create(b);
  };
  for (auto [region, count] : llvm::zip(op.getCaseRegions(), cases)) {
    fill(region, count);
  }
  fill(op.getDefaultRegion(), cache.queryRows);
}

void tfc::expandAttention(transformer::PagedAttentionOp op,
                          const VectorCache &cache, Value step, Value workers,
                          const Registers &registers, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  VectorAttention(op, cache, step, workers, registers, rewriter).emit();
  rewriter.eraseOp(op);
}
