// The softmax of vector attention: scores of a stretch become weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/AttentionSoftmax.h"

#include "compiler/cpu/FoldLanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

/// Scores that softmax takes at a time: few, because a query sees any number,
/// and many enough that exponentials overlap.
static constexpr int64_t kChunk = 32;
static_assert(kChunk == AmxAttention::kStep);

AttentionSoftmax::AttentionSoftmax(KernelBuilder &k, AttentionScratch &scratch,
                                   AttentionTiles &tiles, AttentionScore &score,
                                   int64_t lanes, AmxAttention *products)
    : k(k), b(k.builder()), scratch(scratch), tiles(tiles), score(score),
      lanes(lanes), products(products), numVectors(kChunk / lanes) {}

AttentionSoftmax::Visible AttentionSoftmax::visibleOf(const AttentionHead &head,
                                                      const Stretch &stretch,
                                                      Value row) {
  Value zero = k.constant(0);
  Visible visible;
  visible.place = k.add(k.scale(row, scratch.kScoreStride), scratch.scores);
  Value query = head.queryOf(k, row);
  Value end = k.subtract(score.end(head.item, query), stretch.begin);
  visible.end = k.max(k.min(end, stretch.count), zero);
  if (score.hasFirst()) {
    Value begin = k.subtract(score.first(head.item, query), stretch.begin);
    visible.begin = k.max(k.min(begin, visible.end), zero);
  }
  return visible;
}

Values AttentionSoftmax::inChunks(
    const Visible &visible, Value init,
    function_ref<Values(Value, ValueRange, const Values &)> body) {
  auto partial = [&](Value column, ValueRange carried) {
    return body(column, carried, maskScores(column, visible));
  };
  auto whole = [&](Value column, ValueRange carried) {
    return body(column, carried, {});
  };
  Values carried(numVectors, init);
  // The whole ones are those in [from, to).
  Value from = k.constant(0);
  Value to = k.scale(k.divide(visible.end, kChunk), kChunk);
  if (visible.begin) {
    Value first = k.scale(k.divide(visible.begin, kChunk), kChunk);
    from = k.scale(k.roundUpDivide(visible.begin, kChunk), kChunk);
    to = k.max(to, from);
    carried = k.loop(first, visible.begin, kChunk, carried, partial);
  }
  carried = k.loop(from, to, kChunk, carried, whole);
  return k.loop(to, visible.end, kChunk, carried, partial);
}

/// Scores that the row does not see may be anything: they are replaced before
/// any arithmetic.
void AttentionSoftmax::emitMaximum(const AttentionHead &head,
                                   const Stretch &stretch, Value row) {
  Visible visible = visibleOf(head, stretch, row);
  ScoreRow own;
  if (score.isAdjusted()) {
    Value query = head.queryOf(k, row);
    own = score.rowOf(head.item, query, Value());
    score.beginRows(head.item, query, own);
  }
  Value lowest = broadcast(k.number(std::numeric_limits<float>::lowest()));
  Value scale = scaleOf(head, row);
  auto maximum = [&](Value column, ValueRange carried, const Values &masks) {
    Values scores = loadScores(k.add(visible.place, column));
    for (auto [u, vector] : llvm::enumerate(scores)) {
      if (scale) {
        vector = arith::MulFOp::create(b, vector, scale);
      }
      if (score.isAdjusted()) {
        Value from = k.add(column, u * lanes);
        vector = score.adjust(vector, own, k.add(stretch.begin, from));
        tiles.storeScratch(vector, k.add(visible.place, from));
      }
      if (!masks.empty()) {
        vector = arith::SelectOp::create(b, masks[u], vector, lowest);
      }
      vector = larger(vector, carried[u]);
    }
    return scores;
  };
  Value highest = fold(inChunks(visible, lowest, maximum),
                       [&](Value x, Value y) { return larger(x, y); });
  Value old = tiles.loadScratch(k.add(row, scratch.maxima));
  highest = larger(highest, old);
  Value decay = math::ExpOp::create(b, arith::SubFOp::create(b, old, highest));
  tiles.storeScratch(highest, k.add(row, scratch.maxima));
  tiles.storeScratch(decay, k.add(row, scratch.decays));
}

