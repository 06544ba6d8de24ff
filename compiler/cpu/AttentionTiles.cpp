// The two products of vector attention, q . K and p . V, in tiles of a static
// number of queries whose sums stay in registers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/AttentionTiles.h"

#include "compiler/cpu/MovingPointer.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

/// Bytes that the cache fetches at once.
static constexpr int64_t kLine = 64;

/// Numbers that a turn multiplies by where they are lanes of a vector.
static constexpr int64_t kQuad = 4;

/// Groups of keys in a block.
static constexpr int64_t kGroups =
    VectorCache::kBlockTokens / VectorCache::kGroup;
/// With more rows a tile computes for longer than the next block takes to come.
static constexpr int64_t kMaxPrefetchRows = 4;

AttentionScratch::AttentionScratch(const Needs &needs)
    : rowStride(llvm::alignTo(needs.headDim, 16)) {
  int64_t rows = needs.rows;
  sums = queries + rows * rowStride;
  scores = sums + rows * rowStride;
  maxima = scores + rows * kScoreStride;
  totals = maxima + rows;
  decays = totals + rows;
  table = llvm::alignTo(decays + rows, 16);
  relative = llvm::alignTo(table + needs.tableSize, 16);
  size = llvm::alignTo(relative + needs.relativeSize, 16);
  weights = scores;
  if (needs.keepsWeights) {
    weights = size;
    size += rows * kScoreStride;
  }
  packed = configuration = size;
  if (needs.packs) {
    // Two of bf16 are a float.
    configuration += kStretch * llvm::alignTo(needs.headDim, 32) / 2;
    size = configuration + 16;
  }
}

Value AttentionHead::queryOf(KernelBuilder &k, Value row) const {
  return areHeads ? Value(arith::SelectOp::create(k.builder(), areHeads,
                                                  k.constant(0), row))
                  : row;
}

Value AttentionHead::headOf(KernelBuilder &k, Value row) const {
  return areHeads ? Value(arith::SelectOp::create(k.builder(), areHeads, row,
                                                  k.constant(0)))
                  : k.constant(0);
}

AttentionTiles::AttentionTiles(KernelBuilder &k, const VectorCache &cache,
                               AttentionScratch &scratch, AttentionScore &score,
                               transformer::PagedAttentionOp op,
                               const Registers &registers)
    : k(k), b(k.builder()), cache(cache), scratch(scratch), score(score),
      op(op), lanes(registers.lanes), byLane(registers.byLane),
      maxRows(lanes == 16 ? 8 : 4) {}

/// A sum for each row and vector, the vectors themselves and a broadcast fill
/// the registers: 32 with AVX-512, 16 without. Where factors are lanes, those
/// of a row are half of a vector, of which two registers are one.
int64_t AttentionTiles::maxVectors(int64_t rows) const {
  int64_t registers = lanes == 16 ? 32 : 16;
  int64_t factors = byLane ? llvm::divideCeil(rows, 2) : 1;
  return (registers - factors) / (rows + 1);
}

AttentionTiles::Factors AttentionTiles::loadFactors(Value place, int64_t stride,
                                                    int64_t rows,
                                                    int64_t count) {
  Factors factors{place, stride, {}};
  for (int64_t row = 0; byLane && count > 1 && row < rows; ++row) {
    factors.vectors.push_back(loadScratch(k.add(place, row * stride), count));
  }
  return factors;
}

Value AttentionTiles::factorOf(const Factors &factors, int64_t row,
                               int64_t number, int64_t width) {
  Value factor =
      factors.vectors.empty()
          ? loadScratch(k.add(factors.place, row * factors.stride + number))
          : vector::ExtractOp::create(b, factors.vectors[row], number)
                .getResult();
  return broadcast(factor, width);
}

Value AttentionTiles::loadScratch(Value offset) {
  return memref::LoadOp::create(b, scratch.memory,
                                ValueRange{scratch.worker, offset});
}

Value AttentionTiles::loadScratch(Value offset, int64_t width) {
  return vector::LoadOp::create(b, f32Vector(k, width), scratch.memory,
                                ValueRange{scratch.worker, offset});
}

void AttentionTiles::storeScratch(Value value, Value offset) {
  Value place[] = {scratch.worker, offset};
  if (isa<VectorType>(value.getType())) {
    vector::StoreOp::create(b, value, scratch.memory, place);
  } else {
    memref::StoreOp::create(b, value, scratch.memory, place);
  }
}

