// Tiles of queries, keys, values and weights of f32 in shared memory, and their
// products by the threads of a block.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_FLOATTILES_H
#define TFC_COMPILER_GPU_ATTENTION_FLOATTILES_H

#include "compiler/gpu/attention/PositionCopies.h"
#include "compiler/gpu/thread/ThreadBuilder.h"

namespace tfc {

/// Four warps share out the queries; of a warp's, and of the positions of a
/// tile, 4 x 8 lanes have every fourth query and every eighth position. Rows of
/// tiles are an odd number of 16 bytes long, so that the same chunk of eight
/// rows meets all banks.
class FloatTiles {
public:
  using Values = ThreadBuilder::Values;

  static constexpr int32_t kPositions = DeviceCache::kBlockTokens;
  static constexpr int32_t kLanesDown = 4, kLanesAcross = 8;
  /// Positions of a thread in a tile.
  static constexpr int32_t kOwnPositions = kPositions / kLanesAcross;

  /// Heads of a multiple of 4 columns up to 128, queries of an item as in
  /// floatQueryRows.
  FloatTiles(int64_t headDim, int64_t queryRows)
      : headDim(int32_t(headDim)), queryRows(int32_t(queryRows)) {}

  int32_t bytes() const { return weightsAt() + queryRows * kWeightBytes; }
  /// Whether values have a place beside the keys'. Wide ones take it when
  /// scores are there: they would leave no room on devices of 100 KB a
  /// multiprocessor.
  bool areApart() const { return headDim <= 112; }
  /// Queries of a thread, and sums that it has of each.
  int32_t rows() const { return queryRows / (kWarps * kLanesDown); }
  int32_t columns() const { return 4 * numChunks(); }
  /// Whether the last four columns of a thread may be none of the head's.
  bool isRagged() const { return headDim % (4 * kLanesAcross) != 0; }

  /// Says what the thread is; `memory` is a pointer to `bytes()`.
  void begin(ThreadBuilder &t, mlir::Value memory);

  /// Number `row` of the thread's queries, in the item; the thread's first
  /// position in a tile; whether four columns are the head's, of which the
  /// first one is `column`, the `chunk`-th of the thread. All i32.
  mlir::Value query(int32_t row);
  mlir::Value position() { return across; }
  mlir::Value column(int32_t chunk);
  mlir::Value isColumn(int32_t chunk);

  /// Where four columns of a query of the item go, and the rows of positions.
  mlir::Value placeOfQuery(mlir::Value row, mlir::Value column);
  PositionRows keyRows() { return {t->bytes(memory, keysAt()), rowBytes()}; }
  PositionRows valueRows() {
    return {t->bytes(memory, valuesAt()), rowBytes()};
  }

  /// [rows][kOwnPositions]: a chain over the columns each.
  Values multiplyKeys();
  /// sums, [rows][columns], + the weights, as multiplyKeys has them, of
  /// positions times their values, in order. The warp's other lanes have none
  /// of its weights any more to read.
  Values addValues(mlir::ValueRange weights, Values sums);

private:
  static constexpr int32_t kWarps = kAttentionThreads / kWarpLanes;
  /// Positions whose weights lie in memory at a time, by which the lanes of a
  /// warp tell each other, and the bytes of their rows: writes of eight lanes
  /// of four rows meet all banks, and so do reads of four rows.
  static constexpr int32_t kStagePositions = 16;
  static constexpr int32_t kWeightBytes = 96;

  int32_t numChunks() const {
    return (headDim + 4 * kLanesAcross - 1) / (4 * kLanesAcross);
  }
  int32_t rowBytes() const { return (headDim / 4 | 1) * 16; }
  int32_t keysAt() const { return queryRows * rowBytes(); }
  int32_t valuesAt() const {
    return keysAt() + (areApart() ? kPositions * rowBytes() : 0);
  }
  int32_t weightsAt() const { return valuesAt() + kPositions * rowBytes(); }
  void storeWeights(mlir::ValueRange weights, int32_t stage);
  Values addStage(int32_t stage, llvm::ArrayRef<mlir::Value> before);

  int32_t headDim, queryRows;
  ThreadBuilder *t = nullptr;
  mlir::Value memory, down, across; // down: the thread's first query
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_FLOATTILES_H
