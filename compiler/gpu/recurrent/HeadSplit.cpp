// How warps share out the matrix of a head of a recurrence.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/recurrent/HeadSplit.h"

#include "compiler/gpu/thread/WarpBuilder.h"
#include "dialect/ShapeUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc;

/// Keys of a lane, at most; where each has a decay of its own, so many, so that
/// these have registers, too.
static constexpr int64_t kMaxKeys = 16;
static constexpr int64_t kMaxDecayingKeys = 8;
/// Registers of a lane for its part of the matrix, and of keys and queries:
/// with all others, as many as a thread may have.
static constexpr int64_t kMaxRegisters = 144;
/// Columns of a warp, at least, where a lane has as many: a sector of memory.
static constexpr int64_t kSectorColumns = 8;
/// Columns of a lane.
static constexpr int64_t kMinColumns = 2;
static constexpr int64_t kMaxColumns = 4;

/// Of a token that is computed, and, as they are kept, of those on their way.
static int64_t countRowRegisters(transformer::RaggedRecurrenceOp op,
                                 int64_t laneKeys) {
  int64_t count = 0;
  SmallVector<Value> all = {op.getKey(), op.getQuery()};
  if (op.hasKeyDecays()) {
    all.push_back(op.getDecay());
  }
  for (Value rows : all) {
    int64_t bits = getElementTypeOrSelf(rows.getType()).getIntOrFloatBitWidth();
    count += laneKeys + HeadSplit::kAhead * laneKeys * bits / 32;
  }
  return count;
}

HeadSplit::HeadSplit(transformer::RaggedRecurrenceOp op)
    : keys(transformer::widthOf(op.getKey()) /
           static_cast<int64_t>(op.getKeyHeads())),
      values(transformer::widthOf(op.getValue()) /
             static_cast<int64_t>(op.getHeads())),
      most(op.hasKeyDecays() ? kMaxDecayingKeys : kMaxKeys), lanes(1) {
  while (lanes < WarpBuilder::kLanes && lanes * most < keys) {
    lanes *= 2;
  }
  laneKeys = llvm::divideCeil(keys, lanes);
  int64_t groups = WarpBuilder::kLanes / lanes;
  columns = std::clamp(kSectorColumns / groups, kMinColumns, kMaxColumns);
  while (values % columns != 0 ||
         laneKeys * columns + countRowRegisters(op, laneKeys) > kMaxRegisters) {
    columns /= 2;
  }
}

bool HeadSplit::fits() const { return laneKeys <= most; }

int64_t HeadSplit::warpColumns() const {
  return WarpBuilder::kLanes / lanes * columns;
}
