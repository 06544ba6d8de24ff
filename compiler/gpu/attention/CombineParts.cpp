// What the parts of an item have, put together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/CombineParts.h"

#include "compiler/gpu/thread/PowerOfTwo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

/// Columns of a thread: 16 bytes of sums.
static constexpr int64_t kColumns = 4;
/// Threads of an item's head: so few that those of many short contexts do not
/// wait for each other.
static constexpr int64_t kThreads = 128;

void CombineParts::emit() {
  int64_t kvHeads = block.op.getNumHeads() / block.group;
  int64_t perRow = block.cache.valueDim / kColumns;
  int64_t rowsAtOnce = std::min(kThreads / perRow, block.fewRows());
  int64_t axes[] = {kvHeads, kThreads};
  k.forEachPlace(
      block.cache, axes, [&](const WorkItem &item, ValueRange places) {
        auto [begin, end] = block.score.seenBy(item);
        parts.cut(item, places[0], begin, end);
        Value first = k.divide(places[1], perRow);
        Value column = k.scale(k.remainder(places[1], perRow), kColumns);
        Value rows = k.scale(item.rows, block.group);
        // Most items are of short contexts, and have one part.
        rows = arith::SelectOp::create(b, parts.isAlone(), k.constant(0), rows);
        rows =
            arith::SelectOp::create(b, block.isFew(item), rows, k.constant(0));
        if (rowsAtOnce * perRow < kThreads) {
          rows = arith::SelectOp::create(
              b, k.isLess(first, k.constant(rowsAtOnce)), rows, k.constant(0));
        }
        k.loop(first, rows, rowsAtOnce, [&](Value number) {
          emitColumns(block.makeRow(item, places[0], number), number, column);
        });
      });
}

/// All parts there may be are loaded at once, the first one for those that are
/// not, without weight: nobody waits for one after the other.
void CombineParts::emitColumns(const FragmentRow &row, Value number,
                               Value column) {
  KernelBuilder::Values isSome, part, numbers, sums;
  for (int64_t i = 0; i < AttentionParts::kMost; ++i) {
    Value first = k.constant(0), own = k.constant(i);
    isSome.push_back(parts.isSome(own));
    part.push_back(arith::SelectOp::create(b, isSome[i], own, first));
    numbers.push_back(parts.loadNumbers(part[i], number));
    sums.push_back(parts.loadSums(kColumns, part[i], number, column));
  }
  auto at = [&](Value both, int64_t i) -> Value {
    return vector::ExtractOp::create(b, both, i);
  };
  Value highest = block.lowest(), total = k.number(0);
  for (Value both : numbers) {
    highest = block.larger(at(both, 0), highest);
  }
  auto type = VectorType::get(kColumns, b.getF32Type());
  Value sum = arith::ConstantOp::create(b, b.getZeroAttr(type));
  for (int64_t i = 0; i < AttentionParts::kMost; ++i) {
    Value share = buildPowerOfTwo(
        b, arith::SubFOp::create(b, at(numbers[i], 0), highest));
    share = arith::SelectOp::create(b, isSome[i], share, k.number(0));
    total = math::FmaOp::create(b, at(numbers[i], 1), share, total);
    sum = math::FmaOp::create(b, sums[i],
                              vector::BroadcastOp::create(b, type, share), sum);
  }
  Value all = vector::BroadcastOp::create(b, type, total);
  block.storeColumns(arith::DivFOp::create(b, sum, all), row, column);
}
