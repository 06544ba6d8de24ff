// Paged attention in vectors: tiles of up to 8 queries of a head, keys and
// values from the cache's blocks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/EmitAttention.h"

#include "compiler/cpu/AttentionTiles.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

/// Scores that softmax takes at a time: few, because a query sees any number,
/// and many enough that exponentials overlap.
static constexpr int64_t kChunk = 32;

namespace {

/// Emits the kernel. An item's queries go through the positions in stretches,
/// and keep for what they have seen so far: the maximum of the scores, the
/// total of exp(score - maximum) and the sum of values weighted by that. A new
/// maximum makes the old total and sum decay by exp(old - new).
class VectorAttention {
public:
  VectorAttention(transformer::PagedAttentionOp op, Value step, Value workers,
                  int64_t lanes, OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()),
        cache(op.getCache().getType()),
        scratch(cache.headDim,
                op.getBias() ? transformer::widthOf(op.getBias()) : 0),
        tiles(k, cache, scratch, op, lanes), lanes(lanes),
        numVectors(kChunk / lanes) {
    auto type =
        MemRefType::get({ShapedType::kDynamic, scratch.size}, b.getF32Type());
    scratch.memory = memref::AllocOp::create(b, type, workers);
  }

  void emit();

private:
  void emitStretch(const AttentionHead &head, Value begin, Value end);
  /// Spare rows of a tile repeat the last query.
  void loadQuery(const AttentionHead &head, Value row);
  void storeResult(const AttentionHead &head, Value row);
  /// The head's biases, with margins.
  void loadBias(Value number);
  /// Those of `lanes` positions from `column` of the stretch on.
  Value biasAt(const AttentionHead &head, const Stretch &stretch, Value row,
               Value column);
  void emitSoftmax(const AttentionHead &head, const Stretch &stretch,
                   Value row);

  /// The vectors of the scores at `place`, all `numVectors`.
  Values loadScores(Value place);
  /// Which of the positions from `column` on are at or beyond `begin`, unless
  /// that is null, and before `end`: a vector each.
  Values maskScores(Value column, Value begin, Value end);
  /// One value of a chunk's, halving: the same order for every number of lanes.
  Value fold(Values vectors, function_ref<Value(Value, Value)> combine);
  Value broadcast(Value number);
  Value larger(Value x, Value y);

  /// body(1 | 2 | 4 | 8), whichever the number of rows is.
  void switchRows(Value rows, function_ref<void(int64_t)> body);
  Value cell(int64_t begin, Value row) { return k.add(row, begin); }
  Value tokenOf(const AttentionHead &head, Value row) {
    return k.add(head.item.firstToken, k.add(head.item.firstRow, row));
  }

  transformer::PagedAttentionOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  VectorCache cache;
  AttentionScratch scratch;
  AttentionTiles tiles;
  int64_t lanes;
  int64_t numVectors; // of a chunk of scores
  Value column;       // of the head, in query and result
  Value tileRows;     // of the item: its rows, rounded up to a tile
};

} // namespace

void VectorAttention::emit() {
  int64_t heads = op.getNumHeads();
  int64_t group = heads / op.getCache().getType().getKvHeads();
  k.forEachItem(cache, heads, [&](const WorkItem &item, Value number) {
    scratch.worker = transformer::WorkerOp::create(b, b.getIndexType());
    AttentionHead head = {item, k.divide(number, group)};
    column = k.scale(number, cache.headDim);
    tileRows = k.constant(cache.queryRows);
    for (int64_t rows = cache.queryRows / 2; rows > 0; rows /= 2) {
      Value isMore = k.isLess(k.constant(rows), item.rows);
      tileRows = arith::SelectOp::create(b, isMore, tileRows, k.constant(rows));
    }
    k.loop(tileRows, [&](Value row) { loadQuery(head, row); });
    if (op.getBias()) {
      loadBias(number);
    }
    Value last = k.subtract(item.rows, k.constant(1));
    Value begin = k.constant(0), end = k.visible(item, last, op.getMask());
    if (op.getWindow()) {
      Value first = k.firstVisible(item, k.constant(0), *op.getWindow());
      begin = k.scale(k.divide(first, scratch.kStretch), scratch.kStretch);
    }
    k.loop(begin, end, scratch.kStretch,
           [&](Value begin) { emitStretch(head, begin, end); });
    k.loop(item.rows, [&](Value row) { storeResult(head, row); });
  });
}

