// The two products of vector attention, q . K and p . V, in tiles of a static
// number of queries whose sums stay in registers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/AttentionTiles.h"

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
/// Groups of keys in a block.
static constexpr int64_t kGroups =
    VectorCache::kBlockTokens / VectorCache::kGroup;
/// With more rows a tile computes for longer than the next block takes to come.
static constexpr int64_t kMaxPrefetchRows = 4;

AttentionScratch::AttentionScratch(int64_t headDim, int64_t tableSize)
    : rowStride(llvm::alignTo(headDim, 16)) {
  constexpr int64_t rows = VectorCache::kQueryRows;
  sums = queries + rows * rowStride;
  scores = sums + rows * rowStride;
  maxima = scores + rows * kScoreStride;
  totals = maxima + rows;
  decays = totals + rows;
  table = llvm::alignTo(decays + rows, 16);
  size = llvm::alignTo(table + tableSize, 16);
}

AttentionTiles::AttentionTiles(KernelBuilder &k, const VectorCache &cache,
                               AttentionScratch &scratch, AttentionScore &score,
                               transformer::PagedAttentionOp op, int64_t lanes)
    : k(k), b(k.builder()), cache(cache), scratch(scratch), score(score),
      op(op), lanes(lanes), maxRows(lanes == 16 ? 8 : 4) {}

/// A sum for each row and vector, the vectors themselves and a broadcast fill
/// the registers: 32 with AVX-512, 16 without.
int64_t AttentionTiles::maxVectors(int64_t rows) const {
  int64_t registers = lanes == 16 ? 32 : 16;
  return (registers - 1) / (rows + 1);
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
      for (tile.row = 0; tile.row < rows; tile.row += tileRows) {
        emitScoreTile(tile);
      }
    });
  });
}

void AttentionTiles::emitScoreTile(const ScoreTile &tile) {
  int64_t perGroup = VectorCache::kGroup / lanes;
  int64_t vectors = tile.groups * perGroup;
  Value zero = broadcast(k.number(0), lanes);
  Values inits(tile.rows * vectors, zero);
  int64_t unroll = cache.headDim % 2 == 0 ? 2 : 1;
  Values sums =
      k.loop(k.constant(0), k.constant(cache.headDim), unroll, inits,
             [&](Value start, ValueRange carried) {
               Values sums(carried);
               for (int64_t u = 0; u < unroll; ++u) {
                 Value d = k.add(start, u);
                 Value line = buildAddress(b, tile.keys, d, cache.lineBytes);
                 Values keys;
                 for (int64_t v = 0; v < vectors; ++v) {
                   int64_t offset = v / perGroup * cache.groupBytes +
                                    v % perGroup * lanes * cache.elementBytes;
                   keys.push_back(cache.load(k, buildAddress(b, line, offset),
                                             f32Vector(k, lanes)));
                 }
                 // A line of the memory has several columns of narrow elements.
                 bool asks = tile.next && u * cache.lineBytes % kLine == 0;
                 for (int64_t group = 0; asks && group < tile.groups; ++group) {
                   prefetch(buildAddress(b, tile.next, d, cache.lineBytes,
                                         group * cache.groupBytes));
                 }
                 for (int64_t i = 0; i < tile.rows; ++i) {
                   int64_t place =
                       scratch.queries + (tile.row + i) * scratch.rowStride;
                   Value q = broadcast(loadScratch(k.add(d, place)), lanes);
                   for (int64_t v = 0; v < vectors; ++v) {
                     Value &sum = sums[i * vectors + v];
                     sum = vector::FMAOp::create(b, q, keys[v], sum);
                   }
                 }
               }
               return sums;
             });
  for (int64_t i = 0; i < tile.rows; ++i) {
    int64_t row = scratch.scores + (tile.row + i) * scratch.kScoreStride;
    for (int64_t v = 0; v < vectors; ++v) {
      storeScratch(sums[i * vectors + v], k.add(tile.column, row + v * lanes));
    }
  }
}

void AttentionTiles::emitSums(const AttentionHead &head, const Stretch &stretch,
                              int64_t rows) {
  int64_t tileRows = std::min(rows, maxRows);
  // As few passes over the values as the registers allow, of equal size.
  int64_t all = cutColumns(cache.headDim, lanes).size();
  int64_t passes = llvm::divideCeil(all, maxVectors(tileRows));
  int64_t vectors = llvm::divideCeil(all, passes);
  int64_t width = vectors * lanes;
  int64_t whole = cache.headDim / width * width;
  SmallVector<ColumnPiece> full = cutColumns(width, lanes);
  SmallVector<ColumnPiece> rest = cutColumns(cache.headDim - whole, lanes);
  for (int64_t row = 0; row < rows; row += tileRows) {
    k.loop(k.constant(0), k.constant(whole), width, [&](Value column) {
      emitSumTile(head, stretch, {row, tileRows, column, full});
    });
    for (ArrayRef<ColumnPiece> left = rest; !left.empty();
         left = left.drop_front(std::min<size_t>(vectors, left.size()))) {
      emitSumTile(head, stretch,
                  {row, tileRows, k.constant(whole), left.take_front(vectors)});
    }
  }
}

