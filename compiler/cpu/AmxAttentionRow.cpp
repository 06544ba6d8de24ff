// The two products of attention for one row, to the bits of AMX's tiles, in
// vectors that read the cache as it is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/AmxAttentionRow.h"

#include "compiler/cpu/AmxFactors.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

static constexpr int64_t kLanes = 16;
/// Products of an instruction of tiles, of two elements of a word.
static constexpr int64_t kStep = 32;
static constexpr int64_t kLine = 64; // bytes that the cache fetches at once
static constexpr int64_t kFloatBytes = sizeof(float);
static constexpr int64_t kHalfBytes = 2; // of a bf16
/// Groups of keys in a block.
static constexpr int64_t kGroups =
    VectorCache::kBlockTokens / VectorCache::kGroup;
/// Columns of values of a pass: their sums stay in registers.
static constexpr int64_t kPassColumns = 4 * kLanes;

Values AmxAttentionRow::beginStep(int64_t vectors) {
  Value zero =
      vector::BroadcastOp::create(b, f32Vector(k, kLanes), k.number(0));
  return Values(2 * vectors, zero);
}

Values AmxAttentionRow::endStep(ValueRange totals, ValueRange sums) {
  Values next;
  for (auto [total, first, second] :
       llvm::zip(totals, sums, sums.drop_front(totals.size()))) {
    Value own = flushSums(b, arith::AddFOp::create(b, first, second));
    next.push_back(flushSums(b, arith::AddFOp::create(b, total, own)));
  }
  return next;
}