void VectorAttention::emitStretch(const AttentionHead &head, Value begin,
                                  Value end) {
  Stretch stretch;
  stretch.begin = begin;
  stretch.count = k.min(k.subtract(end, begin), k.constant(scratch.kStretch));
  stretch.firstBlock = k.divide(begin, cache.blockTokens);
  Value first = k.visible(head.item, k.constant(0), op.getMask());
  auto inside = [&](Value position) {
    return k.max(k.min(k.subtract(position, begin), stretch.count),
                 k.constant(0));
  };
  stretch.common = inside(first);
  stretch.first = stretch.commonBegin = k.constant(0);
  if (op.getWindow()) {
    auto firstOf = [&](Value row) {
      return inside(k.firstVisible(head.item, row, *op.getWindow()));
    };
    stretch.first = firstOf(k.constant(0));
    stretch.commonBegin = firstOf(k.subtract(head.item.rows, k.constant(1)));
    stretch.common = k.max(stretch.common, stretch.commonBegin);
  }
  switchRows(tileRows,
             [&](int64_t rows) { tiles.emitScores(head, stretch, rows); });
  k.loop(head.item.rows, [&](Value row) { emitSoftmax(head, stretch, row); });
  switchRows(tileRows,
             [&](int64_t rows) { tiles.emitSums(head, stretch, rows); });
}

void VectorAttention::loadQuery(const AttentionHead &head, Value row) {
  Value last = k.subtract(head.item.rows, k.constant(1));
  Value token = tokenOf(head, k.min(row, last));
  Value place = k.scale(row, scratch.rowStride);
  for (const Piece &piece : cutColumns(cache.headDim, lanes)) {
    VectorType type = f32Vector(k, piece.width);
    Value query = vector::LoadOp::create(
        b, type, op.getQuery(), ValueRange{token, k.add(column, piece.offset)});
    Value scale = vector::BroadcastOp::create(b, type, op.getScale());
    tiles.storeScratch(arith::MulFOp::create(b, query, scale),
                       k.add(place, scratch.queries + piece.offset));
    Value zero = vector::BroadcastOp::create(b, type, k.number(0));
    tiles.storeScratch(zero, k.add(place, scratch.sums + piece.offset));
  }
  // Finite, so that the first difference is no NaN.
  tiles.storeScratch(k.number(std::numeric_limits<float>::lowest()),
                     cell(scratch.maxima, row));
  tiles.storeScratch(k.number(0), cell(scratch.totals, row));
}

void VectorAttention::loadBias(Value number) {
  int64_t distances = transformer::widthOf(op.getBias()), last = distances - 1;
  int64_t whole = distances / lanes * lanes;
  Value begin = k.constant(scratch.biases + scratch.kMargin);
  auto copy = [&](Value distance, int64_t width) {
    Value own = vector::LoadOp::create(b, f32Vector(k, width), op.getBias(),
                                       ValueRange{number, distance});
    tiles.storeScratch(own, k.add(begin, distance));
  };
  k.loop(k.constant(0), k.constant(whole), lanes,
         [&](Value distance) { copy(distance, lanes); });
  for (const Piece &piece : cutColumns(distances - whole, lanes)) {
    copy(k.constant(whole + piece.offset), piece.width);
  }
  auto fill = [&](int64_t distance, int64_t place) {
    Value own = memref::LoadOp::create(
        b, op.getBias(), ValueRange{number, k.constant(distance)});
    for (int64_t u = 0; u < scratch.kMargin; u += lanes) {
      tiles.storeScratch(broadcast(own), k.constant(place + u));
    }
  };
  fill(0, scratch.biases);
  fill(last, scratch.biases + scratch.kMargin + distances);
}

