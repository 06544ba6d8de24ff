// Paged attention of any width and element: a warp does one query of one head.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/WarpAttention.h"

#include "compiler/gpu/attention/FloatOrder.h"
#include "compiler/gpu/attention/StepItems.h"
#include "compiler/gpu/rows/RowVector.h"
#include "compiler/kernel/AttentionScore.h"
#include "compiler/kernel/StepFields.h"
#include "compiler/support/DeviceKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

/// Positions of a chunk that a lane has, where tiles do other items.
static constexpr int64_t kLanePositions = kFloatChunk / WarpBuilder::kLanes;
/// Columns of a head that a lane sums up, at most.
static constexpr int64_t kMaxColumns = 32;
/// Elements of a key, and positions of values, that a lane asks for before it
/// waits.
static constexpr int64_t kKeyElements = 16;
static constexpr int64_t kValuePositions = 4;

namespace {

/// A query of a head, the same in all lanes.
struct WarpQuery : ScoreRow {
  Value token, kvHead;
};

class WarpAttention {
public:
  /// Items of at most `few` queries, or all, of one query, with 0.
  WarpAttention(transformer::PagedAttentionOp op, const DeviceCache &cache,
                Value step, int64_t few, OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()), scores(k, op),
        cache(cache), step(step), warp(k), few(few),
        numPositions(few == 0 ? 1 : kLanePositions),
        numColumns(llvm::divideCeil(cache.headDim, WarpBuilder::kLanes)) {}

  void emit();

private:
  Value mostRows();
  void emitQuery(const WorkItem &item, const WarpQuery &query);
  /// maximum, total and sums of before, and those with the chunk at `begin`.
  Values addChunk(const WorkItem &item, const WarpQuery &query, Value begin,
                  ValueRange state);
  /// The score of position `own`, and whether the query sees it.
  std::pair<Value, Value> scoreOf(const WarpQuery &query, Value block,
                                  Value own);
  /// The lane's score: that of `position`.
  Value score(const WarpQuery &query, Value block, Value position);
  Value dot(const WarpQuery &query, Value key);
  /// Columns of the query as products with keys have them.
  Value loadQuery(const WarpQuery &query, Value column, int64_t count);
  /// The value's number in `column` of the head, at `address`, and what its
  /// distance adds to it; `scale` of a cache of integers, where a distance
  /// does.
  Value loadValue(const WarpQuery &query, Value position, Value address,
                  Value column, Value scale);
  /// sums + the weights of the lanes, of 32 positions, times the values.
  Values addValues(const WarpQuery &query, Value block, Value begin,
                   Value weight, Values sums);
  /// Of `query` in its rows: a head's column number `d`.
  Value columnOf(const WarpQuery &query, Value d) {
    return k.add(k.scale(query.head, cache.headDim), d);
  }
  Value exp(Value x, Value highest) {
    return math::ExpOp::create(b, arith::SubFOp::create(b, x, highest));
  }

  transformer::PagedAttentionOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  AttentionScore scores;
  const DeviceCache &cache;
  Value step;
  WarpBuilder warp;
  int64_t few;
  int64_t numPositions; // of a lane, in a chunk
  int64_t numColumns;   // of a lane
};

} // namespace

void WarpAttention::emit() {
  int64_t heads = op.getNumHeads();
  int64_t group = heads / op.getCache().getType().getKvHeads();
  KernelBuilder::Values axes = {mostRows(), k.constant(heads),
                                k.constant(WarpBuilder::kLanes)};
  k.forEachPlace(cache, axes, [&](const WorkItem &item, ValueRange places) {
    b.getInsertionBlock()->getParentOp()->setAttr(kBeginsAloneAttrName,
                                                  b.getUnitAttr());
    Value row = places[0];
    warp.lane = places[2];
    // The same for all lanes: none is missed in an exchange.
    Value isOwn = k.isLess(row, item.rows);
    if (few != 0) {
      isOwn = arith::AndIOp::create(b, isOwn,
                                    k.isAtMost(item.rows, k.constant(few)));
    }
    auto branch = scf::IfOp::create(b, isOwn);
    b.setInsertionPointToStart(branch.thenBlock());
    WarpQuery query;
    query.token = k.add(item.firstToken, k.add(item.firstRow, row));
    query.kvHead = k.divide(places[1], group);
    static_cast<ScoreRow &>(query) = scores.rowOf(item, row, places[1]);
    scores.beginRows(item, row, query);
    if (query.first) {
      query.first = k.min(query.first, query.end);
    }
    emitQuery(item, query);
  });
}

Value WarpAttention::mostRows() {
  if (few == 0) {
    return k.mostRows(cache);
  }
  return k.min(StepItems(k, step, cache.queryRows).mostRows(), k.constant(few));
}

