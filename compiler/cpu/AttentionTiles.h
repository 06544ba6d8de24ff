// The two products of vector attention, q . K and p . V, in tiles of a static
// number of queries whose sums stay in registers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_ATTENTIONTILES_H
#define TFC_COMPILER_CPU_ATTENTIONTILES_H

#include "compiler/cpu/VectorCache.h"
#include "compiler/kernel/AttentionScore.h"

namespace tfc {

/// A worker's scratch memory, in floats.
class AttentionScratch {
public:
  /// Positions whose scores are there at a time. A query's softmax is merged
  /// from stretches of this many positions, cut at fixed positions, so that its
  /// bits do not depend on where a step began.
  static constexpr int64_t kStretch = 512;

  struct Needs {
    int64_t rows; // of an item
    int64_t headDim;
    int64_t tableSize;    // for the terms of scores
    int64_t relativeSize; // for those that are products with tables
    /// Whether weights are wanted without the scales of values, too.
    bool keepsWeights;
    /// Whether factors are packed for tiles of AMX.
    bool packs;
  };
  explicit AttentionScratch(const Needs &needs);

  int64_t queries = 0; // where [rows][rowStride], times the scale, begin
  int64_t sums;        // weighted sums of values, [rows][rowStride]
  int64_t scores;      // q . k, later exp(q . k - maximum), [rows][scoreStride]
  int64_t weights;     // exp(q . k - maximum) alone; mostly the scores
  int64_t maxima, totals, decays; // [rows]: see ExpandAttention.cpp
  int64_t table;                  // of the head: see AttentionScore.h
  int64_t relative;               // of the stretch: see RelativeTiles.h
  int64_t packed, configuration;  // see AmxAttention.h
  int64_t size;
  int64_t rowStride;
  /// A line more than the stretch: rows at a multiple of 4 KB from each other
  /// would share cache sets.
  static constexpr int64_t kScoreStride = kStretch + 16;

  mlir::Value memory; // [workers, size]
  mlir::Value worker;
};

/// A head of a work item at run time, whose queries are the rows of tiles; or,
/// of an item of one query, heads that share their keys and values: then each
/// is a row.
struct AttentionHead {
  WorkItem item;
  mlir::Value kvHead;
  mlir::Value rows;
  mlir::Value areHeads; // i1: what rows are; null: queries

  /// The query of the item that a row is, and the head behind the first one.
  mlir::Value queryOf(KernelBuilder &k, mlir::Value row) const;
  mlir::Value headOf(KernelBuilder &k, mlir::Value row) const;
};

/// Positions [begin, begin + count) of a sequence. What else is here counts
/// from `begin`.
struct Stretch {
  mlir::Value begin, count, firstBlock;
  /// Before it no query of the item sees any; 0 without an end to the left.
  mlir::Value first;
  /// What all queries of the item see is [commonBegin, common).
  mlir::Value commonBegin, common;
};

/// What vectors of floats a CPU has.
struct Registers {
  int64_t lanes; // 16 or 8
  /// Whether a multiply-add's factor may be a lane of four: then no broadcast
  /// is loaded.
  bool byLane;
};

/// Emits the products for tiles of 1, 2, 4 or 8 rows; a row has the same
/// operations in the same order in each.
class AttentionTiles {
public:
  AttentionTiles(KernelBuilder &k, const VectorCache &cache,
                 AttentionScratch &scratch, AttentionScore &score,
                 transformer::PagedAttentionOp op, const Registers &registers);

  /// scores[row][j] = queries[row] . K[begin + j] for j in [first, count), and
  /// for some j around, where they mean nothing.
  void emitScores(const AttentionHead &head, const Stretch &stretch,
                  int64_t rows);

  /// Of a quantized cache, scores[row][j] *= the scale of V[begin + j], for
  /// the first `rows` rows and j in [first, count), and for some j around.
  void scaleWeights(const AttentionHead &head, const Stretch &stretch,
                    mlir::Value rows);

  /// sums[row] = sums[row] * decays[row] + sum of scores[row][j] * V[begin + j]
  /// over the j that all rows see.
  void emitSums(const AttentionHead &head, const Stretch &stretch,
                int64_t rows);

  /// The j that only some rows see, those before the others and those behind
  /// them, a row at a time: no sum is added to and kept as it was. Where
  /// windows have a left end, it is `emitFirstSums` that decays.
  void emitFirstSums(const AttentionHead &head, const Stretch &stretch,
                     mlir::Value row);
  void emitLastSums(const AttentionHead &head, const Stretch &stretch,
                    mlir::Value row);