/// Consecutive positions have consecutive distances: one load. Beyond the ends,
/// where all distances count alike, it is from the margins.
Value VectorAttention::biasAt(const AttentionHead &head, const Stretch &stretch,
                              Value row, Value column) {
  int64_t distances = transformer::widthOf(op.getBias());
  Value distance =
      k.subtract(k.add(stretch.begin, column), k.position(head.item, row));
  Value place = k.add(distance, scratch.kMargin + distances / 2);
  place = k.min(k.max(place, k.constant(0)),
                k.constant(scratch.kMargin + distances - 1));
  return tiles.loadScratch(k.add(place, scratch.biases), lanes);
}

void VectorAttention::storeResult(const AttentionHead &head, Value row) {
  Value total = tiles.loadScratch(cell(scratch.totals, row));
  Value inverse = arith::DivFOp::create(b, k.number(1), total);
  Value token = tokenOf(head, row);
  Value place = k.add(k.scale(row, scratch.rowStride), scratch.sums);
  for (const Piece &piece : cutColumns(cache.headDim, lanes)) {
    Value sum = tiles.loadScratch(k.add(place, piece.offset), piece.width);
    Value factor =
        vector::BroadcastOp::create(b, f32Vector(k, piece.width), inverse);
    Value mean = arith::MulFOp::create(b, sum, factor);
    vector::StoreOp::create(b, mean, op.getInit(),
                            ValueRange{token, k.add(column, piece.offset)});
  }
}

/// Makes the row's scores of the stretch weights, and updates what it keeps.
/// Scores that it does not see may be anything: they are replaced before any
/// arithmetic, and their weights become zero.
void VectorAttention::emitSoftmax(const AttentionHead &head,
                                  const Stretch &stretch, Value row) {
  Value zero = k.constant(0);
  Value end =
      k.subtract(k.visible(head.item, row, op.getMask()), stretch.begin);
  end = k.max(k.min(end, stretch.count), zero);
  Value whole = k.scale(k.divide(end, kChunk), kChunk);
  // With a window, what is seen begins at `begin`, and whole chunks at
  // `firstWhole`. Chunks lie at fixed positions, as stretches do.
  Value begin, firstChunk, firstWhole = zero;
  if (op.getWindow()) {
    begin = k.subtract(k.firstVisible(head.item, row, *op.getWindow()),
                       stretch.begin);
    begin = k.max(k.min(begin, end), zero);
    firstChunk = k.scale(k.divide(begin, kChunk), kChunk);
    firstWhole = k.scale(k.roundUpDivide(begin, kChunk), kChunk);
    whole = k.max(whole, firstWhole);
  }
  Value place = k.add(k.scale(row, scratch.kScoreStride), scratch.scores);

  Value lowest = broadcast(k.number(std::numeric_limits<float>::lowest()));
  auto maximum = [&](Value column, ValueRange carried, bool isPartial) {
    Values scores = loadScores(k.add(place, column)), masks;
    if (isPartial) {
      masks = maskScores(column, begin, end);
    }
    for (auto [u, score] : llvm::enumerate(scores)) {
      if (op.getBias()) {
        Value own = k.add(column, u * lanes);
        score =
            arith::AddFOp::create(b, score, biasAt(head, stretch, row, own));
        tiles.storeScratch(score, k.add(place, own));
      }
      if (isPartial) {
        score = arith::SelectOp::create(b, masks[u], score, lowest);
      }
      score = larger(score, carried[u]);
    }
    return scores;
  };
  auto inChunks = [&](Value init, auto body) {
    Values carried(numVectors, init);
    if (begin) {
      carried = k.loop(firstChunk, begin, kChunk, carried,
                       [&](Value column, ValueRange carried) {
                         return body(column, carried, /*isPartial=*/true);
                       });
    }
    carried = k.loop(firstWhole, whole, kChunk, carried,
                     [&](Value column, ValueRange carried) {
                       return body(column, carried, /*isPartial=*/false);
                     });
    return k.loop(whole, end, kChunk, carried,
                  [&](Value column, ValueRange carried) {
                    return body(column, carried, /*isPartial=*/true);
                  });
  };
  Value old = tiles.loadScratch(cell(scratch.maxima, row));
  Value highest = fold(inChunks(lowest, maximum),
                       [&](Value x, Value y) { return larger(x, y); });
  highest = larger(highest, old);
  Value highestVector = broadcast(highest), none = broadcast(k.number(0));
  auto exponential = [&](Value column, ValueRange carried, bool isPartial) {
    Values scores = loadScores(k.add(place, column)), masks, totals;
    if (isPartial) {
      masks = maskScores(column, begin, end);
    }
    for (auto [u, score] : llvm::enumerate(scores)) {
      if (isPartial) {
        score = arith::SelectOp::create(b, masks[u], score, highestVector);
      }
      Value weight = math::ExpOp::create(
          b, arith::SubFOp::create(b, score, highestVector));
      if (isPartial) {
        weight = arith::SelectOp::create(b, masks[u], weight, none);
      }
      tiles.storeScratch(weight, k.add(k.add(place, column), u * lanes));
      totals.push_back(arith::AddFOp::create(b, carried[u], weight));
    }
    return totals;
  };
  Value total = fold(inChunks(none, exponential), [&](Value x, Value y) {
    return Value(arith::AddFOp::create(b, x, y));
  });
  Value decay = math::ExpOp::create(b, arith::SubFOp::create(b, old, highest));
  Value before = tiles.loadScratch(cell(scratch.totals, row));
  tiles.storeScratch(highest, cell(scratch.maxima, row));
  tiles.storeScratch(decay, cell(scratch.decays, row));
  tiles.storeScratch(math::FmaOp::create(b, before, decay, total),
                     cell(scratch.totals, row));
}