void WarpAttention::emitQuery(const WorkItem &item, const WarpQuery &query) {
  // The maximum, a part of the total, which every eighth lane has, and the
  // sums of the lane's columns.
  Values state(2 + numColumns, k.number(0));
  state[0] = k.number(std::numeric_limits<float>::lowest());
  if (Value sink = scores.sink(query.token, query.head)) {
    Value isFirst =
        k.isEqual(k.remainder(warp.lane, kTotalParts), k.constant(0));
    state[0] = sink;
    state[1] = arith::SelectOp::create(b, isFirst, k.number(1), k.number(0));
  }
  int64_t chunk = numPositions * WarpBuilder::kLanes;
  Value begin = k.constant(0);
  if (query.first) {
    begin = k.scale(k.divide(query.first, chunk), chunk);
  }
  state = k.loop(begin, query.end, chunk, state,
                 [&](Value begin, ValueRange state) {
                   return addChunk(item, query, begin, state);
                 });
  Value share = buildShare(b, addTotalParts(warp, b, state[1]));
  for (int64_t i = 0; i < numColumns; ++i) {
    Value d = k.add(warp.lane, i * WarpBuilder::kLanes);
    Value mean = buildMean(b, state[2 + i], share);
    auto store = [&] {
      k.storeFloat(mean, op.getInit(),
                   ValueRange{query.token, columnOf(query, d)});
    };
    if ((i + 1) * WarpBuilder::kLanes <= cache.headDim) {
      store();
      continue;
    }
    auto branch = scf::IfOp::create(b, k.isLess(d, k.constant(cache.headDim)));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    store();
  }
}

Values WarpAttention::addChunk(const WorkItem &item, const WarpQuery &query,
                               Value begin, ValueRange state) {
  Value block = k.blockAddress(cache, item, k.divide(begin, cache.blockTokens),
                               op.getLayer());
  Value own = k.add(begin, warp.lane);
  Values weights, areSeen;
  Value highest;
  for (int64_t i = 0; i < numPositions; ++i) {
    auto [score, isSeen] =
        scoreOf(query, block, k.add(own, i * WarpBuilder::kLanes));
    weights.push_back(score);
    areSeen.push_back(isSeen);
    highest = i == 0 ? score : arith::MaximumFOp::create(b, highest, score);
  }
  highest = arith::MaximumFOp::create(b, state[0], warp.maximum(highest));
  Value decay = exp(state[0], highest);
  Value all;
  for (auto [weight, isSeen] : llvm::zip_equal(weights, areSeen)) {
    weight =
        arith::SelectOp::create(b, isSeen, exp(weight, highest), k.number(0));
    all = all ? arith::AddFOp::create(b, all, weight) : weight;
  }
  all = addChunkWeights(warp, b, all);
  Values sums;
  for (Value sum : state.drop_front(2)) {
    sums.push_back(arith::MulFOp::create(b, sum, decay));
  }
  for (auto [i, weight] : llvm::enumerate(weights)) {
    sums = addValues(query, block, k.add(begin, i * WarpBuilder::kLanes),
                     weight, sums);
  }
  Values next = {highest, math::FmaOp::create(b, state[1], decay, all)};
  next.append(sums);
  return next;
}

std::pair<Value, Value> WarpAttention::scoreOf(const WarpQuery &query,
                                               Value block, Value own) {
  Value isSeen = k.isLess(own, query.end);
  // What the query does not see may be anything: it is not read.
  Value position = k.min(own, k.subtract(query.end, k.constant(1)));
  if (query.first) {
    Value isHidden = k.isLess(own, query.first);
    isSeen = arith::SelectOp::create(
        b, isHidden, arith::ConstantOp::create(b, b.getBoolAttr(false)),
        isSeen);
    position = k.max(position, query.first);
  }
  Value lowest = k.number(std::numeric_limits<float>::lowest());
  return {
      arith::SelectOp::create(b, isSeen, score(query, block, position), lowest),
      isSeen};
}

Value WarpAttention::score(const WarpQuery &query, Value block,
                           Value position) {
  Value slot = k.remainder(position, cache.blockTokens);
  Value keys = cache.keys(k, block, query.kvHead);
  Value key = buildAddress(b, keys, slot, cache.positionBytes);
  Value scale = cache.isQuantized ? cache.loadScale(k, keys, slot) : Value();
  auto scaled = [&](Value x) -> Value {
    return scale ? arith::MulFOp::create(b, x, scale) : x;
  };
  Value product = scores.addRelative(
      scaled(dot(query, key)), query, position, cache.headDim,
      [&](Value d) {
        return scores.tableQuery(query.token, columnOf(query, d));
      },
      [&](Value d) {
        return scaled(cache.load(k, buildAddress(b, key, d, cache.elementBytes),
                                 b.getF32Type()));
      });
  return scores.score(product, query, position);
}

Value WarpAttention::loadQuery(const WarpQuery &query, Value column,
                               int64_t count) {
  Value q = loadRowVector(k, op.getQuery(), query.token, column, count);
  if (Value bias = scores.queryBias()) {
    Value own =
        vector::LoadOp::create(b, cast<VectorType>(q.getType()), bias, column);
    q = arith::AddFOp::create(b, q, own);
  }
  return q;
}