  /// Pointer to block `block` of the stretch.
  mlir::Value blockOf(const AttentionHead &head, const Stretch &stretch,
                      mlir::Value block);

  /// A place in the scratch memory of the running worker.
  mlir::Value loadScratch(mlir::Value offset);
  mlir::Value loadScratch(mlir::Value offset, int64_t width);
  void storeScratch(mlir::Value value, mlir::Value offset);

  /// Asks for a line, into the second level.
  void prefetch(mlir::Value address);

private:
  /// Rows [row, row + rows) against `groups` groups of keys, at position
  /// `column` of the stretch; `next` is what to prefetch, or null.
  struct ScoreTile {
    int64_t rows, groups;
    mlir::Value row, keys, next, column;
  };
  /// Numbers of a tile's rows that a turn multiplies by: those behind `place`
  /// of the scratch memory, `stride` from one row to the next; or, of each row,
  /// a vector of them, whose lanes they are.
  struct Factors {
    mlir::Value place;
    int64_t stride;
    KernelBuilder::Values vectors;
  };
  /// Of a turn of `count` numbers, four or one, or two.
  Factors loadFactors(mlir::Value place, int64_t stride, int64_t rows,
                      int64_t count);
  mlir::Value factorOf(const Factors &factors, int64_t row, int64_t number,
                       int64_t width);
  void emitScoreTile(const ScoreTile &tile);
  /// The scales of the tile's keys, a vector for each of its vectors of keys;
  /// none where the cache has none.
  KernelBuilder::Values loadKeyScales(const ScoreTile &tile);
  /// sums + queries[.][first + column] * the column of keys, `column` behind
  /// the one at `line`; `queries` are those from `first` on.
  KernelBuilder::Values emitScoreColumn(const ScoreTile &tile, mlir::Value line,
                                        mlir::Value next,
                                        const Factors &queries, int64_t column,
                                        KernelBuilder::Values sums);

  /// Rows [row, row + rows), the pieces of the columns from `column` on.
  struct SumTile {
    int64_t rows;
    mlir::Value row, column;
    llvm::ArrayRef<ColumnPiece> pieces;
  };
  /// body(column, pieces) for parts of a head that a tile takes at a time.
  void forEachPass(
      int64_t tileRows,
      llvm::function_ref<void(mlir::Value, llvm::ArrayRef<ColumnPiece>)> body);
  KernelBuilder::Values loadSums(const SumTile &tile, bool decay);
  void storeSums(const SumTile &tile, mlir::ValueRange sums);
  /// Where the tile's sums are, from those of the first row and column.
  mlir::Value sumsOf(const SumTile &tile);
  KernelBuilder::Values sumCommon(const AttentionHead &head,
                                  const Stretch &stretch, const SumTile &tile,
                                  mlir::ValueRange sums);
  /// Positions [from, to) of the stretch, for a tile of one row.
  KernelBuilder::Values sumRow(const AttentionHead &head,
                               const Stretch &stretch, const SumTile &tile,
                               mlir::Value from, mlir::Value to,
                               mlir::ValueRange sums);
  /// sums + scores[.][position] * the row of values at `values`, which has
  /// number `number` of the `weights`.
  KernelBuilder::Values addWeighted(const SumTile &tile, mlir::Value values,
                                    const Factors &weights, int64_t number,
                                    mlir::ValueRange sums);
  /// Rows [from, to) of a block of values, `step` a turn; `place` is that of
  /// the block's first position, `next` the block to ask for or null.
  KernelBuilder::Values sumSlots(const SumTile &tile, mlir::Value values,
                                 mlir::Value next, mlir::Value place,
                                 mlir::Value from, mlir::Value to, int64_t step,
                                 mlir::ValueRange sums);

  /// body(row) for the first row of each tile: one code for all of them.
  void forEachTile(int64_t rows, int64_t tileRows,
                   llvm::function_ref<void(mlir::Value)> body);
  /// Of the tile's position 0, from that of the first row.
  mlir::Value scoresOf(const SumTile &tile);
  /// Vectors of keys or values that a tile of `rows` rows takes at a time.
  int64_t maxVectors(int64_t rows) const;
  mlir::Value broadcast(mlir::Value number, int64_t width);
  void prefetchValues(const SumTile &tile, mlir::Value row);
  void prefetchValueScales(const AttentionHead &head, const Stretch &stretch,
                           mlir::Value block);
  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  const VectorCache &cache;
  AttentionScratch &scratch;
  AttentionScore &score;
  transformer::PagedAttentionOp op;
  int64_t lanes;
  bool byLane;
  int64_t maxRows; // of a tile
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_ATTENTIONTILES_H
