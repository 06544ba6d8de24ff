// Paged attention of any width and element: a warp does one query of one head.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/WarpAttention.h"

#include "compiler/gpu/rows/RowVector.h"
#include "compiler/gpu/thread/WarpBuilder.h"
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
  WarpAttention(transformer::PagedAttentionOp op, const DeviceCache &cache,
                Value step, OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()), scores(k, op),
        cache(cache), warp(k),
        numColumns(llvm::divideCeil(cache.headDim, WarpBuilder::kLanes)) {}

  void emit();

private:
  void emitQuery(const WorkItem &item, const WarpQuery &query);
  /// maximum, total and sums of before, and those with the chunk at `begin`.
  Values addChunk(const WorkItem &item, const WarpQuery &query, Value begin,
                  ValueRange state);
  /// The lane's score: that of `position`.
  Value score(const WarpQuery &query, Value block, Value position);
  Value dot(const WarpQuery &query, Value key);
  /// Columns of the query as products with keys have them.
  Value loadQuery(const WarpQuery &query, Value column, int64_t count);
  /// The value's number in `column` of the head, at `address`, and what its
  /// distance adds to it.
  Value loadValue(const WarpQuery &query, Value position, Value address,
                  Value column);
  /// sums + the weights of the chunk's lanes times the values.
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
  WarpBuilder warp;
  int64_t numColumns; // of a lane
};

} // namespace

void WarpAttention::emit() {
  int64_t heads = op.getNumHeads();
  int64_t group = heads / op.getCache().getType().getKvHeads();
  KernelBuilder::Values axes = {k.mostRows(cache), k.constant(heads),
                                k.constant(WarpBuilder::kLanes)};
  k.forEachPlace(cache, axes, [&](const WorkItem &item, ValueRange places) {
    b.getInsertionBlock()->getParentOp()->setAttr(kBeginsAloneAttrName,
                                                  b.getUnitAttr());
    Value row = places[0];
    warp.lane = places[2];
    // The same for all lanes: none is missed in an exchange.
    auto branch = scf::IfOp::create(b, k.isLess(row, item.rows));
    b.setInsertionPointToStart(branch.thenBlock());
    WarpQuery query;
    query.token = k.add(item.firstToken, k.add(item.firstRow, row));
    query.kvHead = k.divide(places[1], group);
    static_cast<ScoreRow &>(query) = scores.rowOf(item, row, places[1]);
    scores.beginSegments(item, row, query);
    if (query.first) {
      query.first = k.min(query.first, query.end);
    }
    emitQuery(item, query);
  });
}

void WarpAttention::emitQuery(const WorkItem &item, const WarpQuery &query) {
  // The maximum, the lane's part of the total, and its columns' sums.
  Values state(2 + numColumns, k.number(0));
  state[0] = k.number(std::numeric_limits<float>::lowest());
  if (Value sink = scores.sink(query.head)) {
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          warp.lane, k.constant(0));
    state[0] = sink;
    state[1] = arith::SelectOp::create(b, isFirst, k.number(1), k.number(0));
  }
  Value begin = k.constant(0);
  if (query.first) {
    begin = k.scale(k.divide(query.first, WarpBuilder::kLanes),
                    WarpBuilder::kLanes);
  }
  state = k.loop(begin, query.end, WarpBuilder::kLanes, state,
                 [&](Value begin, ValueRange state) {
                   return addChunk(item, query, begin, state);
                 });
  Value total = warp.sum(state[1]);
  for (int64_t i = 0; i < numColumns; ++i) {
    Value d = k.add(warp.lane, i * WarpBuilder::kLanes);
    Value mean = arith::DivFOp::create(b, state[2 + i], total);
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
  Value isSeen = k.isLess(own, query.end);
  // What the query does not see may be anything: it is not read.
  Value last = k.subtract(query.end, k.constant(1));
  Value position = k.min(own, last);
  if (query.first) {
    Value isHidden = k.isLess(own, query.first);
    isSeen = arith::SelectOp::create(
        b, isHidden, arith::ConstantOp::create(b, b.getBoolAttr(false)),
        isSeen);
    position = k.max(position, query.first);
  }
  Value score = this->score(query, block, position);
  Value lowest = k.number(std::numeric_limits<float>::lowest());
  score = arith::SelectOp::create(b, isSeen, score, lowest);
  Value highest = arith::MaximumFOp::create(b, state[0], warp.maximum(score));
  Value decay = exp(state[0], highest);
  Value weight =
      arith::SelectOp::create(b, isSeen, exp(score, highest), k.number(0));
  Values next = {highest, math::FmaOp::create(b, state[1], decay, weight)};
  Values sums;
  for (Value sum : state.drop_front(2)) {
    sums.push_back(arith::MulFOp::create(b, sum, decay));
  }
  next.append(addValues(query, block, begin, weight, sums));
  return next;
}

Value WarpAttention::score(const WarpQuery &query, Value block,
                           Value position) {
  Value slot = k.remainder(position, cache.blockTokens);
  Value key = buildAddress(b, cache.keys(k, block, query.kvHead), slot,
                           cache.positionBytes);
  Value product = scores.addRelative(
      dot(query, key), query, position, cache.headDim,
      [&](Value d) {
        return scores.tableQuery(query.token, columnOf(query, d));
      },
      [&](Value d) {
        return cache.load(k, buildAddress(b, key, d, cache.elementBytes),
                          b.getF32Type());
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
  auto type = VectorType::get(width, b.getF32Type());
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  Value sums =
      k.loop(k.constant(0), k.constant(cache.headDim), step, zero,
             [&](Value d, ValueRange carried) -> Values {
               Values keys;
               for (int64_t i = 0; i < step; i += width) {
                 keys.push_back(cache.loadAligned(
                     k, buildAddress(b, key, k.add(d, i), cache.elementBytes),
                     width));
               }
               Value sum = carried.front();
               for (auto [i, vector] : llvm::enumerate(keys)) {
                 Value q = loadQuery(
                     query, columnOf(query, k.add(d, i * width)), width);
                 sum = math::FmaOp::create(b, q, vector, sum);
               }
               return {sum};
             })
          .front();
  Value sum = vector::ExtractOp::create(b, sums, 0);
  for (int64_t i = 1; i < width; ++i) {
    sum = arith::AddFOp::create(b, sum, vector::ExtractOp::create(b, sums, i));
  }
  return sum;
}

Value WarpAttention::loadValue(const WarpQuery &query, Value position,
                               Value address, Value column) {
  Value value = cache.load(
      k, buildAddress(b, address, column, cache.elementBytes), b.getF32Type());
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
          for (Value column : columns) {
            loaded.push_back(
                loadValue(query, k.add(begin, seen), address, column));
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
  // Nobody here multiplies by scales.
  return !type.getElementType().isInteger() && !type.isLatent() &&
         type.getHeadDim() <= kMaxColumns * WarpBuilder::kLanes;
}

void tfc::expandWarpAttention(transformer::PagedAttentionOp op,
                              const DeviceCache &cache, Value step,
                              RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  WarpAttention(op, cache, step, rewriter).emit();
  rewriter.eraseOp(op);
}