Value WarpAttention::dot(const WarpQuery &query, Value key) {
  int64_t width = cache.vectorWidth(), step = width;
  while (2 * step <= kKeyElements && cache.headDim % (2 * step) == 0) {
    step *= 2;
  }
  return k
      .loop(k.constant(0), k.constant(cache.headDim), step, k.number(0),
            [&](Value d, ValueRange carried) -> Values {
              Values keys;
              for (int64_t i = 0; i < step; i += width) {
                keys.push_back(cache.loadAligned(
                    k, buildAddress(b, key, k.add(d, i), cache.elementBytes),
                    width));
              }
              Value sum = carried.front();
              for (auto [i, vector] : llvm::enumerate(keys)) {
                Value q = loadQuery(query, columnOf(query, k.add(d, i * width)),
                                    width);
                for (int64_t e = 0; e < width; ++e) {
                  sum = math::FmaOp::create(
                      b, vector::ExtractOp::create(b, q, e),
                      vector::ExtractOp::create(b, vector, e), sum);
                }
              }
              return {sum};
            })
      .front();
}

Value WarpAttention::loadValue(const WarpQuery &query, Value position,
                               Value address, Value column, Value scale) {
  Value value = cache.load(
      k, buildAddress(b, address, column, cache.elementBytes), b.getF32Type());
  if (scale) {
    value = arith::MulFOp::create(b, value, scale);
  }
  if (Value table = scores.valueTable()) {
    Value row = scores.tableRow(k.subtract(position, query.position));
    Value first = scores.tableColumn(table, columnOf(query, k.constant(0)));
    Value own = k.loadFloat(table, ValueRange{row, k.add(first, column)});
    value = arith::AddFOp::create(b, value, own);
  }
  return value;
}

/// Positions beside those that the query sees have the weight zero, and the
/// value of the nearest that it sees.
Values WarpAttention::addValues(const WarpQuery &query, Value block,
                                Value begin, Value weight, Values sums) {
  Value lanes = k.constant(WarpBuilder::kLanes), from = k.constant(0);
  Value last = k.subtract(query.end, k.add(begin, 1));
  Value to = k.min(k.add(last, 1), lanes);
  if (query.first) {
    from = k.max(k.subtract(query.first, begin), from);
  }
  Value values = cache.values(k, block, query.kvHead);
  Value slot = k.remainder(begin, cache.blockTokens);
  // What distances add has no scale: elements have theirs there, else the
  // weights, each in its lane.
  bool scalesElements = cache.isQuantized && scores.valueTable();
  if (cache.isQuantized && !scalesElements) {
    Value seen = k.max(k.min(warp.lane, last), from);
    weight = arith::MulFOp::create(
        b, weight, cache.loadScale(k, values, k.add(slot, seen)));
  }
  Values columns;
  for (int64_t i = 0; i < numColumns; ++i) {
    Value d = k.add(warp.lane, i * WarpBuilder::kLanes);
    columns.push_back(k.min(d, k.constant(cache.headDim - 1)));
  }
  Value first = k.scale(k.divide(from, kValuePositions), kValuePositions);
  return k.loop(
      first, to, kValuePositions, sums, [&](Value j, ValueRange carried) {
        Values sums(carried), loaded;
        for (int64_t u = 0; u < kValuePositions; ++u) {
          Value seen = k.max(k.min(k.add(j, u), last), from);
          Value address =
              buildAddress(b, values, k.add(slot, seen), cache.positionBytes);
          Value scale;
          if (scalesElements) {
            scale = cache.loadScale(k, values, k.add(slot, seen));
          }
          for (Value column : columns) {
            loaded.push_back(
                loadValue(query, k.add(begin, seen), address, column, scale));
          }
        }
        for (int64_t u = 0; u < kValuePositions; ++u) {
          Value own = warp.valueOf(weight, k.add(j, u));
          for (int64_t i = 0; i < numColumns; ++i) {
            sums[i] = math::FmaOp::create(b, own, loaded[u * numColumns + i],
                                          sums[i]);
          }
        }
        return sums;
      });
}

bool tfc::fitsWarp(transformer::CacheType type) {
  return !type.isLatent() &&
         type.getHeadDim() <= kMaxColumns * WarpBuilder::kLanes;
}

void tfc::emitWarpAttention(transformer::PagedAttentionOp op,
                            const DeviceCache &cache, Value step, int64_t few,
                            OpBuilder &builder) {
  WarpAttention(op, cache, step, few, builder).emit();
}

void tfc::expandWarpAttention(transformer::PagedAttentionOp op,
                              const DeviceCache &cache, Value step,
                              RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  emitWarpAttention(op, cache, step, /*few=*/0, rewriter);
  rewriter.eraseOp(op);
}
