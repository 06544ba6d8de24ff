// The scores of paged attention: what a query sees, and what is done to its
// products with keys.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/AttentionScore.h"

#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace tfc;

/// A vector of biases at any distance can be read where it overlaps with the
/// end, at least: as many times the table has the first and the last one.
static constexpr int64_t kMargin = 16;

bool AttentionScore::hasOwnEnds() {
  return op.getMask() == transformer::Mask::Causal || op.getRight();
}

Value AttentionScore::first(const WorkItem &item, Value row) {
  return k.max(k.subtract(k.position(item, row), op.getLeft()), k.constant(0));
}

Value AttentionScore::end(const WorkItem &item, Value row) {
  if (!hasOwnEnds()) {
    return item.keys;
  }
  Value end = k.add(k.position(item, row), 1);
  return k.min(op.getRight() ? k.add(end, op.getRight()) : end, item.keys);
}

Value AttentionScore::scale(const WorkItem &item, Value row) {
  if (!op.getLogBase()) {
    return op.getScale();
  }
  bool isCausal = op.getMask() == transformer::Mask::Causal;
  Value seen =
      isCausal ? k.min(k.add(k.position(item, row), 1), item.keys) : item.keys;
  Value growth = arith::MulFOp::create(
      b, math::LogOp::create(b, toFloat(seen)),
      k.number(1 / std::log(op.getLogBase()->convertToDouble())));
  return arith::MulFOp::create(b, op.getScale(), growth);
}

ScoreRow AttentionScore::rowOf(const WorkItem &item, Value row, Value head) {
  ScoreRow own;
  own.head = head;
  own.position = k.position(item, row);
  own.scale = scale(item, row);
  own.end = end(item, row);
  if (hasFirst()) {
    own.first = first(item, row);
  }
  return own;
}

Value AttentionScore::tableRow(Value distance) {
  int64_t farthest = transformer::widthOf(op.getDistanceRows()) / 2;
  distance =
      k.min(k.max(distance, k.constant(-farthest)), k.constant(farthest));
  auto load = [&](Value place) -> Value {
    Value number = memref::LoadOp::create(b, op.getDistanceRows(), place);
    return arith::IndexCastOp::create(b, b.getIndexType(), number);
  };
  // The tables have the middle of as many rows as the largest number says.
  Value table = keyTable() ? keyTable() : queryTable();
  Value count = memref::DimOp::create(b, table, 0);
  Value all = k.add(load(k.constant(0)), 1);
  Value first = k.divide(k.subtract(all, count), 2);
  Value row = k.subtract(load(k.add(distance, farthest)), first);
  // Positions that nobody sees have one, too.
  return k.min(k.max(row, k.constant(0)), k.subtract(count, k.constant(1)));
}

Value AttentionScore::addRelative(Value dot, const ScoreRow &row,
                                  Value position, int64_t width,
                                  function_ref<Value(Value)> queryAt,
                                  function_ref<Value(Value)> keyAt) {
  if (!isRelative(op)) {
    return dot;
  }
  Value place = tableRow(k.subtract(position, row.position));
  auto addTerm = [&](Value table, function_ref<Value(Value)> factorAt) {
    Value term = k.reduce(
        k.constant(width), k.number(0), [&](Value d, Value sum) -> Value {
          Value column = k.add(k.scale(row.head, width), d);
          Value own = k.loadFloat(table, ValueRange{place, column});
          Value product = arith::MulFOp::create(b, factorAt(d), own);
          return arith::AddFOp::create(b, sum, product);
        });
    dot = arith::AddFOp::create(b, dot, term);
  };
  if (keyTable()) {
    addTerm(keyTable(), queryAt);
  }
  if (queryTable()) {
    addTerm(queryTable(), keyAt);
  }
  return dot;
}

Value AttentionScore::score(Value dot, const ScoreRow &row, Value position) {
  if (!isAdjusted()) {
    return arith::MulFOp::create(b, dot, inUnits(row.scale));
  }
  Value score = arith::MulFOp::create(b, dot, row.scale);
  Value distance = k.subtract(position, row.position);
  if (op.getBias()) {
    score = arith::AddFOp::create(b, score, loadBias(row.head, distance));
  }
  if (op.getSlopes()) {
    score = addSlope(score, row.head, distance);
  }
  return inUnits(cap(score));
}

Value AttentionScore::sink(Value head) {
  if (!op.getSinks()) {
    return {};
  }
  return inUnits(memref::LoadOp::create(b, op.getSinks(), head));
}

int64_t AttentionScore::tableSize() {
  return op.getBias() ? numDistances() + 2 * kMargin : 0;
}

