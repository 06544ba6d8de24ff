// Paged attention of f32, in tiles: fused multiply-adds of what lies in shared
// memory, a block for many queries of a head.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/FloatAttention.h"

#include "compiler/gpu/attention/FloatOrder.h"
#include "compiler/gpu/attention/FloatTiles.h"
#include "compiler/gpu/attention/StepItems.h"
#include "compiler/gpu/attention/WarpAttention.h"
#include "compiler/gpu/rows/RowAlignment.h"
#include "compiler/gpu/rows/RowVector.h"
#include "compiler/gpu/thread/AsyncCopies.h"
#include "compiler/gpu/thread/SharedMemory.h"
#include "compiler/kernel/AttentionScore.h"
#include "compiler/support/DeviceKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

static_assert(kFloatChunk == FloatTiles::kPositions);
static_assert(kTotalParts == FloatTiles::kLanesAcross);

/// Blocks that a multiprocessor is to have registers for.
static constexpr int32_t kBlocksAtOnce = 2;
/// The widest heads of which a thread has eight queries, and of which four.
static constexpr int64_t kColumnsOfEight = 64;
static constexpr int64_t kMostColumns = 128;

namespace {

class FloatAttention {
public:
  FloatAttention(transformer::PagedAttentionOp op, const DeviceCache &cache,
                 KernelBuilder &k)
      : op(op), k(k), b(k.builder()), t(b), scores(k, op), cache(cache),
        warp(k), tiles(cache.headDim, cache.queryRows) {}

  void emit();

private:
  /// Of each row the highest score and the thread's part of the total, and its
  /// columns' sums.
  struct State {
    Values highest, part, sums;
    Values pack() const;
  };
  State unpack(ValueRange values);
  State beginState(Value head);

  void emitItem(const WorkItem &item, Value head);
  ScoreRow rowOf(const WorkItem &item, Value head, int32_t row, Value first);
  void storeQueries(const WorkItem &item, Value head);
  void askFor(const WorkItem &item, Value first, bool areKeys);
  void waitForTile();
  State addTile(const WorkItem &item, Value head, Value first, State state);
  /// What products become: weights, with which the state is.
  void weigh(State &state, MutableArrayRef<Value> products, int32_t row,
             const ScoreRow &own);
  void storeRows(const WorkItem &item, Value head, const State &state);

  Value word(Value index) {
    return arith::IndexCastOp::create(b, b.getI32Type(), index);
  }
  Value index(Value word) {
    return arith::IndexCastOp::create(b, b.getIndexType(), word);
  }
  Value lowest() { return k.number(std::numeric_limits<float>::lowest()); }
  Value exp(Value x, Value highest) {
    return math::ExpOp::create(b, arith::SubFOp::create(b, x, highest));
  }
  Value larger(Value x, Value y) { return LLVM::MaximumOp::create(b, x, y); }

  transformer::PagedAttentionOp op;
  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  ThreadBuilder t;
  AttentionScore scores;
  const DeviceCache &cache;
  WarpBuilder warp;
  FloatTiles tiles;

  Value thread, kvHead;
  Value begin, end; // of what the block's queries see
};

} // namespace

Values FloatAttention::State::pack() const {
  Values values(highest);
  values.append(part);
  values.append(sums);
  return values;
}

FloatAttention::State FloatAttention::unpack(ValueRange values) {
  auto rows = size_t(tiles.rows());
  return {Values(values.take_front(rows)), Values(values.slice(rows, rows)),
          Values(values.drop_front(2 * rows))};
}

FloatAttention::State FloatAttention::beginState(Value head) {
  auto rows = size_t(tiles.rows());
  State state;
  state.highest.assign(rows, lowest());
  state.part.assign(rows, k.number(0));
  state.sums.assign(rows * tiles.columns(), k.number(0));
  // Those of tokens are beside terms of distances, which are not for tiles.
  if (Value sink = scores.sink(/*token=*/Value(), head)) {
    Value isFirst = t.isLess(tiles.position(), t.number(1));
    state.highest.assign(rows, sink);
    state.part.assign(rows, t.select(isFirst, k.number(1), k.number(0)));
  }
  return state;
}

