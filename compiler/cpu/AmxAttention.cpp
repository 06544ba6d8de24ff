// The two products of attention, q . K and p . V, of bf16 in tiles of AMX.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/AmxAttention.h"

#include "compiler/cpu/AmxFactors.h"
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

/// Of a register: rows, bytes of one, and sums, positions or columns in it.
static constexpr int64_t kRows = AmxRegisters::kRows;
static constexpr int64_t kRowBytes = AmxRegisters::kRowBytes;
static constexpr int64_t kLanes = 16;
static constexpr int64_t kFloatBytes = sizeof(float);
static constexpr int64_t kHalfBytes = 2; // of a bf16

/// Registers: two by two of sums, two of rows, two of what is packed.
static constexpr int64_t kLeft = 4;
static constexpr int64_t kRight = 6;
static constexpr int64_t kSide = 2;

/// Of the upper bf16 of a word: all but its sign, and the largest number.
static constexpr int32_t kMagnitude = 0x7fff0000;
static constexpr int32_t kLargest = 0x7f7f0000;

AmxAttention::AmxAttention(KernelBuilder &k, const VectorCache &cache,
                           AttentionScratch &scratch, AttentionTiles &tiles,
                           transformer::PagedAttentionOp op)
    : k(k), b(k.builder()), cache(cache), scratch(scratch), tiles(tiles),
      op(op), registers(b), one(k, cache, tiles),
      queryBytes(llvm::alignTo(cache.headDim, kStep) * kHalfBytes),
      weightBytes(AttentionScratch::kScoreStride * kFloatBytes),
      pairBytes(llvm::alignTo(cache.headDim, kLanes) * 2 * kHalfBytes),
      keySteps(llvm::divideCeil(cache.headDim, kStep)) {}

Value AmxAttention::address(int64_t offset) {
  return k.pointer(k.add(base, offset * kFloatBytes));
}

Value AmxAttention::address(int64_t offset, Value row, int64_t rowBytes) {
  return k.pointer(
      k.add(k.add(base, offset * kFloatBytes), k.scale(row, rowBytes)));
}

void AmxAttention::begin() {
  Value first =
      memref::ExtractAlignedPointerAsIndexOp::create(b, scratch.memory);
  base = k.add(first, k.scale(scratch.worker, scratch.size * kFloatBytes));
  registers.begin(address(scratch.configuration), {kRight, kRight + 1});
  registers.configure(k.constant(kRows));
}

static void store(ImplicitLocOpBuilder &b, Value value, Value pointer) {
  LLVM::StoreOp::create(b, value, pointer, /*alignment=*/kHalfBytes);
}

void AmxAttention::storeQuery(Value query, Value row, int64_t column) {
  Value to = address(scratch.queries, row, queryBytes);
  store(b, roundFactors(b, query), buildAddress(b, to, column * kHalfBytes));
}

void AmxAttention::padQuery(Value row) {
  Value to = address(scratch.queries, row, queryBytes);
  int64_t behind = keySteps * kStep - cache.headDim;
  for (const ColumnPiece &piece : cutColumns(behind, kLanes)) {
    auto type = VectorType::get(piece.width, b.getBF16Type());
    store(b, arith::ConstantOp::create(b, b.getZeroAttr(type)),
          buildAddress(b, to, (cache.headDim + piece.offset) * kHalfBytes));
  }
}

//===----------------------------------------------------------------------===//
// q . K
//===----------------------------------------------------------------------===//

/// Words of elements at `even` and, in the upper half, of those at `odd`, or of
/// zeros.
Value AmxAttention::loadPair(Value even, Value odd, int64_t width) {
  Value lower = loadFactors(k, cache, even, width);
  if (!odd) {
    return lower;
  }
  Value upper = arith::ShLIOp::create(b, loadFactors(k, cache, odd, width),
                                      splatWord(b, width, 16));
  return arith::OrIOp::create(b, lower, upper);
}

/// A chunk's keys, two groups of 16 positions: pairs of columns, [group][pair]
/// [position][2], and zeros behind the last.
void AmxAttention::packKeys(Value keys) {
  int64_t pairs = keySteps * kStep / 2;
  for (int64_t group = 0; group < kSide; ++group) {
    Value to = address(scratch.packed + group * pairs * kLanes);
    MovingPointer places[] = {
        {buildAddress(b, keys, group * cache.groupBytes), 2 * cache.lineBytes},
        {to, kRowBytes}};
    Value whole = k.constant(cache.headDim / 2);
    loopMoving(k, k.constant(0), whole, 1, places, {}, [&](Value, ValueRange) {
      Value from = places[0].pointer;
      Value odd = buildAddress(b, from, cache.lineBytes);
      store(b, loadPair(from, odd, kLanes), places[1].pointer);
      return Values();
    });
    if (cache.headDim % 2 != 0) {
      store(b, loadPair(places[0].pointer, Value(), kLanes), places[1].pointer);
    }
    for (int64_t pair = llvm::divideCeil(cache.headDim, 2); pair < pairs;
         ++pair) {
      store(b, splatWord(b, kLanes, 0), buildAddress(b, to, pair * kRowBytes));
    }
  }
}