Value AttentionTiles::broadcast(Value number, int64_t width) {
  return vector::BroadcastOp::create(b, f32Vector(k, width), number);
}

/// Into the second level: the first has what this tile needs.
void AttentionTiles::prefetch(Value address) {
  LLVM::Prefetch::create(b, address, /*rw=*/0, /*hint=*/2, /*cache=*/1);
}

Value AttentionTiles::blockOf(const AttentionHead &head, const Stretch &stretch,
                              Value block) {
  return k.blockAddress(cache, head.item, k.add(stretch.firstBlock, block),
                        op.getLayer());
}

void AttentionTiles::forEachTile(int64_t rows, int64_t tileRows,
                                 function_ref<void(Value)> body) {
  if (rows == tileRows) {
    body(k.constant(0));
  } else {
    k.loop(k.constant(0), k.constant(rows), tileRows, body);
  }
}

void AttentionTiles::emitScores(const AttentionHead &head,
                                const Stretch &stretch, int64_t rows) {
  int64_t tileRows = std::min(rows, maxRows);
  int64_t groups = kGroups;
  while (groups * VectorCache::kGroup > maxVectors(tileRows) * lanes) {
    groups /= 2;
  }
  int64_t width = groups * VectorCache::kGroup;
  Value blocks = k.roundUpDivide(stretch.count, cache.blockTokens);
  Value firstBlock = k.divide(stretch.first, cache.blockTokens);
  k.loop(firstBlock, blocks, 1, [&](Value block) {
    Value keys = cache.keys(k, blockOf(head, stretch, block), head.kvHead);
    Value next;
    if (rows <= kMaxPrefetchRows) {
      // The values of the first block are read after the keys of the last.
      Value isInner = k.isLess(k.add(block, 1), blocks);
      Value first =
          arith::SelectOp::create(b, isInner, k.add(block, 1), firstBlock);
      Value address = blockOf(head, stretch, first);
      next = arith::SelectOp::create(b, isInner,
                                     cache.keys(k, address, head.kvHead),
                                     cache.values(k, address, head.kvHead));
      prefetchValueScales(head, stretch, block);
    }
    Value first = k.scale(block, cache.blockTokens);
    Value left =
        k.min(k.subtract(stretch.count, first), k.constant(cache.blockTokens));
    k.loop(k.roundUpDivide(left, width), [&](Value chunk) {
      ScoreTile tile;
      tile.rows = tileRows;
      tile.groups = groups;
      int64_t bytes = groups * cache.groupBytes;
      tile.keys = buildAddress(b, keys, chunk, bytes);
      tile.next = next ? buildAddress(b, next, chunk, bytes) : Value();
      tile.column = k.add(first, k.scale(chunk, width));
      forEachTile(rows, tileRows, [&](Value row) {
        tile.row = row;
        emitScoreTile(tile);
      });
    });
  });
}

void AttentionTiles::emitScoreTile(const ScoreTile &tile) {
  int64_t perGroup = VectorCache::kGroup / lanes;
  int64_t vectors = tile.groups * perGroup;
  Value zero = broadcast(k.number(0), lanes);
  Values inits(tile.rows * vectors, zero);
  int64_t unroll = byLane && cache.headDim % kQuad == 0 ? kQuad
                   : cache.headDim % 2 == 0             ? 2
                                                        : 1;
  MovingPointer pointers[] = {{tile.keys, unroll * cache.lineBytes},
                              {tile.next, unroll * cache.lineBytes}};
  Value first = k.scale(tile.row, scratch.rowStride);
  if (tile.next && cache.isQuantized()) {
    for (int64_t group = 0; group < tile.groups; ++group) {
      prefetch(cache.keyScales(
          k, buildAddress(b, tile.next, group * cache.groupBytes)));
    }
  }
  Values sums = loopMoving(
      k, first, k.add(first, cache.headDim), unroll, pointers, inits,
      [&](Value query, ValueRange carried) {
        Values sums(carried);
        Factors queries = loadFactors(k.add(query, scratch.queries),
                                      scratch.rowStride, tile.rows, unroll);
        for (int64_t u = 0; u < unroll; ++u) {
          sums = emitScoreColumn(tile, pointers[0].pointer, pointers[1].pointer,
                                 queries, u, std::move(sums));
        }
        return sums;
      });
  Values scales = loadKeyScales(tile);
  Value row = k.add(tile.column, k.scale(tile.row, scratch.kScoreStride));
  for (int64_t i = 0; i < tile.rows; ++i) {
    for (int64_t v = 0; v < vectors; ++v) {
      Value sum = sums[i * vectors + v];
      if (!scales.empty()) {
        sum = arith::MulFOp::create(b, sum, scales[v]);
      }
      storeScratch(sum, k.add(row, scratch.scores + i * scratch.kScoreStride +
                                       v * lanes));
    }
  }
}