Values AmxAttentionRow::addProducts(ValueRange sums, bool isSecond,
                                    ValueRange left, Value right) {
  auto halves = VectorType::get(2 * kLanes, b.getBF16Type());
  Values next(sums);
  for (auto [i, factor] : llvm::enumerate(left)) {
    Value &sum = next[i + (isSecond ? left.size() : 0)];
    Value operands[] = {sum, LLVM::BitcastOp::create(b, halves, factor),
                        LLVM::BitcastOp::create(b, halves, right)};
    sum = LLVM::CallIntrinsicOp::create(
              b, sum.getType(),
              b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"), operands)
              .getResults();
  }
  return next;
}

Value AmxAttentionRow::loadFactor(Value pointer) {
  Value half = LLVM::LoadOp::create(b, b.getI16Type(), pointer, kHalfBytes);
  Value word = arith::ExtUIOp::create(b, b.getI32Type(), half);
  return vector::BroadcastOp::create(b, VectorType::get(kLanes, b.getI32Type()),
                                     word);
}

//===----------------------------------------------------------------------===//
// q . K
//===----------------------------------------------------------------------===//

void AmxAttentionRow::emitScores(const AttentionHead &head,
                                 const Stretch &stretch, Value query,
                                 Value scores) {
  Value blocks = k.roundUpDivide(stretch.count, cache.blockTokens);
  Value firstBlock = k.divide(stretch.first, cache.blockTokens);
  Value zero =
      vector::BroadcastOp::create(b, f32Vector(k, kLanes), k.number(0));
  k.loop(firstBlock, blocks, 1, [&](Value block) {
    Value keys =
        cache.keys(k, tiles.blockOf(head, stretch, block), head.kvHead);
    // The values of the first block are read after the keys of the last.
    Value isInner = k.isLess(k.add(block, 1), blocks);
    Value following =
        arith::SelectOp::create(b, isInner, k.add(block, 1), firstBlock);
    Value address = tiles.blockOf(head, stretch, following);
    Value next =
        arith::SelectOp::create(b, isInner, cache.keys(k, address, head.kvHead),
                                cache.values(k, address, head.kvHead));
    int64_t whole = cache.headDim / kStep * kStep;
    MovingPointer places[] = {{keys, kStep * cache.lineBytes},
                              {next, kStep * cache.lineBytes},
                              {query, kStep * kHalfBytes}};
    Values totals(kGroups, zero);
    totals = loopMoving(k, k.constant(0), k.constant(whole), kStep, places,
                        totals, [&](Value, ValueRange totals) {
                          return addScoreColumns(kStep, places[0].pointer,
                                                 places[1].pointer,
                                                 places[2].pointer, totals);
                        });
    if (whole < cache.headDim) {
      totals = addScoreColumns(cache.headDim - whole, places[0].pointer,
                               places[1].pointer, places[2].pointer, totals);
    }
    Value to = buildAddress(b, scores, block, cache.blockTokens * kFloatBytes);
    for (auto [group, total] : llvm::enumerate(totals)) {
      storeVector(k, total, buildAddress(b, to, group * kLanes * kFloatBytes));
    }
  });
}

/// Those of a step, of which there may be fewer than its words have elements.
Values AmxAttentionRow::addScoreColumns(int64_t columns, Value keys, Value next,
                                        Value query, ValueRange totals) {
  MovingPointer places[] = {{keys, 2 * cache.lineBytes},
                            {next, 2 * cache.lineBytes},
                            {query, 2 * kHalfBytes}};
  auto addColumn = [&](int64_t column, ValueRange sums) {
    Values factors;
    for (int64_t group = 0; group < kGroups; ++group) {
      int64_t offset = group * cache.groupBytes + column * cache.lineBytes;
      factors.push_back(loadFactors(
          k, cache, buildAddress(b, places[0].pointer, offset), kLanes));
      if (offset % kLine == 0) {
        tiles.prefetch(buildAddress(b, places[1].pointer, offset));
      }
    }
    Value factor =
        loadFactor(buildAddress(b, places[2].pointer, column * kHalfBytes));
    return addProducts(sums, /*isSecond=*/column == 1, factors, factor);
  };
  Values sums = loopMoving(
      k, k.constant(0), k.constant(columns / 2), 1, places, beginStep(kGroups),
      [&](Value, ValueRange sums) { return addColumn(1, addColumn(0, sums)); });
  if (columns % 2 != 0) {
    sums = addColumn(0, sums);
  }
  return endStep(totals, sums);
}

//===----------------------------------------------------------------------===//
// p . V
//===----------------------------------------------------------------------===//

void AmxAttentionRow::emitSums(const AttentionHead &head,
                               const Stretch &stretch, Range seen,
                               Value weights, Value sums) {
  int64_t whole = cache.headDim / kPassColumns * kPassColumns;
  k.loop(k.constant(0), k.constant(whole), kPassColumns, [&](Value column) {
    emitPass(head, stretch, seen, weights, sums, column, kPassColumns);
  });
  if (whole < cache.headDim) {
    emitPass(head, stretch, seen, weights, sums, k.constant(whole),
             cache.headDim - whole);
  }
}

Values AmxAttentionRow::loadValues(Value row, int64_t columns) {
  Values vectors;
  for (const ColumnPiece &piece : cutColumns(columns, kLanes)) {
    Value own = loadFactors(
        k, cache, buildAddress(b, row, piece.offset * cache.elementBytes),
        piece.width);
    if (piece.width == kLanes) {
      vectors.push_back(own);
      continue;
    }
    // Behind the columns of this vector that are there, and before zeros.
    int64_t place = piece.offset % kLanes;
    SmallVector<int64_t> lanes(kLanes, piece.width);
    std::iota(lanes.begin() + place, lanes.begin() + place + piece.width, 0);
    Value zeros = splatWord(b, piece.width, 0);
    Value wide = vector::ShuffleOp::create(b, own, zeros, lanes);
    if (place == 0) {
      vectors.push_back(wide);
    } else {
      vectors.back() = arith::OrIOp::create(b, vectors.back(), wide);
    }
  }
  return vectors;
}

/// One position's.
Values AmxAttentionRow::addPosition(Value values, Value next, Value weight,
                                    bool isSecond, int64_t columns,
                                    ValueRange sums) {
  int64_t bytes = columns * cache.elementBytes;
  for (int64_t offset = 0; offset < bytes; offset += kLine) {
    tiles.prefetch(buildAddress(b, next, offset));
  }
  return addProducts(sums, isSecond, loadValues(values, columns),
                     loadFactor(weight));
}

/// Those of [from, to), as many at a time as `areSecond` says what they are.
Values AmxAttentionRow::addPositions(MutableArrayRef<MovingPointer> places,
                                     Value from, Value to,
                                     ArrayRef<bool> areSecond, int64_t columns,
                                     ValueRange sums) {
  int64_t count = areSecond.size();
  SmallVector<MovingPointer> rounds;
  for (const MovingPointer &place : places) {
    rounds.push_back({place.pointer, count * place.bytes});
  }
  Values last = loopMoving(
      k, from, to, count, rounds, sums, [&](Value, ValueRange carried) {
        Values sums(carried);
        for (size_t i = 0; i < areSecond.size(); ++i) {
          auto at = [&](int64_t number) {
            return buildAddress(b, rounds[number].pointer,
                                i * places[number].bytes);
          };
          sums = addPosition(at(0), at(1), at(2), areSecond[i], columns, sums);
        }
        return sums;
      });
  for (auto [place, round] : llvm::zip(places, rounds)) {
    place.pointer = round.pointer;
  }
  return last;
}

void AmxAttentionRow::emitPass(const AttentionHead &head,
                               const Stretch &stretch, Range seen,
                               Value weights, Value sums, Value column,
                               int64_t columns) {
  Value place = buildAddress(b, sums, column, kFloatBytes);
  int64_t vectors = llvm::divideCeil(columns, kLanes);
  auto totalAt = [&](int64_t i) {
    return buildAddress(b, place, i * kLanes * kFloatBytes);
  };
  Values totals;
  for (int64_t i = 0; i < vectors; ++i) {
    totals.push_back(loadVector(k, totalAt(i), kLanes));
  }
  Value last = k.max(k.subtract(seen.second, k.constant(1)), k.constant(0));
  Value lastBlock = k.divide(last, cache.blockTokens);
  auto rowOf = [&](Value block, Value slot) {
    Value values =
        cache.values(k, tiles.blockOf(head, stretch, block), head.kvHead);
    values = buildAddress(b, values, slot, cache.valueBytes);
    return buildAddress(b, values, column, cache.elementBytes);
  };
  auto addStep = [&](Value step, ValueRange totals) {
    Value begin = k.max(step, seen.first);
    Value end = k.min(k.add(step, kStep), seen.second);
    Value block = k.divide(step, cache.blockTokens);
    Value slot = k.subtract(begin, k.scale(block, cache.blockTokens));
    MovingPointer places[] = {
        {rowOf(block, slot), cache.valueBytes},
        {rowOf(k.min(k.add(block, 1), lastBlock), slot), cache.valueBytes},
        {buildAddress(b, weights, begin, kHalfBytes), kHalfBytes}};
    // The first may be an odd one, and the last an even one.
    Value evenBegin = k.scale(k.roundUpDivide(begin, 2), 2);
    Value evenEnd = k.max(k.scale(k.divide(end, 2), 2), evenBegin);
    Values sums = beginStep(vectors);
    sums = addPositions(places, begin, k.min(evenBegin, end), {true}, columns,
                        sums);
    sums =
        addPositions(places, evenBegin, evenEnd, {false, true}, columns, sums);
    sums = addPositions(places, evenEnd, end, {false}, columns, sums);
    return endStep(totals, sums);
  };
  Value firstStep = k.scale(k.divide(seen.first, kStep), kStep);
  totals = k.loop(firstStep, seen.second, kStep, totals, addStep);
  for (auto [i, total] : llvm::enumerate(totals)) {
    storeVector(k, total, totalAt(i));
  }
}