void FloatAttention::emit() {
  int64_t heads = op.getNumHeads();
  int64_t group = heads / op.getCache().getType().getKvHeads();
  Values axes = {k.constant(heads), k.constant(kAttentionThreads)};
  k.forEachPlace(cache, axes, [&](const WorkItem &item, ValueRange places) {
    Operation *loop = b.getInsertionBlock()->getParentOp();
    loop->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  b.getI32IntegerAttr(kBlocksAtOnce));
    loop->setAttr(kBeginsAloneAttrName, b.getUnitAttr());
    tiles.begin(t, allocateShared(b, tiles.bytes(), 128));
    thread = places.back();
    kvHead = k.divide(places.front(), group);
    std::tie(begin, end) = scores.seenBy(item);
    k.when(k.isLess(k.constant(kFewFloatQueries), item.rows),
           [&] { emitItem(item, places.front()); });
  });
}

void FloatAttention::emitItem(const WorkItem &item, Value head) {
  storeQueries(item, head);
  Value first = k.scale(k.divide(begin, kFloatChunk), kFloatChunk);
  askFor(item, first, /*areKeys=*/true);
  State state =
      unpack(k.loop(first, end, kFloatChunk, beginState(head).pack(),
                    [&](Value first, ValueRange state) {
                      return addTile(item, head, first, unpack(state)).pack();
                    }));
  storeRows(item, head, state);
}

/// Counted from the position `first` and the thread's first query on, the rows
/// are constants from each other: nothing of them is kept in registers from
/// tile to tile. Queries beyond the item's are not written, and may see
/// anything.
ScoreRow FloatAttention::rowOf(const WorkItem &item, Value head, int32_t row,
                               Value first) {
  WorkItem moved = item;
  Value own = k.add(item.firstRow, index(tiles.query(0)));
  moved.past = k.subtract(k.add(item.past, own), first);
  moved.keys = k.subtract(item.keys, first);
  moved.firstRow = k.constant(0);
  Value distance = k.constant(row * FloatTiles::kLanesDown);
  ScoreRow score;
  score.head = head;
  score.position = k.position(moved, distance);
  score.end = scores.end(moved, distance);
  if (scores.hasFirst()) {
    score.first = scores.first(moved, distance);
  }
  score.scale = scores.scale(item, index(tiles.query(row)));
  return score;
}

void FloatAttention::storeQueries(const WorkItem &item, Value head) {
  int64_t chunks = cache.headDim / 4;
  Value last = k.subtract(item.rows, k.constant(1));
  Value firstToken = k.add(item.firstToken, item.firstRow);
  Value firstColumn = k.scale(head, cache.headDim);
  k.loop(thread, k.constant(cache.queryRows * chunks), kAttentionThreads,
         [&](Value number) {
           Value row = k.divide(number, chunks);
           Value column = k.scale(k.remainder(number, chunks), 4);
           Value token = k.add(firstToken, k.min(row, last));
           Value four = loadRowVector(k, op.getQuery(), token,
                                      k.add(firstColumn, column), 4);
           t.store(four, tiles.placeOfQuery(word(row), word(column)), 16);
         });
}

/// The tile at `first`, if there is one: what no query sees is zero.
void FloatAttention::askFor(const WorkItem &item, Value first, bool areKeys) {
  k.when(k.isLess(first, end), [&] {
    Value address = k.blockAddress(
        cache, item, k.divide(first, cache.blockTokens), op.getLayer());
    copyPositions(k, cache, thread,
                  areKeys ? tiles.keyRows() : tiles.valueRows(),
                  areKeys ? cache.keys(k, address, kvHead)
                          : cache.values(k, address, kvHead),
                  k.subtract(begin, first), k.subtract(end, first));
    commitCopies(b);
  });
}

/// What all threads have asked for is there, and what they read before is free.
void FloatAttention::waitForTile() {
  waitForCopies(b, 0);
  t.barrier();
}

/// Values come while scores are computed, the next keys while values are added;
/// where both have one place, other blocks compute meanwhile.
FloatAttention::State FloatAttention::addTile(const WorkItem &item, Value head,
                                              Value first, State state) {
  Value next = k.add(first, kFloatChunk);
  waitForTile();
  if (tiles.areApart()) {
    askFor(item, first, /*areKeys=*/false);
  }
  Values products = tiles.multiplyKeys();
  if (!tiles.areApart()) {
    t.barrier();
    askFor(item, first, /*areKeys=*/false);
  }
  MutableArrayRef<Value> all(products);
  for (int32_t row = 0; row < tiles.rows(); ++row) {
    weigh(state,
          all.slice(row * FloatTiles::kOwnPositions, FloatTiles::kOwnPositions),
          row, rowOf(item, head, row, first));
  }
  waitForTile();
  if (tiles.areApart()) {
    askFor(item, next, /*areKeys=*/true);
  }
  state.sums = tiles.addValues(products, state.sums);
  if (!tiles.areApart()) {
    t.barrier();
    askFor(item, next, /*areKeys=*/true);
  }
  return state;
}

