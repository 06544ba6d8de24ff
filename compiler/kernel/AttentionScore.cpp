// The scores of paged attention: what a query sees, and what is done to its
// products with keys.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/AttentionScore.h"

#include "compiler/kernel/NarrowFloat.h"
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
  if (isLocalCausal(op)) {
    auto size = static_cast<int64_t>(*op.getSparseBlock());
    auto before = static_cast<int64_t>(*op.getBlocksBefore());
    Value block = k.add(k.divide(k.position(item, row), size), -before);
    return k.max(k.scale(block, size), k.constant(0));
  }
  return k.max(k.subtract(k.position(item, row), op.getLeft()), k.constant(0));
}

Value AttentionScore::end(const WorkItem &item, Value row) {
  if (!hasOwnEnds()) {
    return item.keys;
  }
  Value end = k.add(k.position(item, row), 1);
  return k.min(op.getRight() ? k.add(end, op.getRight()) : end, item.keys);
}

std::pair<Value, Value> AttentionScore::seenBy(const WorkItem &item) {
  return seenBy(item, k.constant(0), k.subtract(item.rows, k.constant(1)));
}

std::pair<Value, Value> AttentionScore::seenBy(const WorkItem &item, Value row,
                                               Value last) {
  Value begin = k.constant(0), end = this->end(item, last);
  if (hasFirst()) {
    begin = k.min(first(item, row), end);
  }
  return {begin, end};
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
  if (hasSparseTerm(op)) {
    auto block = static_cast<int64_t>(*op.getSparseBlock());
    own.block = k.divide(own.position, block);
    own.lastBlock = k.divide(k.subtract(item.keys, k.constant(1)), block);
    if (op.getBlocksBefore()) {
      own.block = k.min(own.block, own.lastBlock);
      return own;
    }
    auto random = static_cast<int64_t>(*op.getRandomBlocks());
    Value isDense = arith::OrIOp::create(
        b, k.isAtMost(item.keys, k.constant((5 + 2 * random) * block)),
        k.isEqual(own.block, own.lastBlock));
    own.block = arith::SelectOp::create(b, isDense, k.constant(0), own.block);
  }
  return own;
}

/// Of segments both products of the row's query with them, times the scale.
void AttentionScore::beginRows(const WorkItem &item, Value row, ScoreRow &own) {
  if (op.getSegments() || op.getUnseen()) {
    own.keyRow = k.subtract(item.firstToken, item.past);
  }
  if (!op.getSegments()) {
    return;
  }
  int64_t width = op.getCache().getType().getHeadDim();
  Value token = k.add(item.firstToken, k.add(item.firstRow, row));
  own.type = memref::LoadOp::create(b, op.getTypes(), token);
  Value first = k.scale(own.head ? own.head : head, width);
  KernelBuilder::Values none(2, k.number(0));
  KernelBuilder::Values sums =
      k.loop(k.constant(0), k.constant(width), 1, none,
             [&](Value d, ValueRange carried) {
               Value column = k.add(first, d);
               Value query = biasedQuery(op.getSegmentBias(), token, column);
               KernelBuilder::Values next;
               for (auto [number, sum] : llvm::enumerate(carried)) {
                 Value part = k.loadFloat(
                     op.getSegments(), ValueRange{k.constant(number), column});
                 next.push_back(arith::AddFOp::create(
                     b, sum, arith::MulFOp::create(b, query, part)));
               }
               return next;
             });
  own.same = arith::MulFOp::create(b, sums[0], own.scale);
  own.other = arith::MulFOp::create(b, sums[1], own.scale);
}

Value AttentionScore::biasedQuery(Value bias, Value token, Value column) {
  Value query = k.loadFloat(op.getQuery(), ValueRange{token, column});
  if (!bias) {
    return query;
  }
  return arith::AddFOp::create(b, query,
                               memref::LoadOp::create(b, bias, column));
}

Value AttentionScore::keyQuery(Value token, Value column) {
  return biasedQuery(op.getQueryBias(), token, column);
}

Value AttentionScore::tableQuery(Value token, Value column) {
  return biasedQuery(op.getRelativeBias(), token, column);
}