void AttentionTiles::emitSumTile(const AttentionHead &head,
                                 const Stretch &stretch, const SumTile &tile) {
  Values sums;
  auto forEachSum = [&](function_ref<void(Value, Value, int64_t)> body) {
    for (int64_t i = 0; i < tile.rows; ++i) {
      int64_t row = tile.row + i;
      Value decay = loadScratch(k.constant(scratch.decays + row));
      for (const ColumnPiece &piece : tile.pieces) {
        body(k.add(tile.column,
                   scratch.sums + row * scratch.rowStride + piece.offset),
             decay, piece.width);
      }
    }
  };
  forEachSum([&](Value place, Value decay, int64_t width) {
    sums.push_back(arith::MulFOp::create(b, loadScratch(place, width),
                                         broadcast(decay, width)));
  });
  if (score.hasFirst()) {
    sums =
        sumRest(head, stretch, tile, stretch.first, stretch.commonBegin, sums);
  }
  sums = sumCommon(head, stretch, tile, sums);
  // To the right, all of a bidirectional item's queries see the same.
  if (score.hasOwnEnds()) {
    sums = sumRest(head, stretch, tile, stretch.common, stretch.count, sums);
  }
  auto next = sums.begin();
  forEachSum(
      [&](Value place, Value, int64_t) { storeScratch(*next++, place); });
}

Values AttentionTiles::addWeighted(const SumTile &tile, Value values,
                                   Value position, ValueRange sums) {
  Values vectors, next;
  for (const ColumnPiece &piece : tile.pieces) {
    int64_t offset = piece.offset * cache.elementBytes;
    vectors.push_back(cache.load(k, buildAddress(b, values, offset),
                                 f32Vector(k, piece.width)));
  }
  for (int64_t i = 0; i < tile.rows; ++i) {
    int64_t row = scratch.scores + (tile.row + i) * scratch.kScoreStride;
    Value weight = loadScratch(k.add(position, row));
    for (auto [piece, vector] : llvm::zip(tile.pieces, vectors)) {
      next.push_back(vector::FMAOp::create(b, broadcast(weight, piece.width),
                                           vector, sums[next.size()]));
    }
  }
  return next;
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
    return k.loop(slot, left, 1, sums, [&](Value slot, ValueRange sums) {
      if (next) {
        Value row = buildAddress(b, next, slot, cache.valueBytes);
        const ColumnPiece &end = tile.pieces.back();
        int64_t bytes = (end.offset + end.width) * cache.elementBytes;
        for (int64_t offset = 0; offset < bytes; offset += kLine) {
          prefetch(buildAddress(b, row, offset));
        }
      }
      return addWeighted(tile, buildAddress(b, values, slot, cache.valueBytes),
                         k.add(first, slot), sums);
    });
  });
}

/// Positions that only some of the rows see. What a row does not see may be
/// anything, so its sum is kept, not added to by zero.
Values AttentionTiles::sumRest(const AttentionHead &head,
                               const Stretch &stretch, const SumTile &tile,
                               Value from, Value to, ValueRange sums) {
  // Vectors, because a choice between vectors by a scalar is a branch.
  auto number = [&](Value index, int64_t width) -> Value {
    Type i32 = b.getI32Type();
    return vector::BroadcastOp::create(
        b, VectorType::get(width, i32),
        arith::IndexCastOp::create(b, i32, index));
  };
  Values begins, ends;
  for (int64_t i = 0; i < tile.rows; ++i) {
    Value row = k.constant(tile.row + i);
    Value end = score.end(head.item, row);
    ends.push_back(k.subtract(end, stretch.begin));
    if (score.hasFirst()) {
      Value first = score.first(head.item, row);
      begins.push_back(k.subtract(first, stretch.begin));
    }
  }
  return k.loop(from, to, 1, sums, [&](Value position, ValueRange sums) {
    Value block = k.divide(position, cache.blockTokens);
    Value slot = k.remainder(position, cache.blockTokens);
    Value values = cache.values(k, blockOf(head, stretch, block), head.kvHead);
    values = buildAddress(b, values, tile.column, cache.elementBytes);
    values = buildAddress(b, values, slot, cache.valueBytes);
    Values next = addWeighted(tile, values, position, sums);
    for (auto [index, sum] : llvm::enumerate(next)) {
      int64_t width = tile.pieces[index % tile.pieces.size()].width;
      size_t row = index / tile.pieces.size();
      Value place = number(position, width);
      Value isSeen = k.isLess(place, number(ends[row], width));
      if (score.hasFirst()) {
        Value isHidden = k.isLess(place, number(begins[row], width));
        sum = arith::SelectOp::create(b, isHidden, sums[index], sum);
      }
      sum = arith::SelectOp::create(b, isSeen, sum, sums[index]);
    }
    return next;
  });
}