/// The weights of scores that the row does not see are zero.
void AttentionSoftmax::emitWeights(const AttentionHead &head,
                                   const Stretch &stretch, Value row) {
  Visible visible = visibleOf(head, stretch, row);
  Value highest = broadcast(tiles.loadScratch(k.add(row, scratch.maxima)));
  Value none = broadcast(k.number(0));
  // What is adjusted has its scale.
  Value scale = score.isAdjusted() ? Value() : scaleOf(head, row);
  auto exponential = [&](Value column, ValueRange carried,
                         const Values &masks) {
    Values scores = loadScores(k.add(visible.place, column)), totals;
    for (auto [u, score] : llvm::enumerate(scores)) {
      if (scale) {
        score = arith::MulFOp::create(b, score, scale);
      }
      if (!masks.empty()) {
        score = arith::SelectOp::create(b, masks[u], score, highest);
      }
      Value weight =
          math::ExpOp::create(b, arith::SubFOp::create(b, score, highest));
      if (!masks.empty()) {
        weight = arith::SelectOp::create(b, masks[u], weight, none);
      }
      if (products) {
        products->storeWeights(weight, row, k.add(column, u * lanes));
      } else {
        tiles.storeScratch(weight,
                           k.add(k.add(visible.place, column), u * lanes));
      }
      totals.push_back(arith::AddFOp::create(b, carried[u], weight));
    }
    return totals;
  };
  Value total =
      fold(inChunks(visible, none, exponential), [&](Value x, Value y) {
        return Value(arith::AddFOp::create(b, x, y));
      });
  if (products) {
    Value begin = visible.begin ? visible.begin : k.constant(0);
    products->clearWeights(
        stretch, row, k.scale(k.divide(begin, kChunk), kChunk),
        k.scale(k.roundUpDivide(visible.end, kChunk), kChunk));
  }
  Value decay = tiles.loadScratch(k.add(row, scratch.decays));
  Value before = tiles.loadScratch(k.add(row, scratch.totals));
  tiles.storeScratch(math::FmaOp::create(b, before, decay, total),
                     k.add(row, scratch.totals));
}

AmxAttention::Range AttentionSoftmax::rangeOf(const AttentionHead &head,
                                              const Stretch &stretch,
                                              Value row) {
  Visible visible = visibleOf(head, stretch, row);
  return {visible.begin ? visible.begin : k.constant(0), visible.end};
}

Value AttentionSoftmax::scaleOf(const AttentionHead &head, Value row) {
  return products ? broadcast(score.scale(head.item, head.queryOf(k, row)))
                  : Value();
}

Values AttentionSoftmax::loadScores(Value place) {
  Values scores;
  for (int64_t u = 0; u < numVectors; ++u) {
    scores.push_back(tiles.loadScratch(k.add(place, u * lanes), lanes));
  }
  return scores;
}

Values AttentionSoftmax::maskScores(Value column, const Visible &visible) {
  auto type = VectorType::get(lanes, b.getI32Type());
  auto fromColumn = [&](Value position) -> Value {
    Value left = arith::IndexCastOp::create(b, b.getI32Type(),
                                            k.subtract(position, column));
    return vector::BroadcastOp::create(b, type, left);
  };
  Value limit = fromColumn(visible.end), first;
  if (visible.begin) {
    first = fromColumn(visible.begin);
  }
  Values masks;
  for (int64_t u = 0; u < numVectors; ++u) {
    SmallVector<int32_t> numbers(lanes);
    std::iota(numbers.begin(), numbers.end(), u * lanes);
    Value own =
        arith::ConstantOp::create(b, DenseIntElementsAttr::get(type, numbers));
    masks.push_back(
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, own, limit));
    if (first) {
      Value isSeen =
          arith::CmpIOp::create(b, arith::CmpIPredicate::sge, own, first);
      masks.back() = arith::AndIOp::create(b, masks.back(), isSeen);
    }
  }
  return masks;
}

Value AttentionSoftmax::fold(Values vectors,
                             function_ref<Value(Value, Value)> combine) {
  while (vectors.size() > 1) {
    size_t half = vectors.size() / 2;
    for (size_t u = 0; u < half; ++u) {
      vectors[u] = combine(vectors[u], vectors[u + half]);
    }
    vectors.truncate(half);
  }
  return foldLanes(b, b.getLoc(), vectors.front(), combine);
}

Value AttentionSoftmax::broadcast(Value number) {
  return vector::BroadcastOp::create(b, f32Vector(k, lanes), number);
}

/// Of y when they cannot be compared; one instruction, unlike maximumf.
Value AttentionSoftmax::larger(Value x, Value y) {
  Value isLarger = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y);
  return arith::SelectOp::create(b, isLarger, x, y);
}