Value AttentionScore::seesStretch(const WorkItem &item, Value begin,
                                  int64_t count) {
  if (!hasSparseTerm(op)) {
    return {};
  }
  auto size = static_cast<int64_t>(*op.getSparseBlock());
  ScoreRow first = rowOf(item, k.constant(0), Value());
  ScoreRow last = rowOf(item, k.subtract(item.rows, k.constant(1)), Value());
  Value from = k.divide(begin, size);
  Value to = k.divide(k.add(begin, count - 1), size);
  auto either = [&](Value x, Value y) -> Value {
    return arith::OrIOp::create(b, x, y);
  };
  // The neighbours of the blocks from the first query's to the last one's.
  Value isNear = arith::AndIOp::create(b, k.isAtMost(first.block, k.add(to, 1)),
                                       k.isAtMost(from, k.add(last.block, 1)));
  Value isFirst = k.isEqual(begin, k.constant(0));
  Value isLast = k.isAtMost(first.lastBlock, to);
  if (op.getBlocksBefore()) {
    // The circle's seam is between the last block and the first one.
    Value reachesBack =
        arith::AndIOp::create(b, isLast, k.isEqual(first.block, k.constant(0)));
    Value reachesOn = arith::AndIOp::create(
        b, isFirst, k.isEqual(last.block, last.lastBlock));
    return either(isNear, either(reachesBack, reachesOn));
  }
  Value isEnd = either(isFirst, isLast);
  Value seesAll = either(k.isEqual(first.block, k.constant(0)),
                         k.isEqual(last.block, k.constant(0)));
  return either(either(isNear, isEnd), seesAll);
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
  Value table = keyTable()     ? keyTable()
                : queryTable() ? queryTable()
                               : valueTable();
  Value count = memref::DimOp::create(b, table, 0);
  Value all = k.add(load(k.constant(0)), 1);
  Value first = k.divide(k.subtract(all, count), 2);
  Value row = k.subtract(load(k.add(distance, farthest)), first);
  // Positions that nobody sees have one, too.
  return k.min(k.max(row, k.constant(0)), k.subtract(count, k.constant(1)));
}

Value AttentionScore::tableColumn(Value table, Value column) {
  bool isOfAll =
      transformer::widthOf(table) == op.getCache().getType().getHeadDim();
  return isOfAll ? k.constant(0) : column;
}