Values AttentionTiles::loadKeyScales(const ScoreTile &tile) {
  Values scales;
  if (!cache.isQuantized()) {
    return scales;
  }
  for (int64_t group = 0; group < tile.groups; ++group) {
    Value first = cache.keyScales(
        k, buildAddress(b, tile.keys, group * cache.groupBytes));
    for (int64_t lane = 0; lane < VectorCache::kGroup; lane += lanes) {
      scales.push_back(loadVector(
          k, buildAddress(b, first, lane * cache.scaleBytes), lanes));
    }
  }
  return scales;
}

/// Those of the block are read when its keys are done with.
void AttentionTiles::prefetchValueScales(const AttentionHead &head,
                                         const Stretch &stretch, Value block) {
  if (!cache.isQuantized()) {
    return;
  }
  Value values = cache.values(k, blockOf(head, stretch, block), head.kvHead);
  Value scales = cache.valueScales(k, values);
  int64_t bytes = VectorCache::kBlockTokens * cache.scaleBytes;
  for (int64_t offset = 0; offset < bytes; offset += kLine) {
    prefetch(buildAddress(b, scales, offset));
  }
}

void AttentionTiles::scaleWeights(const AttentionHead &head,
                                  const Stretch &stretch, Value rows) {
  if (!cache.isQuantized()) {
    return;
  }
  Value blocks = k.roundUpDivide(stretch.count, cache.blockTokens);
  Value firstBlock = k.divide(stretch.first, cache.blockTokens);
  k.loop(firstBlock, blocks, 1, [&](Value block) {
    Value values = cache.values(k, blockOf(head, stretch, block), head.kvHead);
    Value scales = cache.valueScales(k, values);
    Value first = k.scale(block, cache.blockTokens);
    k.loop(
        k.constant(0), k.constant(cache.blockTokens), lanes, [&](Value slot) {
          Value factors = loadVector(
              k, buildAddress(b, scales, slot, cache.scaleBytes), lanes);
          k.loop(rows, [&](Value row) {
            Value place =
                k.add(k.scale(row, scratch.kScoreStride), k.add(first, slot));
            Value at = k.add(place, scratch.scores);
            Value weights = loadScratch(at, lanes);
            if (scratch.weights != scratch.scores) {
              storeScratch(weights, k.add(place, scratch.weights));
            }
            storeScratch(arith::MulFOp::create(b, weights, factors), at);
          });
        });
  });
}

Values AttentionTiles::emitScoreColumn(const ScoreTile &tile, Value line,
                                       Value next, const Factors &queries,
                                       int64_t column, Values sums) {
  int64_t perGroup = VectorCache::kGroup / lanes;
  int64_t vectors = tile.groups * perGroup;
  int64_t place = column * cache.lineBytes;
  Values keys;
  for (int64_t v = 0; v < vectors; ++v) {
    int64_t offset = v / perGroup * cache.groupBytes +
                     v % perGroup * lanes * cache.elementBytes;
    keys.push_back(cache.load(k, buildAddress(b, line, place + offset),
                              f32Vector(k, lanes)));
  }
  // A line of the memory has several columns of narrow elements.
  bool asks = next && place % kLine == 0;
  for (int64_t group = 0; asks && group < tile.groups; ++group) {
    prefetch(buildAddress(b, next, place + group * cache.groupBytes));
  }
  for (int64_t i = 0; i < tile.rows; ++i) {
    Value q = factorOf(queries, i, column, lanes);
    for (int64_t v = 0; v < vectors; ++v) {
      Value &sum = sums[i * vectors + v];
      sum = vector::FMAOp::create(b, q, keys[v], sum);
    }
  }
  return sums;
}