void FloatAttention::weigh(State &state, MutableArrayRef<Value> products,
                           int32_t row, const ScoreRow &own) {
  Value first = index(tiles.position());
  // From the thread's first position on, the others being constants from there.
  Value behind = word(k.subtract(own.end, first));
  Value before = own.first ? word(k.subtract(own.first, first)) : Value();
  Values areSeen;
  Value highest = state.highest[row];
  for (auto [j, product] : llvm::enumerate(products)) {
    int32_t distance = int32_t(j) * FloatTiles::kLanesAcross;
    Value isSeen = t.isLess(t.number(distance), behind);
    if (before) {
      isSeen = t.both(isSeen, t.isLess(before, t.number(distance + 1)));
    }
    areSeen.push_back(isSeen);
    Value score = scores.score(product, own, k.add(first, distance));
    product = t.select(isSeen, score, lowest());
    highest = larger(highest, product);
  }
  highest = warp.combine(highest, FloatTiles::kLanesAcross,
                         [&](Value x, Value y) { return larger(x, y); });
  Value decay = exp(state.highest[row], highest);
  for (auto [product, isSeen] : llvm::zip_equal(products, areSeen)) {
    product = t.select(isSeen, exp(product, highest), k.number(0));
  }
  // Positions 32 apart, then 16, then 8.
  Values weights(products);
  while (weights.size() > 1) {
    size_t half = weights.size() / 2;
    for (size_t j = 0; j < half; ++j) {
      weights[j] = t.addFloats(weights[j], weights[j + half]);
    }
    weights.truncate(half);
  }
  state.highest[row] = highest;
  state.part[row] =
      LLVM::FMAOp::create(b, state.part[row], decay, weights.front());
  for (int32_t d = 0; d < tiles.columns(); ++d) {
    Value &sum = state.sums[row * tiles.columns() + d];
    sum = arith::MulFOp::create(b, sum, decay);
  }
}

void FloatAttention::storeRows(const WorkItem &item, Value head,
                               const State &state) {
  auto type = VectorType::get(4, b.getF32Type());
  Value firstColumn = k.scale(head, cache.headDim);
  ArrayRef<Value> sums = state.sums;
  Value firstToken = k.add(item.firstToken, item.firstRow);
  for (int32_t row = 0; row < tiles.rows(); ++row) {
    Value query = index(tiles.query(row));
    Value share = buildShare(b, addTotalParts(warp, b, state.part[row]));
    for (int32_t chunk = 0; chunk * 4 < tiles.columns(); ++chunk) {
      Value isOwn = k.isLess(query, item.rows);
      if (tiles.isRagged()) {
        isOwn = t.both(isOwn, tiles.isColumn(chunk));
      }
      k.when(isOwn, [&] {
        Values means;
        for (Value sum : sums.slice(row * tiles.columns() + chunk * 4, 4)) {
          means.push_back(buildMean(b, sum, share));
        }
        vector::StoreOp::create(
            b, vector::FromElementsOp::create(b, type, means), op.getInit(),
            ValueRange{k.add(firstToken, query),
                       k.add(firstColumn, index(tiles.column(chunk)))},
            /*nontemporal=*/false,
            llvm::MaybeAlign(alignmentOfRow(op.getInit(), 4)));
      });
    }
  }
}

int64_t tfc::floatQueryRows(transformer::CacheType type) {
  return type.getHeadDim() <= kColumnsOfEight ? 128 : 64;
}

bool tfc::suitsFloatTiles(transformer::PagedAttentionOp op) {
  transformer::CacheType type = op.getCache().getType();
  auto isFloat = [](Value rows) {
    return cast<MemRefType>(rows.getType()).getElementType().isF32();
  };
  return type.getElementType().isF32() && isFloat(op.getQuery()) &&
         isFloat(op.getInit()) && type.getHeadDim() % 4 == 0 &&
         type.getHeadDim() <= kMostColumns && AttentionScore::isOfProduct(op);
}

void tfc::expandFloatAttention(transformer::PagedAttentionOp op,
                               const DeviceCache &cache, Value step,
                               RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  KernelBuilder k(op.getLoc(), rewriter, step);
  StepItems items(k, step, cache.queryRows);
  k.when(items.mayHaveFew(kFewFloatQueries), [&] {
    emitWarpAttention(op, cache, step, kFewFloatQueries, k.builder());
  });
  k.when(items.mayHaveMany(kFewFloatQueries),
         [&] { FloatAttention(op, cache, k).emit(); });
  rewriter.eraseOp(op);
}