Value AttentionScore::addRelative(Value dot, const ScoreRow &row,
                                  Value position, int64_t width,
                                  function_ref<Value(Value)> queryAt,
                                  function_ref<Value(Value)> keyAt) {
  if (!keyTable() && !queryTable()) {
    return dot;
  }
  Value place = tableRow(k.subtract(position, row.position));
  auto addTerm = [&](Value table, function_ref<Value(Value)> factorAt) {
    Value first = tableColumn(table, k.scale(row.head, width));
    Value term = k.reduce(
        k.constant(width), k.number(0), [&](Value d, Value sum) -> Value {
          Value own = k.loadFloat(table, ValueRange{place, k.add(first, d)});
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
  if (op.getRoundedSlopes()) {
    Value slope = memref::LoadOp::create(b, op.getSlopes(), row.head);
    score = arith::AddFOp::create(
        b, score, roundedSlope(slope, toFloat(position), row.scale));
  } else if (op.getSlopes()) {
    score = addSlope(score, row.head, distance);
  }
  if (hasSparseTerm(op)) {
    Value place = arith::IndexCastOp::create(b, b.getI32Type(), position);
    score = arith::AddFOp::create(b, score, sparseTerm(row, place));
  }
  auto numberOf = [&](Value numbers) -> Value {
    return memref::LoadOp::create(b, numbers, k.add(row.keyRow, position));
  };
  if (op.getSegments()) {
    score = arith::AddFOp::create(b, score,
                                  segmentTerm(row, numberOf(op.getTypes())));
  }
  if (op.getUnseen()) {
    score = unlessUnseen(score, numberOf(op.getUnseen()));
  }
  return inUnits(cap(score));
}

Value AttentionScore::sink(Value token, Value head) {
  if (!op.getSinks()) {
    return {};
  }
  bool areOfTokens = cast<MemRefType>(op.getSinks().getType()).getRank() == 2;
  Value place[] = {token, head};
  return inUnits(memref::LoadOp::create(
      b, op.getSinks(), ArrayRef(place).drop_front(areOfTokens ? 0 : 1)));
}

int64_t AttentionScore::tableSize() {
  return op.getBias() ? numDistances() + 2 * kMargin : 0;
}

void AttentionScore::beginHead(Value head, ScoreTable own, int64_t lanes) {
  table = own;
  this->head = head;
  vectors = VectorType::get(lanes, b.getF32Type());
  if (op.getBias()) {
    fillBiases(head, lanes);
  }
  if (op.getSlopes()) {
    slope = memref::LoadOp::create(b, op.getSlopes(), head);
  }
}

Value AttentionScore::adjust(Value scores, const ScoreRow &row,
                             Value position) {
  Value distance = k.subtract(position, row.position);
  if (op.getBias()) {
    scores = arith::AddFOp::create(b, scores, loadBiases(distance));
  }
  if (op.getRoundedSlopes()) {
    Value positions = arith::SIToFPOp::create(b, vectors, countFrom(position));
    Value slopes = vector::BroadcastOp::create(b, vectors, slope);
    Value scale = vector::BroadcastOp::create(b, vectors, row.scale);
    scores = arith::AddFOp::create(b, scores,
                                   roundedSlope(slopes, positions, scale));
  } else if (op.getSlopes()) {
    scores = addSlopes(scores, distance);
  }
  if (hasSparseTerm(op)) {
    scores =
        arith::AddFOp::create(b, scores, sparseTerm(row, countFrom(position)));
  }
  if (op.getSegments()) {
    Value types = loadNumbers(op.getTypes(), row, position);
    scores = arith::AddFOp::create(b, scores, segmentTerm(row, types));
  }
  if (op.getUnseen()) {
    scores = unlessUnseen(scores, loadNumbers(op.getUnseen(), row, position));
  }
  return cap(scores);
}

Value AttentionScore::countFrom(Value first) {
  int64_t lanes = vectors.getNumElements();
  SmallVector<int32_t> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto type = VectorType::get(lanes, b.getI32Type());
  Value own =
      arith::ConstantOp::create(b, DenseIntElementsAttr::get(type, numbers));
  Value begin = arith::IndexCastOp::create(b, b.getI32Type(), first);
  return arith::AddIOp::create(b, vector::BroadcastOp::create(b, type, begin),
                               own);
}

Value AttentionScore::roundedSlope(Value slope, Value position, Value scale) {
  auto round = [&](Value x) {
    return widenFloat(b, narrowFloat(b, x, b.getBF16Type()));
  };
  Value term = round(arith::MulFOp::create(b, slope, round(position)));
  return arith::MulFOp::create(b, term, scale);
}

/// `one` in each lane, where `like` has lanes.
static Value spreadLike(ImplicitLocOpBuilder &b, Value like, Value one) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector
             ? vector::BroadcastOp::create(b, vector.clone(one.getType()), one)
                   .getResult()
             : one;
}

/// What is added to the score of what a query does not see. A sum with it
/// is far below any score, and finite, so that no difference is a NaN.
static constexpr double kUnseen = -1e30;

/// Of a query of block 0 nothing: it sees all.
Value AttentionScore::sparseTerm(const ScoreRow &row, Value positions) {
  if (op.getBlocksBefore()) {
    return circleTerm(row, positions);
  }
  auto spread = [&](Value one) { return spreadLike(b, positions, one); };
  auto integer = [&](Value index) {
    return spread(arith::IndexCastOp::create(b, b.getI32Type(), index));
  };
  auto compare = [&](arith::CmpIPredicate how, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, how, x, y);
  };
  auto size = static_cast<int64_t>(*op.getSparseBlock());
  auto random = static_cast<double>(*op.getRandomBlocks());
  Value blocks =
      arith::DivUIOp::create(b, positions, integer(k.constant(size)));
  Value own = integer(row.block);
  // From -1 to 1 in one comparison.
  Value near = arith::AddIOp::create(b, arith::SubIOp::create(b, blocks, own),
                                     integer(k.constant(1)));
  Value isNear =
      compare(arith::CmpIPredicate::ule, near, integer(k.constant(2)));
  Value isLast =
      compare(arith::CmpIPredicate::eq, blocks, integer(row.lastBlock));
  Value isFirst =
      compare(arith::CmpIPredicate::eq, blocks, integer(k.constant(0)));
  Value seesAll =
      compare(arith::CmpIPredicate::eq, own, integer(k.constant(0)));
  Value none = spread(k.number(0));
  Value term =
      arith::SelectOp::create(b, arith::OrIOp::create(b, isNear, isLast), none,
                              spread(k.number(kUnseen)));
  term = arith::SelectOp::create(b, isFirst,
                                 spread(k.number(std::log(1 + random))), term);
  return arith::SelectOp::create(b, seesAll, none, term);
}

/// Blocks are counted from the query's own on, around the circle: that is 0,
/// the next one is 1, and the one before is the last.
Value AttentionScore::circleTerm(const ScoreRow &row, Value positions) {
  auto spread = [&](Value one) { return spreadLike(b, positions, one); };
  auto integer = [&](Value index) {
    return spread(arith::IndexCastOp::create(b, b.getI32Type(), index));
  };
  auto compare = [&](arith::CmpIPredicate how, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, how, x, y);
  };
  auto size = static_cast<int64_t>(*op.getSparseBlock());
  bool seesBefore = *op.getBlocksBefore() > 0, seesAfter = *op.getBlocksAfter();
  Value zero = integer(k.constant(0)), none = spread(k.number(0));
  Value steps = arith::SubIOp::create(
      b, arith::DivUIOp::create(b, positions, integer(k.constant(size))),
      integer(row.block));
  Value around =
      arith::AddIOp::create(b, steps, integer(k.add(row.lastBlock, 1)));
  steps = arith::SelectOp::create(
      b, compare(arith::CmpIPredicate::slt, steps, zero), around, steps);
  Value isSeen = compare(arith::CmpIPredicate::eq, steps, zero);
  Value near = none;
  if (seesAfter) {
    Value isNext =
        compare(arith::CmpIPredicate::eq, steps, integer(k.constant(1)));
    isSeen = arith::OrIOp::create(b, isSeen, isNext);
  }
  if (seesBefore) {
    Value isBefore =
        compare(arith::CmpIPredicate::eq, steps, integer(row.lastBlock));
    isSeen = arith::OrIOp::create(b, isSeen, isBefore);
  }
  if (seesBefore && seesAfter) {
    // Of two blocks the other one is the next and the one before.
    Value areTwo = k.isEqual(row.lastBlock, k.constant(1));
    Value twice = spread(arith::SelectOp::create(
        b, areTwo, k.number(std::log(2.0)), k.number(0)));
    near = arith::SelectOp::create(
        b, compare(arith::CmpIPredicate::eq, steps, zero), none, twice);
  }
  return arith::SelectOp::create(b, isSeen, near, spread(k.number(kUnseen)));
}