void AttentionTiles::forEachPass(
    int64_t tileRows, function_ref<void(Value, ArrayRef<ColumnPiece>)> body) {
  // As few passes over the values as the registers allow, of equal size.
  int64_t all = cutColumns(cache.headDim, lanes).size();
  int64_t passes = llvm::divideCeil(all, maxVectors(tileRows));
  int64_t vectors = llvm::divideCeil(all, passes);
  int64_t width = vectors * lanes;
  int64_t whole = cache.headDim / width * width;
  SmallVector<ColumnPiece> full = cutColumns(width, lanes);
  SmallVector<ColumnPiece> rest = cutColumns(cache.headDim - whole, lanes);
  if (whole > 0) {
    k.loop(k.constant(0), k.constant(whole), width,
           [&](Value column) { body(column, full); });
  }
  for (ArrayRef<ColumnPiece> left = rest; !left.empty();
       left = left.drop_front(std::min<size_t>(vectors, left.size()))) {
    body(k.constant(whole), left.take_front(vectors));
  }
}

void AttentionTiles::emitSums(const AttentionHead &head, const Stretch &stretch,
                              int64_t rows) {
  int64_t tileRows = std::min(rows, maxRows);
  forEachTile(rows, tileRows, [&](Value row) {
    forEachPass(tileRows, [&](Value column, ArrayRef<ColumnPiece> pieces) {
      SumTile tile = {tileRows, row, column, pieces};
      Values sums = loadSums(tile, /*decay=*/!score.hasFirst());
      storeSums(tile, sumCommon(head, stretch, tile, sums));
    });
  });
}

void AttentionTiles::emitFirstSums(const AttentionHead &head,
                                   const Stretch &stretch, Value row) {
  Value query = head.queryOf(k, row);
  Value begin = k.subtract(score.first(head.item, query), stretch.begin);
  Value end = k.subtract(score.end(head.item, query), stretch.begin);
  Value from = k.max(begin, stretch.first);
  Value to = k.min(end, stretch.commonBegin);
  forEachPass(1, [&](Value column, ArrayRef<ColumnPiece> pieces) {
    SumTile tile = {1, row, column, pieces};
    Values sums = loadSums(tile, /*decay=*/true);
    storeSums(tile, sumRow(head, stretch, tile, from, to, sums));
  });
}

void AttentionTiles::emitLastSums(const AttentionHead &head,
                                  const Stretch &stretch, Value row) {
  Value end = k.subtract(score.end(head.item, row), stretch.begin);
  Value from = stretch.common;
  if (score.hasFirst()) {
    Value begin = score.first(head.item, row);
    from = k.max(from, k.subtract(begin, stretch.begin));
  }
  Value to = k.min(end, stretch.count);
  forEachPass(1, [&](Value column, ArrayRef<ColumnPiece> pieces) {
    SumTile tile = {1, row, column, pieces};
    Values sums = loadSums(tile, /*decay=*/false);
    storeSums(tile, sumRow(head, stretch, tile, from, to, sums));
  });
}

Value AttentionTiles::sumsOf(const SumTile &tile) {
  return k.add(tile.column, k.scale(tile.row, scratch.rowStride));
}

Values AttentionTiles::loadSums(const SumTile &tile, bool decay) {
  Values sums;
  Value first = sumsOf(tile);
  for (int64_t i = 0; i < tile.rows; ++i) {
    Value factor;
    if (decay) {
      factor = loadScratch(k.add(tile.row, scratch.decays + i));
    }
    for (const ColumnPiece &piece : tile.pieces) {
      int64_t place = scratch.sums + i * scratch.rowStride + piece.offset;
      Value sum = loadScratch(k.add(first, place), piece.width);
      sums.push_back(decay ? Value(arith::MulFOp::create(
                                 b, sum, broadcast(factor, piece.width)))
                           : sum);
    }
  }
  return sums;
}

void AttentionTiles::storeSums(const SumTile &tile, ValueRange sums) {
  size_t next = 0;
  Value first = sumsOf(tile);
  for (int64_t i = 0; i < tile.rows; ++i) {
    for (const ColumnPiece &piece : tile.pieces) {
      int64_t place = scratch.sums + i * scratch.rowStride + piece.offset;
      storeScratch(sums[next++], k.add(first, place));
    }
  }
}

Value AttentionTiles::scoresOf(const SumTile &tile) {
  return k.scale(tile.row, scratch.kScoreStride);
}

