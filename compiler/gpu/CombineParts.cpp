// What the parts of an item have, put together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/CombineParts.h"

#include "compiler/gpu/PowerOfTwo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

/// Columns of a thread: 16 bytes of sums.
static constexpr int64_t kColumns = 4;

void CombineParts::emit() {
  int64_t kvHeads = block.op.getNumHeads() / block.group;
  int64_t axes[] = {kvHeads, block.fewRows(), block.cache.headDim / kColumns};
  k.forEachPlace(
      block.cache, axes, [&](const WorkItem &item, ValueRange places) {
        FragmentRow row = block.makeRow(item, places[0], places[1]);
        auto [begin, end] = block.seenBy(item);
        parts.cut(item, places[0], begin, end);
        Value isFew = arith::AndIOp::create(b, block.isFew(item), row.isOwn);
        k.when(isFew, [&] {
          // Most items of one part are of short contexts.
          k.when(
              parts.isAlone(), [] {},
              [&] {
                emitColumns(row, places[1], k.scale(places[2], kColumns));
              });
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