Value AttentionScore::segmentTerm(const ScoreRow &row, Value types) {
  auto spread = [&](Value one) { return spreadLike(b, types, one); };
  Value isSame = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, types,
                                       spread(row.type));
  return arith::SelectOp::create(b, isSame, spread(row.same),
                                 spread(row.other));
}

/// In the place of the score, so that those of seen keys keep their bits.
Value AttentionScore::unlessUnseen(Value scores, Value numbers) {
  auto spread = [&](Value one) { return spreadLike(b, numbers, one); };
  Value zero = arith::ConstantIntOp::create(b, 0, 32);
  Value isSeen =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, numbers, spread(zero));
  return arith::SelectOp::create(b, isSeen, scores, spread(k.number(kUnseen)));
}

/// Behind what the row sees there may be no row: those lanes are not read.
Value AttentionScore::loadNumbers(Value numbers, const ScoreRow &row,
                                  Value position) {
  Value own = countFrom(position);
  auto type = cast<VectorType>(own.getType());
  Value end = arith::IndexCastOp::create(b, b.getI32Type(), row.end);
  Value isSeen =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, own,
                            vector::BroadcastOp::create(b, type, end));
  Value none = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, b.getI32IntegerAttr(0)));
  return vector::GatherOp::create(b, type, numbers, ValueRange{row.keyRow}, own,
                                  isSeen, none);
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