void AmxAttention::emitScores(const AttentionHead &head,
                              const Stretch &stretch) {
  Value none = k.constant(0);
  k.when(
      k.isEqual(head.rows, k.constant(1)),
      [&] {
        one.emitScores(head, stretch,
                       address(scratch.queries, none, queryBytes),
                       address(scratch.scores, none, weightBytes));
      },
      [&] { emitChunks(head, stretch); });
}

void AmxAttention::emitChunks(const AttentionHead &head,
                              const Stretch &stretch) {
  Value blocks = k.roundUpDivide(stretch.count, cache.blockTokens);
  Value firstBlock = k.divide(stretch.first, cache.blockTokens);
  k.loop(firstBlock, blocks, 1, [&](Value block) {
    Value keys =
        cache.keys(k, tiles.blockOf(head, stretch, block), head.kvHead);
    Value first = k.scale(block, cache.blockTokens);
    Value left =
        k.min(k.subtract(stretch.count, first), k.constant(cache.blockTokens));
    k.loop(k.constant(0), left, kStep, [&](Value position) {
      Value chunk = k.divide(position, kStep);
      packKeys(buildAddress(b, keys, chunk, kSide * cache.groupBytes));
      emitChunk(head, k.add(first, position));
    });
  });
}

/// All rows with the chunk at `column` of the stretch.
void AmxAttention::emitChunk(const AttentionHead &head, Value column) {
  k.loop(k.constant(0), head.rows, kSide * kRows, [&](Value row) {
    Value left = k.subtract(head.rows, row);
    k.when(
        k.isLess(k.constant(kRows), left),
        [&] { emitScoreTile(row, column, kSide); },
        [&] { emitScoreTile(row, column, 1); });
  });
}

void AmxAttention::emitScoreTile(Value row, Value column, int64_t height) {
  for (int64_t i = 0; i < height * kSide; ++i) {
    registers.zero(i);
  }
  Value queries = address(scratch.queries, row, queryBytes);
  Value packed = address(scratch.packed);
  Value queryStride = registers.stride(queryBytes);
  Value packedStride = registers.stride(kRowBytes);
  int64_t tileBytes = kRows * kRowBytes;
  for (int64_t step = 0; step < keySteps; ++step) {
    for (int64_t i = 0; i < height; ++i) {
      int64_t offset = i * kRows * queryBytes + step * kRowBytes;
      registers.load(kLeft + i, buildAddress(b, queries, offset), queryStride);
    }
    for (int64_t j = 0; j < kSide; ++j) {
      int64_t offset = (j * keySteps + step) * tileBytes;
      registers.load(kRight + j, buildAddress(b, packed, offset), packedStride);
      for (int64_t i = 0; i < height; ++i) {
        registers.multiplyBf16(i * kSide + j, kLeft + i, kRight + j);
      }
    }
  }
  Value to = buildAddress(b, address(scratch.scores, row, weightBytes), column,
                          kFloatBytes);
  Value stride = registers.stride(weightBytes);
  for (int64_t i = 0; i < height; ++i) {
    for (int64_t j = 0; j < kSide; ++j) {
      int64_t offset = i * kRows * weightBytes + j * kRowBytes;
      registers.store(i * kSide + j, buildAddress(b, to, offset), stride);
    }
  }
}

//===----------------------------------------------------------------------===//
// p . V
//===----------------------------------------------------------------------===//

void AmxAttention::storeWeights(Value weights, Value row, Value j) {
  Value to = address(scratch.scores, row, weightBytes);
  store(b, roundFactors(b, weights), buildAddress(b, to, j, kHalfBytes));
}

void AmxAttention::clearWeights(const Stretch &stretch, Value row, Value begin,
                                Value end) {
  Range steps = toSteps({stretch.first, stretch.count});
  Value to = address(scratch.scores, row, weightBytes);
  auto clear = [&](Value from, Value until) {
    k.loop(from, until, kStep, [&](Value j) {
      store(b, splatWord(b, kStep / 2, 0), buildAddress(b, to, j, kHalfBytes));
    });
  };
  clear(steps.first, k.min(begin, steps.second));
  clear(k.max(end, steps.first), steps.second);
}

AmxAttention::Range AmxAttention::toSteps(Range range) {
  Value from = k.scale(k.divide(range.first, kStep), kStep);
  Value to = k.scale(k.roundUpDivide(range.second, kStep), kStep);
  return {from, k.max(from, to)};
}

