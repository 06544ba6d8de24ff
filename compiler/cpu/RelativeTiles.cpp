// The terms of distances of vector attention.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/RelativeTiles.h"

#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

/// Rows of a table that a window takes at a time: as many sums as keep the
/// units of products busy.
static constexpr int64_t kRows = 8;
static constexpr int64_t kGroup = VectorCache::kGroup;

/// The most distances of a window, rounded up to whole tiles.
static int64_t distancesOf(int64_t keys, int64_t queryRows) {
  return llvm::alignTo(keys + queryRows - 1, kRows);
}

/// The products of queries of a stretch, and behind them the queries by
/// columns; then, in the place of both, those of a group of keys.
static int64_t sizeOfQueries(int64_t queryRows) {
  return distancesOf(AttentionScratch::kStretch, queryRows) * queryRows;
}

int64_t RelativeTiles::sizeOf(transformer::PagedAttentionOp op, int64_t headDim,
                              int64_t queryRows) {
  if (!AttentionScore::isRelative(op)) {
    return 0;
  }
  return sizeOfQueries(queryRows) + headDim * queryRows +
         distancesOf(kGroup, queryRows) * kGroup;
}

void RelativeTiles::beginHead(const AttentionHead &head, Value column) {
  if (!score.keyTable()) {
    return;
  }
  int64_t begin = scratch.relative + sizeOfQueries(cache.queryRows);
  Value last = k.subtract(head.item.rows, k.constant(1));
  k.loop(k.constant(cache.queryRows), [&](Value row) {
    Value own = k.min(row, last);
    Value from = k.scale(own, scratch.rowStride);
    Value token = k.add(head.item.firstToken, k.add(head.item.firstRow, own));
    k.loop(k.constant(cache.headDim), [&](Value d) {
      Value q = score.hasRelativeBias()
                    ? Value(arith::MulFOp::create(
                          b, score.tableQuery(token, k.add(column, d)),
                          score.scale(head.item, own)))
                    : tiles.loadScratch(k.add(k.add(from, d), scratch.queries));
      Value place = k.add(k.scale(d, cache.queryRows), row);
      tiles.storeScratch(q, k.add(place, begin));
    });
  });
}

void RelativeTiles::addTerms(const AttentionHead &head, const Stretch &stretch,
                             Value column) {
  if (Value table = score.keyTable()) {
    addQueries(head, stretch, score.tableColumn(table, column));
  }
  if (Value table = score.queryTable()) {
    addKeys(head, stretch, score.tableColumn(table, column));
  }
}

void RelativeTiles::addValues(const AttentionHead &head, const Stretch &stretch,
                              Value row, Value column) {
  Value table = score.valueTable();
  if (!table) {
    return;
  }
  column = score.tableColumn(table, column);
  auto inside = [&](Value position) {
    return k.max(k.min(k.subtract(position, stretch.begin), stretch.count),
                 k.constant(0));
  };
  Value from = k.constant(0);
  if (score.hasFirst()) {
    from = inside(score.first(head.item, row));
  }
  Value to = inside(score.end(head.item, row));
  Value sumsAt = k.add(k.scale(row, scratch.rowStride), scratch.sums);
  Value weights = k.add(k.scale(row, scratch.kScoreStride), scratch.weights);
  Value behind = k.subtract(stretch.begin, positionOf(head, row));
  SmallVector<ColumnPiece> all = cutColumns(cache.headDim, lanes);
  for (ArrayRef<ColumnPiece> left = all; !left.empty();
       left = left.drop_front(std::min<size_t>(kRows, left.size()))) {
    ArrayRef<ColumnPiece> pieces = left.take_front(kRows);
    Values sums;
    for (const ColumnPiece &piece : pieces) {
      sums.push_back(
          tiles.loadScratch(k.add(sumsAt, piece.offset), piece.width));
    }
    sums = k.loop(from, to, 1, sums, [&](Value j, ValueRange carried) {
      Value place = score.tableRow(k.add(behind, j));
      Value weight = tiles.loadScratch(k.add(weights, j));
      Values next;
      for (auto [piece, sum] : llvm::zip(pieces, carried)) {
        VectorType type = f32Vector(k, piece.width);
        Value own = vector::LoadOp::create(
            b, type, table, ValueRange{place, k.add(column, piece.offset)});
        next.push_back(vector::FMAOp::create(
            b, vector::BroadcastOp::create(b, type, weight), own, sum));
      }
      return next;
    });
    for (auto [piece, sum] : llvm::zip(pieces, sums)) {
      tiles.storeScratch(sum, k.add(sumsAt, piece.offset));
    }
  }
}

void RelativeTiles::emitWindow(const Window &window, int64_t width) {
  VectorType type = f32Vector(k, width);
  Value zero = vector::BroadcastOp::create(b, type, k.number(0));
  Value last = k.subtract(window.count, k.constant(1));
  k.loop(k.constant(0), window.count, kRows, [&](Value x) {
    Values rows;
    for (int64_t u = 0; u < kRows; ++u) {
      Value distance = k.add(window.first, k.min(k.add(x, u), last));
      rows.push_back(score.tableRow(distance));
    }
    Values sums = k.loop(
        k.constant(0), k.constant(cache.headDim), 1, Values(kRows, zero),
        [&](Value d, ValueRange carried) -> Values {
          Value factors = window.lanesAt(d);
          Values next;
          for (auto [row, sum] : llvm::zip(rows, carried)) {
            Value element = memref::LoadOp::create(
                b, window.table, ValueRange{row, k.add(window.column, d)});
            next.push_back(vector::FMAOp::create(
                b, vector::BroadcastOp::create(b, type, element), factors,
                sum));
          }
          return next;
        });
    for (auto [u, sum] : llvm::enumerate(sums)) {
      Value place = k.scale(k.add(x, u), window.stride);
      tiles.storeScratch(sum, k.add(window.out, place));
    }
  });
}

