// The two products of attention, q . K and p . V, of bf16 in tiles of AMX.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_AMXATTENTION_H
#define TFC_COMPILER_CPU_AMXATTENTION_H

#include "compiler/cpu/AmxAttentionRow.h"
#include "compiler/cpu/AmxRegisters.h"

namespace tfc {

/// Tiles want pairs of factors side by side: of keys two columns of a position,
/// of values two positions of a column. The cache has neither, so a chunk's
/// keys and a stretch's values are packed in the worker's memory, where they
/// are rounded if the cache is of f32.
///
/// 32 positions, whose first is a multiple of 32, are a step of p . V, so that
/// a row's sums do not depend on who else is in the item: a position that it
/// does not see adds a product with zero. That is no number where a value is
/// none: then rows go one by one in vectors, which do not read what they do not
/// see. So does a row that is alone, for which packing would take too long.
/// A unit of AMX takes and gives no number below the normal ones, and zeros of
/// either sign; sums are freed of both.
class AmxAttention {
public:
  AmxAttention(KernelBuilder &k, const VectorCache &cache,
               AttentionScratch &scratch, AttentionTiles &tiles,
               transformer::PagedAttentionOp op);

  /// Before and after an item's products.
  void begin();
  void end() { registers.release(); }

  /// Stores columns of `row` from `column` on, f32, rounded.
  void storeQuery(mlir::Value query, mlir::Value row, int64_t column);
  /// Zeros behind a query's columns.
  void padQuery(mlir::Value row);

  /// scores[row][j] = queries[row] . K[begin + j] for j in [first, count), and
  /// for some j around, where they mean nothing; without the scale.
  void emitScores(const AttentionHead &head, const Stretch &stretch);

  /// weights[row][j] = these, f32, rounded; in the place of scores before j.
  void storeWeights(mlir::Value weights, mlir::Value row, mlir::Value j);
  /// Zeros for the j of [first, count), up to whole steps, which are not in
  /// [begin, end); all are in steps.
  void clearWeights(const Stretch &stretch, mlir::Value row, mlir::Value begin,
                    mlir::Value end);

  /// sums[row] = sums[row] * decays[row] + sum of weights[row][j] * V[begin +
  /// j]; `rangeOf(row)` are the j that a row sees.
  using Range = AmxAttentionRow::Range;
  void emitSums(const AttentionHead &head, const Stretch &stretch,
                llvm::function_ref<Range(mlir::Value)> rangeOf);

  /// Positions of a step of p . V, and of a chunk of q . K.
  static constexpr int64_t kStep = 32;

private:
  mlir::Value address(int64_t offset); // of floats of the scratch memory
  mlir::Value address(int64_t offset, mlir::Value row, int64_t rowBytes);

  void packKeys(mlir::Value keys);
  mlir::Value loadPair(mlir::Value even, mlir::Value odd, int64_t width);
  void emitChunks(const AttentionHead &head, const Stretch &stretch);
  void emitChunk(const AttentionHead &head, mlir::Value column);
  void emitScoreTile(mlir::Value row, mlir::Value column, int64_t height);

  /// Values of the positions in `seen`, else zeros, of all in `steps`; returns
  /// whether all are finite.
  mlir::Value packValues(const AttentionHead &head, const Stretch &stretch,
                         Range steps, Range seen);
  KernelBuilder::Values packPairs(const AttentionHead &head,
                                  const Stretch &stretch, Range range,
                                  mlir::Value first, Range *seen,
                                  mlir::ValueRange largest);
  mlir::Value maskOf(mlir::Value position, Range seen);
  KernelBuilder::Values packPair(mlir::Value from, mlir::Value to,
                                 mlir::Value kept, mlir::ValueRange largest);
  void decaySums(mlir::Value row);
  void multiplyValues(mlir::Value row, Range steps, int64_t height);
  void emitSumTile(mlir::Value row, Range steps, int64_t height,
                   mlir::Value column, int64_t width);
  /// [from, to) up to whole steps.
  Range toSteps(Range range);

  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  const VectorCache &cache;
  AttentionScratch &scratch;
  AttentionTiles &tiles;
  transformer::PagedAttentionOp op;
  AmxRegisters registers;
  AmxAttentionRow one;
  int64_t queryBytes, weightBytes; // of a row
  int64_t pairBytes;               // of two positions' packed values
  int64_t keySteps;                // of 32 columns
  mlir::Value base;                // of the worker's memory, an index
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_AMXATTENTION_H
