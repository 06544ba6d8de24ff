// Lanes look for where experts begin, and count tiles up to theirs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/ExpertTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

using Values = ThreadBuilder::Values;

/// What the lane has that stands `offset` before this one, or has the number.
static Value shuffle(ThreadBuilder &t, Value value, Value offset,
                     gpu::ShuffleMode mode) {
  return gpu::ShuffleOp::create(t.builder(), value, offset,
                                t.number(kWarpLanes), mode)
      .getShuffleResult();
}

/// The sum of what the lanes up to this one have.
static Value sumUpTo(ThreadBuilder &t, Value lane, Value value) {
  for (int32_t distance = 1; distance < kWarpLanes; distance *= 2) {
    Value before = shuffle(t, value, t.number(distance), gpu::ShuffleMode::UP);
    Value isAny = t.isLess(lane, t.number(distance));
    value = t.add(value, t.select(isAny, t.number(0), before));
  }
  return value;
}

/// The greatest of what the lanes have.
static Value greatest(ThreadBuilder &t, Value value) {
  for (int32_t distance = kWarpLanes / 2; distance > 0; distance /= 2) {
    Value other = shuffle(t, value, t.number(distance), gpu::ShuffleMode::XOR);
    value = t.select(t.isLess(value, other), other, value);
  }
  return value;
}

/// How many rows are of experts before each of `experts`: by halves, all at
/// once, as each step waits for memory.
static Values findBegins(ThreadBuilder &t, const ExpertList &list,
                         ArrayRef<Value> experts) {
  ImplicitLocOpBuilder &b = t.builder();
  Type word = b.getI32Type();
  Value zeros = LLVM::CountLeadingZerosOp::create(b, word, list.rows,
                                                  /*is_zero_poison=*/false);
  Value halvings = t.subtract(t.number(32), zeros);
  Value last = t.subtract(list.rows, 1);
  // Where the rest begins, and how many rows it has.
  Values inits;
  for (size_t i = 0; i < experts.size(); ++i) {
    inits.append({t.number(0), list.rows});
  }
  Values ends =
      t.loop(t.number(0), halvings, 1, inits, [&](Value, ValueRange rests) {
        Values next;
        for (auto [i, expert] : llvm::enumerate(experts)) {
          Value begin = rests[2 * i], rows = rests[2 * i + 1];
          Value half = t.divide(rows, 2);
          // Of an empty rest what is read does not matter.
          Value row = t.min(t.add(begin, half), last);
          Value found = t.load(
              word, t.element(list.sorted, word, Value(), Value(), row), 4);
          Value isBefore =
              t.both(t.isLess(found, expert), t.isLess(t.number(0), rows));
          Value upper = t.subtract(t.subtract(rows, half), 1);
          next.push_back(
              t.select(isBefore, t.add(t.add(begin, half), 1), begin));
          next.push_back(t.select(isBefore, upper, half));
        }
        return next;
      });
  Values begins;
  for (size_t i = 0; i < experts.size(); ++i) {
    begins.push_back(ends[2 * i]);
  }
  return begins;
}

void tfc::forExpertTile(ThreadBuilder &t, const ExpertList &list,
                        int32_t tileRows,
                        function_ref<void(const ExpertTile &)> then) {
  Value lane = t.lane(), tile = t.blockY();
  Value none = t.number(-1), zero = t.number(0);
  // Tiles of the experts before, and what a lane has found.
  Values inits = {zero, none, zero, zero};
  Values found =
      t.loop(zero, list.experts, kWarpLanes, inits,
             [&](Value first, ValueRange before) -> Values {
               Value expert = t.add(first, lane);
               Values rows = findBegins(t, list, {expert, t.add(expert, 1)});
               Value count = t.subtract(rows[1], rows[0]);
               Value tiles = t.divide(t.add(count, tileRows - 1), tileRows);
               Value end = t.add(before[0], sumUpTo(t, lane, tiles));
               Value own = t.subtract(tile, t.subtract(end, tiles));
               Value isOwn = t.both(t.isLess(none, own), t.isLess(own, tiles));
               Value passed = t.scale(own, tileRows);
               return {shuffle(t, end, t.number(kWarpLanes - 1),
                               gpu::ShuffleMode::IDX),
                       t.select(isOwn, expert, before[1]),
                       t.select(isOwn, t.add(rows[0], passed), before[2]),
                       t.select(isOwn, t.subtract(count, passed), before[3])};
             });
  Value finder = greatest(t, t.select(t.isLess(found[1], zero), none, lane));
  Value isAny = t.isLess(none, finder);
  Value source = t.select(isAny, finder, zero);
  auto tell = [&](Value value) {
    return shuffle(t, value, source, gpu::ShuffleMode::IDX);
  };
  ExpertTile own = {tell(found[1]), tell(found[2]), tell(found[3])};
  t.when(isAny, [&] { then(own); });
}