void AmxAttention::decaySums(Value row) {
  Value decay = tiles.loadScratch(k.add(row, scratch.decays));
  Value place = k.add(k.scale(row, scratch.rowStride), scratch.sums);
  for (const ColumnPiece &piece : cutColumns(cache.headDim, kLanes)) {
    Value at = k.add(place, piece.offset);
    Value sums = tiles.loadScratch(at, piece.width);
    Value factor =
        vector::BroadcastOp::create(b, f32Vector(k, piece.width), decay);
    Value decayed = arith::MulFOp::create(b, sums, factor);
    tiles.storeScratch(flushSums(b, decayed), at);
  }
}

void AmxAttention::emitSums(const AttentionHead &head, const Stretch &stretch,
                            function_ref<Range(Value)> rangeOf) {
  k.loop(head.rows, [&](Value row) { decaySums(row); });
  auto addRow = [&](Value row) {
    one.emitSums(head, stretch, rangeOf(row),
                 address(scratch.scores, row, weightBytes),
                 address(scratch.sums, row, scratch.rowStride * kFloatBytes));
  };
  Value isAlone = k.isEqual(head.rows, k.constant(1));
  Range seen = {stretch.first, stretch.count};
  Range steps = toSteps(seen);
  for (Value *bound : {&steps.first, &steps.second}) {
    *bound = arith::SelectOp::create(b, isAlone, k.constant(0), *bound);
  }
  Value areFinite = packValues(head, stretch, steps, seen);
  auto multiplyAll = [&] {
    k.loop(k.constant(0), head.rows, kSide * kRows, [&](Value row) {
      Value left = k.subtract(head.rows, row);
      k.when(
          k.isLess(k.constant(kRows), left),
          [&] { multiplyValues(row, steps, kSide); },
          [&] { multiplyValues(row, steps, 1); });
    });
  };
  Value none = arith::ConstantIntOp::create(b, 0, 1);
  Value areTiles = arith::SelectOp::create(b, isAlone, none, areFinite);
  k.when(areTiles, multiplyAll, [&] { k.loop(head.rows, addRow); });
}

Value AmxAttention::packValues(const AttentionHead &head,
                               const Stretch &stretch, Range steps,
                               Range seen) {
  // One for each width of a piece.
  Values largest;
  for (const ColumnPiece &piece : cutColumns(cache.headDim, kLanes)) {
    Value none = splatWord(b, piece.width, 0);
    if (largest.empty() || largest.back().getType() != none.getType()) {
      largest.push_back(none);
    }
  }
  // Pairs all of which are seen lie in [from, to).
  Value from = k.scale(k.roundUpDivide(seen.first, 2), 2);
  Value to = k.max(k.scale(k.divide(seen.second, 2), 2), from);
  from = k.min(from, steps.second);
  to = k.min(to, steps.second);
  for (auto [from, to, own] :
       {std::tuple(steps.first, from, &seen), std::tuple(from, to, (Range *)0),
        std::tuple(to, steps.second, &seen)}) {
    largest = packPairs(head, stretch, {from, to}, steps.first, own, largest);
  }
  Value areFinite;
  for (Value each : largest) {
    Value most =
        vector::ReductionOp::create(b, vector::CombiningKind::MAXSI, each);
    Value limit = arith::ConstantOp::create(b, b.getI32IntegerAttr(kLargest));
    Value isFinite =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sle, most, limit);
    areFinite = areFinite ? Value(arith::AndIOp::create(b, areFinite, isFinite))
                          : isFinite;
  }
  return areFinite;
}

/// Pairs of positions of `range`, behind that at `first`, [pair][column][2];
/// what is not in `seen`, if it is given, is zero. Returns the largest
/// magnitudes of those and `largest`, in the upper halves of words.
Values AmxAttention::packPairs(const AttentionHead &head,
                               const Stretch &stretch, Range range, Value first,
                               Range *seen, ValueRange largest) {
  auto [from, to] = range;
  auto packBlock = [&, from = from, to = to](Value block, ValueRange largest) {
    Value begin = k.scale(block, cache.blockTokens);
    Value position = k.max(begin, from);
    Value end = k.min(k.add(begin, cache.blockTokens), to);
    Value values =
        cache.values(k, tiles.blockOf(head, stretch, block), head.kvHead);
    Value slot = k.subtract(position, begin);
    Value pair = k.divide(k.subtract(position, first), 2);
    MovingPointer places[] = {
        {buildAddress(b, values, slot, cache.valueBytes), 2 * cache.valueBytes},
        {buildAddress(b, address(scratch.packed), pair, pairBytes), pairBytes}};
    return loopMoving(k, position, end, 2, places, largest,
                      [&](Value position, ValueRange largest) {
                        Value kept = seen ? maskOf(position, *seen) : Value();
                        return packPair(places[0].pointer, places[1].pointer,
                                        kept, largest);
                      });
  };
  return k.loop(k.divide(from, cache.blockTokens),
                k.roundUpDivide(to, cache.blockTokens), 1, largest, packBlock);
}