void RelativeTiles::addDiagonal(Value place, Value from, int64_t step,
                                Value factor) {
  SmallVector<int32_t> numbers(lanes);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    numbers[lane] = static_cast<int32_t>(lane * step);
  }
  auto type = VectorType::get(lanes, b.getI32Type());
  Value offsets =
      arith::ConstantOp::create(b, DenseIntElementsAttr::get(type, numbers));
  VectorType floats = f32Vector(k, lanes);
  Value all = arith::ConstantOp::create(
      b, DenseElementsAttr::get(VectorType::get(lanes, b.getI1Type()), true));
  Value none = vector::BroadcastOp::create(b, floats, k.number(0));
  Value terms = vector::GatherOp::create(b, floats, scratch.memory,
                                         ValueRange{scratch.worker, from},
                                         offsets, all, none);
  Value scores = tiles.loadScratch(place, lanes);
  Value sum = factor ? Value(vector::FMAOp::create(
                           b, vector::BroadcastOp::create(b, floats, factor),
                           terms, scores))
                     : Value(arith::AddFOp::create(b, scores, terms));
  tiles.storeScratch(sum, place);
}

/// Queries have their scale already.
void RelativeTiles::addQueries(const AttentionHead &head,
                               const Stretch &stretch, Value column) {
  int64_t rows = cache.queryRows;
  Value firstKey = k.scale(k.divide(stretch.first, kGroup), kGroup);
  Value keys = k.scale(
      k.roundUpDivide(k.subtract(stretch.count, firstKey), kGroup), kGroup);
  Value last = k.subtract(head.item.rows, k.constant(1));
  Value position = k.add(stretch.begin, firstKey);
  for (int64_t lane = 0; lane < rows; lane += queryLanes()) {
    Window window;
    window.table = score.keyTable();
    window.column = column;
    window.first = k.subtract(position, positionOf(head, last));
    window.count = k.add(keys, last);
    window.out = k.constant(scratch.relative + lane);
    window.stride = rows;
    auto lanesAt = [&](Value d) {
      int64_t begin = scratch.relative + sizeOfQueries(rows) + lane;
      return tiles.loadScratch(k.add(k.scale(d, rows), begin), queryLanes());
    };
    window.lanesAt = lanesAt;
    emitWindow(window, queryLanes());
  }
  k.loop(head.item.rows, [&](Value row) {
    // The row's first distance is so many behind the window's.
    Value behind = k.subtract(last, row);
    Value scores = k.add(k.add(k.scale(row, scratch.kScoreStride), firstKey),
                         scratch.scores);
    k.loop(k.constant(0), keys, lanes, [&](Value key) {
      Value from = k.add(k.scale(k.add(behind, key), rows), row);
      addDiagonal(k.add(scores, key), k.add(from, scratch.relative), rows,
                  Value());
    });
  });
}

void RelativeTiles::addKeys(const AttentionHead &head, const Stretch &stretch,
                            Value column) {
  int64_t out = scratch.relative + sizeOfQueries(cache.queryRows) +
                cache.headDim * cache.queryRows;
  Value last = k.subtract(head.item.rows, k.constant(1));
  Value groups = k.roundUpDivide(stretch.count, kGroup);
  int64_t perBlock = cache.blockTokens / kGroup;
  k.loop(k.divide(stretch.first, kGroup), groups, 1, [&](Value group) {
    Value block = tiles.blockOf(head, stretch, k.divide(group, perBlock));
    Value keys = buildAddress(b, cache.keys(k, block, head.kvHead),
                              k.remainder(group, perBlock), cache.groupBytes);
    Value key = k.scale(group, kGroup);
    for (int64_t lane = 0; lane < kGroup; lane += lanes) {
      Window window;
      window.table = score.queryTable();
      window.column = column;
      window.first = k.subtract(k.add(k.add(stretch.begin, key), lane),
                                positionOf(head, last));
      window.count = k.add(last, lanes);
      window.out = k.constant(out);
      window.stride = lanes;
      Value scales;
      if (cache.isQuantized()) {
        scales = loadVector(
            k,
            buildAddress(b, cache.keyScales(k, keys), lane * cache.scaleBytes),
            lanes);
      }
      auto lanesAt = [&](Value d) -> Value {
        Value line = buildAddress(b, keys, d, cache.lineBytes);
        Value column =
            cache.load(k, buildAddress(b, line, lane * cache.elementBytes),
                       f32Vector(k, lanes));
        return scales ? Value(arith::MulFOp::create(b, column, scales))
                      : column;
      };
      window.lanesAt = lanesAt;
      emitWindow(window, lanes);
      k.loop(head.item.rows, [&](Value row) {
        Value place = k.add(k.scale(row, scratch.kScoreStride),
                            k.add(key, scratch.scores + lane));
        Value from = k.scale(k.subtract(last, row), lanes);
        addDiagonal(place, k.add(from, out), lanes + 1,
                    score.scale(head.item, row));
      });
    }
  });
}