Values VectorAttention::loadScores(Value place) {
  Values scores;
  for (int64_t u = 0; u < numVectors; ++u) {
    scores.push_back(tiles.loadScratch(k.add(place, u * lanes), lanes));
  }
  return scores;
}

Values VectorAttention::maskScores(Value column, Value begin, Value end) {
  auto type = VectorType::get(lanes, b.getI32Type());
  auto fromColumn = [&](Value position) -> Value {
    Value left = arith::IndexCastOp::create(b, b.getI32Type(),
                                            k.subtract(position, column));
    return vector::BroadcastOp::create(b, type, left);
  };
  Value limit = fromColumn(end), first = begin ? fromColumn(begin) : Value();
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

Value VectorAttention::fold(Values vectors,
                            function_ref<Value(Value, Value)> combine) {
  while (vectors.size() > 1) {
    size_t half = vectors.size() / 2;
    for (size_t u = 0; u < half; ++u) {
      vectors[u] = combine(vectors[u], vectors[u + half]);
    }
    vectors.truncate(half);
  }
  Value vector = vectors.front();
  for (int64_t width = lanes / 2; width > 0; width /= 2) {
    SmallVector<int64_t> low(width), high(width);
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), width);
    vector = combine(vector::ShuffleOp::create(b, vector, vector, low),
                     vector::ShuffleOp::create(b, vector, vector, high));
  }
  return vector::ExtractOp::create(b, vector, 0);
}

Value VectorAttention::broadcast(Value number) {
  return vector::BroadcastOp::create(b, f32Vector(k, lanes), number);
}

/// Of y when they cannot be compared; one instruction, unlike maximumf.
Value VectorAttention::larger(Value x, Value y) {
  Value isLarger = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y);
  return arith::SelectOp::create(b, isLarger, x, y);
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

void tfc::emitAttention(transformer::PagedAttentionOp op, Value step,
                        Value workers, int64_t lanes, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  VectorAttention(op, step, workers, lanes, rewriter).emit();
  rewriter.eraseOp(op);
}
