// How warps share out the matrix of a head of a recurrence.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_RECURRENT_HEADSPLIT_H
#define TFC_COMPILER_GPU_RECURRENT_HEADSPLIT_H

#include "dialect/TransformerDialect.h"

namespace tfc {

/// A head's matrix has a row for each key and a column for each value. Lanes
/// beside each other have the rows of the same columns, a stretch of them each;
/// lanes and warps further on have other columns. All of it follows from the
/// op's sizes, so that sums over keys have one order.
struct HeadSplit {
  explicit HeadSplit(transformer::RaggedRecurrenceOp op);

  /// Tokens whose rows are on their way while one is computed: memory answers
  /// later than a token takes.
  static constexpr int64_t kAhead = 2;

  /// Whether a lane's part stays in its registers.
  bool fits() const;
  /// Whether the last lanes have rows that there are none of.
  bool hasRest() const { return lanes * laneKeys != keys; }
  int64_t warpColumns() const;

  int64_t keys, values;
  int64_t most;     // keys of a lane, at most
  int64_t lanes;    // that share a column, a power of two
  int64_t laneKeys; // of a lane
  int64_t columns;  // of a lane
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_RECURRENT_HEADSPLIT_H