void AttentionScore::beginHead(Value head, ScoreTable own, int64_t lanes) {
  table = own;
  vectors = VectorType::get(lanes, b.getF32Type());
  if (op.getBias()) {
    fillBiases(head, lanes);
  }
  if (op.getSlopes()) {
    slope = memref::LoadOp::create(b, op.getSlopes(), head);
  }
}

Value AttentionScore::adjust(Value scores, Value distance) {
  if (op.getBias()) {
    scores = arith::AddFOp::create(b, scores, loadBiases(distance));
  }
  if (op.getSlopes()) {
    scores = addSlopes(scores, distance);
  }
  return cap(scores);
}

int64_t AttentionScore::numDistances() {
  return transformer::widthOf(op.getBias());
}

void AttentionScore::fillBiases(Value head, int64_t lanes) {
  int64_t distances = numDistances(), whole = distances / lanes * lanes;
  auto store = [&](Value biases, Value place) {
    vector::StoreOp::create(b, biases, table.memory,
                            ValueRange{table.worker, place});
  };
  Value begin = k.constant(table.begin + kMargin);
  auto copy = [&](Value distance, int64_t width) {
    Value own =
        vector::LoadOp::create(b, VectorType::get(width, b.getF32Type()),
                               op.getBias(), ValueRange{head, distance});
    store(own, k.add(begin, distance));
  };
  k.loop(k.constant(0), k.constant(whole), lanes,
         [&](Value distance) { copy(distance, lanes); });
  for (int64_t width = lanes / 2; width > 0; width /= 2) {
    if (whole + width <= distances) {
      copy(k.constant(whole), width);
      whole += width;
    }
  }
  auto repeat = [&](int64_t distance, int64_t place) {
    Value own = memref::LoadOp::create(b, op.getBias(),
                                       ValueRange{head, k.constant(distance)});
    for (int64_t u = 0; u < kMargin; u += lanes) {
      store(vector::BroadcastOp::create(b, vectors, own),
            k.constant(place + u));
    }
  };
  repeat(0, table.begin);
  repeat(distances - 1, table.begin + kMargin + distances);
}

Value AttentionScore::loadBias(Value head, Value distance) {
  int64_t farthest = numDistances() / 2;
  distance =
      k.min(k.max(distance, k.constant(-farthest)), k.constant(farthest));
  return memref::LoadOp::create(b, op.getBias(),
                                ValueRange{head, k.add(distance, farthest)});
}

/// Consecutive positions have consecutive distances: one load. Beyond the ends,
/// where all distances count alike, it is from the margins.
Value AttentionScore::loadBiases(Value distance) {
  int64_t distances = numDistances();
  Value place = k.add(distance, kMargin + distances / 2);
  place =
      k.min(k.max(place, k.constant(0)), k.constant(kMargin + distances - 1));
  return vector::LoadOp::create(
      b, vectors, table.memory,
      ValueRange{table.worker, k.add(place, table.begin)});
}

Value AttentionScore::addSlope(Value score, Value head, Value distance) {
  Value steps = toFloat(distance);
  Value slope = memref::LoadOp::create(b, op.getSlopes(), head);
  return arith::AddFOp::create(b, score,
                               arith::MulFOp::create(b, slope, steps));
}

Value AttentionScore::addSlopes(Value scores, Value distance) {
  SmallVector<float> numbers(vectors.getNumElements());
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  Value own = arith::ConstantOp::create(
      b, DenseElementsAttr::get(vectors, ArrayRef<float>(numbers)));
  Value first = vector::BroadcastOp::create(b, vectors, toFloat(distance));
  Value distances = arith::AddFOp::create(b, first, own);
  return vector::FMAOp::create(
      b, vector::BroadcastOp::create(b, vectors, slope), distances, scores);
}

/// cap * tanh(score / cap), for a number or a vector.
Value AttentionScore::cap(Value score) {
  if (!op.getCap()) {
    return score;
  }
  double cap = op.getCap()->convertToDouble();
  auto times = [&](Value x, double factor) -> Value {
    Value same = k.number(factor);
    if (isa<VectorType>(x.getType())) {
      same = vector::BroadcastOp::create(b, x.getType(), same);
    }
    return arith::MulFOp::create(b, x, same);
  };
  return times(math::TanhOp::create(b, times(score, 1 / cap)), cap);
}

Value AttentionScore::toFloat(Value index) {
  Value number = arith::IndexCastOp::create(b, b.getI32Type(), index);
  return arith::SIToFPOp::create(b, b.getF32Type(), number);
}

Value AttentionScore::inUnits(Value score) {
  return unit == 1 ? score : arith::MulFOp::create(b, score, k.number(unit));
}
