// The terms of distances of vector attention: products of a tile's queries, and
// of groups of keys, with the rows that tables have for their distances.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_RELATIVETILES_H
#define TFC_COMPILER_CPU_RELATIVETILES_H

#include "compiler/cpu/AttentionTiles.h"

namespace tfc {

/// Emits scores[row][j] += queries[row] . A[t] + scale * K[j] . B[t], t being
/// the row of the distance of j and row. Each product is computed once for all
/// that need it: q . A[t] for the distances that the queries of an item meet,
/// K . B[t] for those that a group of keys meets, with the queries, or the
/// keys, in the lanes of a vector and a table's element in all of them. What
/// belongs to a query and its keys lies on a diagonal of the second. Rows of a
/// table of values are added by their weights, as values are.
class RelativeTiles {
public:
  /// Floats of scratch memory for items of `queryRows` queries.
  static int64_t sizeOf(transformer::PagedAttentionOp op, int64_t headDim,
                        int64_t queryRows);

  RelativeTiles(KernelBuilder &k, const VectorCache &cache,
                AttentionScratch &scratch, AttentionScore &score,
                AttentionTiles &tiles, int64_t lanes)
      : k(k), b(k.builder()), cache(cache), scratch(scratch), score(score),
        tiles(tiles), lanes(lanes) {}

  /// Puts the item's queries, which are in the scratch memory, by columns;
  /// those of `column` and on, where they are not what keys are multiplied
  /// with.
  void beginHead(const AttentionHead &head, mlir::Value column);
  /// Adds the terms to the scores of [first, count), and of some positions
  /// around. `column` is the head's first, in the tables.
  void addTerms(const AttentionHead &head, const Stretch &stretch,
                mlir::Value column);
  /// sums[row] += sum over the j that the row sees of weights[row][j] * C[t],
  /// in the order of positions; behind the sums of values, and of weights.
  void addValues(const AttentionHead &head, const Stretch &stretch,
                 mlir::Value row, mlir::Value column);

private:
  /// Lanes of the queries by columns.
  int64_t queryLanes() const { return std::min(lanes, cache.queryRows); }
  mlir::Value positionOf(const AttentionHead &head, mlir::Value row) {
    return k.position(head.item, row);
  }
  /// out[x][lane] = sum over d of table[t(first + x), column + d] times
  /// lanesAt(d), for x in [0, count) and some behind.
  struct Window {
    mlir::Value table, column, first, count, out;
    int64_t stride;
    llvm::function_ref<mlir::Value(mlir::Value)> lanesAt;
  };
  void emitWindow(const Window &window, int64_t width);
  void addQueries(const AttentionHead &head, const Stretch &stretch,
                  mlir::Value column);
  void addKeys(const AttentionHead &head, const Stretch &stretch,
               mlir::Value column);
  /// scores of `row` from `place` on += factor * floats of the scratch memory,
  /// `step` apart from `from` on.
  void addDiagonal(mlir::Value place, mlir::Value from, int64_t step,
                   mlir::Value factor);

  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  const VectorCache &cache;
  AttentionScratch &scratch;
  AttentionScore &score;
  AttentionTiles &tiles;
  int64_t lanes;
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_RELATIVETILES_H