/// The bits of a word of a pair of positions that are in `seen`.
Value AmxAttention::maskOf(Value position, Range seen) {
  auto bitsOf = [&](Value position, int32_t bits) -> Value {
    Value isSeen = arith::AndIOp::create(b, k.isAtMost(seen.first, position),
                                         k.isLess(position, seen.second));
    return arith::SelectOp::create(
        b, isSeen, arith::ConstantOp::create(b, b.getI32IntegerAttr(bits)),
        arith::ConstantOp::create(b, b.getI32IntegerAttr(0)));
  };
  return arith::OrIOp::create(b, bitsOf(position, 0xffff),
                              bitsOf(k.add(position, 1), ~0xffff));
}

/// Two positions' values from `from` on; of words the bits `kept`, or all.
Values AmxAttention::packPair(Value from, Value to, Value kept,
                              ValueRange largest) {
  Values greater(largest);
  size_t next = 0;
  for (const ColumnPiece &piece : cutColumns(cache.headDim, kLanes)) {
    Value even = buildAddress(b, from, piece.offset * cache.elementBytes);
    Value odd = buildAddress(b, even, cache.valueBytes);
    Value pair = loadPair(even, odd, piece.width);
    if (kept) {
      Value mask = vector::BroadcastOp::create(b, pair.getType(), kept);
      pair = arith::AndIOp::create(b, pair, mask);
    }
    store(b, pair, buildAddress(b, to, piece.offset * 2 * kHalfBytes));
    next += greater[next].getType() != pair.getType();
    Value shifted =
        arith::ShLIOp::create(b, pair, splatWord(b, piece.width, 16));
    for (Value half : {pair, shifted}) {
      Value magnitude =
          arith::AndIOp::create(b, half, splatWord(b, piece.width, kMagnitude));
      greater[next] = arith::MaxSIOp::create(b, greater[next], magnitude);
    }
  }
  return greater;
}

void AmxAttention::multiplyValues(Value row, Range steps, int64_t height) {
  int64_t columns = llvm::alignTo(cache.headDim, kLanes);
  int64_t whole = columns / (kSide * kLanes) * (kSide * kLanes);
  if (whole > 0) {
    k.loop(k.constant(0), k.constant(whole), kSide * kLanes, [&](Value column) {
      emitSumTile(row, steps, height, column, kSide);
    });
  }
  if (whole < columns) {
    emitSumTile(row, steps, height, k.constant(whole), 1);
  }
}

/// `width` registers of columns from `column` on.
void AmxAttention::emitSumTile(Value row, Range steps, int64_t height,
                               Value column, int64_t width) {
  Value sums = buildAddress(
      b, address(scratch.sums, row, scratch.rowStride * kFloatBytes), column,
      kFloatBytes);
  Value sumStride = registers.stride(scratch.rowStride * kFloatBytes);
  auto forEachSum = [&](function_ref<void(int64_t, Value)> body) {
    for (int64_t i = 0; i < height; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        int64_t offset =
            i * kRows * scratch.rowStride * kFloatBytes + j * kRowBytes;
        body(i * kSide + j, buildAddress(b, sums, offset));
      }
    }
  };
  forEachSum([&](int64_t number, Value place) {
    registers.load(number, place, sumStride);
  });
  Value weights = buildAddress(b, address(scratch.scores, row, weightBytes),
                               steps.first, kHalfBytes);
  MovingPointer places[] = {
      {weights, kRowBytes},
      {buildAddress(b, address(scratch.packed), column, 2 * kHalfBytes),
       kStep / 2 * pairBytes}};
  Value weightStride = registers.stride(weightBytes);
  Value pairStride = registers.stride(pairBytes);
  loopMoving(
      k, steps.first, steps.second, kStep, places, {}, [&](Value, ValueRange) {
        for (int64_t i = 0; i < height; ++i) {
          registers.load(
              kLeft + i,
              buildAddress(b, places[0].pointer, i * kRows * weightBytes),
              weightStride);
        }
        for (int64_t j = 0; j < width; ++j) {
          registers.load(kRight + j,
                         buildAddress(b, places[1].pointer, j * kRowBytes),
                         pairStride);
          for (int64_t i = 0; i < height; ++i) {
            registers.multiplyBf16(i * kSide + j, kLeft + i, kRight + j);
          }
        }
        return Values();
      });
  forEachSum([&](int64_t number, Value place) {
    registers.store(number, place, sumStride);
  });
}