Values AttentionTiles::addWeighted(const SumTile &tile, Value values,
                                   const Factors &weights, int64_t number,
                                   ValueRange sums) {
  Values vectors, next;
  for (const ColumnPiece &piece : tile.pieces) {
    int64_t offset = piece.offset * cache.elementBytes;
    vectors.push_back(cache.load(k, buildAddress(b, values, offset),
                                 f32Vector(k, piece.width)));
  }
  for (int64_t i = 0; i < tile.rows; ++i) {
    for (auto [piece, vector] : llvm::zip(tile.pieces, vectors)) {
      next.push_back(
          vector::FMAOp::create(b, factorOf(weights, i, number, piece.width),
                                vector, sums[next.size()]));
    }
  }
  return next;
}

Values AttentionTiles::sumSlots(const SumTile &tile, Value values, Value next,
                                Value place, Value from, Value to, int64_t step,
                                ValueRange sums) {
  auto rowOf = [&](Value values) {
    return values ? buildAddress(b, values, from, cache.valueBytes) : Value();
  };
  MovingPointer pointers[] = {{rowOf(values), step * cache.valueBytes},
                              {rowOf(next), step * cache.valueBytes}};
  return loopMoving(
      k, k.add(place, from), k.add(place, to), step, pointers, sums,
      [&](Value place, ValueRange carried) {
        Values sums(carried);
        Factors weights = loadFactors(k.add(place, scratch.scores),
                                      scratch.kScoreStride, tile.rows, step);
        for (int64_t u = 0; u < step; ++u) {
          auto slotOf = [&](const MovingPointer &first) {
            return buildAddress(b, first.pointer, u * cache.valueBytes);
          };
          if (pointers[1].pointer) {
            prefetchValues(tile, slotOf(pointers[1]));
          }
          sums = addWeighted(tile, slotOf(pointers[0]), weights, u, sums);
        }
        return sums;
      });
}

/// The positions that all rows see.
Values AttentionTiles::sumCommon(const AttentionHead &head,
                                 const Stretch &stretch, const SumTile &tile,
                                 ValueRange sums) {
  Value firstBlock = k.divide(stretch.commonBegin, cache.blockTokens);
  Value blocks = k.roundUpDivide(stretch.common, cache.blockTokens);
  auto columns = [&](Value block) {
    Value values = cache.values(k, blockOf(head, stretch, block), head.kvHead);
    return buildAddress(b, values, tile.column, cache.elementBytes);
  };
  return k.loop(firstBlock, blocks, 1, sums, [&](Value block, ValueRange sums) {
    Value values = columns(block), next;
    if (tile.rows <= kMaxPrefetchRows) {
      Value last = k.subtract(blocks, k.constant(1));
      next = columns(k.min(k.add(block, 1), last));
    }
    Value first = k.scale(block, cache.blockTokens);
    Value left =
        k.min(k.subtract(stretch.common, first), k.constant(cache.blockTokens));
    Value slot = k.constant(0);
    if (score.hasFirst()) {
      slot = k.max(k.subtract(stretch.commonBegin, first), slot);
    }
    Value place = k.add(scoresOf(tile), first);
    if (!byLane) {
      return sumSlots(tile, values, next, place, slot, left, 1, sums);
    }
    Value count = k.max(k.subtract(left, slot), k.constant(0));
    Value whole = k.add(slot, k.scale(k.divide(count, kQuad), kQuad));
    Values quads =
        sumSlots(tile, values, next, place, slot, whole, kQuad, sums);
    return sumSlots(tile, values, next, place, whole, left, 1, quads);
  });
}

void AttentionTiles::prefetchValues(const SumTile &tile, Value row) {
  const ColumnPiece &end = tile.pieces.back();
  int64_t bytes = (end.offset + end.width) * cache.elementBytes;
  for (int64_t offset = 0; offset < bytes; offset += kLine) {
    prefetch(buildAddress(b, row, offset));
  }
}

Values AttentionTiles::sumRow(const AttentionHead &head, const Stretch &stretch,
                              const SumTile &tile, Value from, Value to,
                              ValueRange sums) {
  return k.loop(from, to, 1, sums, [&](Value position, ValueRange sums) {
    Value block = k.divide(position, cache.blockTokens);
    Value slot = k.remainder(position, cache.blockTokens);
    Value values = cache.values(k, blockOf(head, stretch, block), head.kvHead);
    values = buildAddress(b, values, tile.column, cache.elementBytes);
    values = buildAddress(b, values, slot, cache.valueBytes);
    Value place = k.add(scoresOf(tile), position);
    Factors weights = loadFactors(k.add(place, scratch.scores),
                                  scratch.kScoreStride, tile.rows, 1);
    return addWeighted(tile, values, weights, 0, sums);
  });
}
