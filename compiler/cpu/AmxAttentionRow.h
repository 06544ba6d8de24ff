// The two products of attention for one row, to the bits of AMX's tiles, in
// vectors that read the cache as it is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_AMXATTENTIONROW_H
#define TFC_COMPILER_CPU_AMXATTENTIONROW_H

#include "compiler/cpu/AttentionTiles.h"
#include "compiler/cpu/MovingPointer.h"

namespace tfc {

/// A tile's instruction adds the products of the first elements of 16 words
/// from zero, apart those of the second ones, then both, then what was there.
/// So do two dots of words whose upper halves are zero; and one row is done
/// before its keys and values would be packed for a tile. What the row does not
/// see is not read.
class AmxAttentionRow {
public:
  AmxAttentionRow(KernelBuilder &k, const VectorCache &cache,
                  AttentionTiles &tiles)
      : k(k), b(k.builder()), cache(cache), tiles(tiles) {}

  /// Positions of a stretch, from the first to behind the last.
  using Range = std::pair<mlir::Value, mlir::Value>;

  /// scores[j] = query . K[begin + j] for j in [first, count) of the stretch,
  /// and for some j around, where they mean nothing; `query` points to bf16,
  /// `scores` to f32.
  void emitScores(const AttentionHead &head, const Stretch &stretch,
                  mlir::Value query, mlir::Value scores);

  /// sums += sum of weights[j] * V[begin + j] for j in [seen.first,
  /// seen.second); `weights` points to bf16, `sums` to f32, whole vectors of
  /// 16.
  void emitSums(const AttentionHead &head, const Stretch &stretch, Range seen,
                mlir::Value weights, mlir::Value sums);

private:
  using Values = KernelBuilder::Values;

  /// A step's sums: those of the first elements of its words and, behind them,
  /// those of the second ones, as many vectors each.
  Values beginStep(int64_t vectors);
  /// totals + those of a step.
  Values endStep(mlir::ValueRange totals, mlir::ValueRange sums);
  /// sums[i] + left[i] * right for the i of first or second elements; factors
  /// are words.
  Values addProducts(mlir::ValueRange sums, bool isSecond,
                     mlir::ValueRange left, mlir::Value right);
  /// All elements the bf16 at `pointer`.
  mlir::Value loadFactor(mlir::Value pointer);

  Values addScoreColumns(int64_t columns, mlir::Value keys, mlir::Value next,
                         mlir::Value query, mlir::ValueRange totals);

  Values addPosition(mlir::Value values, mlir::Value next, mlir::Value weight,
                     bool isSecond, int64_t columns, mlir::ValueRange sums);
  /// `places`: of values, of those a block later, and of weights.
  Values addPositions(llvm::MutableArrayRef<MovingPointer> places,
                      mlir::Value from, mlir::Value to,
                      llvm::ArrayRef<bool> areSecond, int64_t columns,
                      mlir::ValueRange sums);
  /// `columns` columns from `column` on, whose sums stay in registers.
  void emitPass(const AttentionHead &head, const Stretch &stretch, Range seen,
                mlir::Value weights, mlir::Value sums, mlir::Value column,
                int64_t columns);
  /// Vectors of words; behind the last column zeros.
  Values loadValues(mlir::Value row, int64_t columns);

  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  const VectorCache &cache;
  AttentionTiles &tiles;
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_AMXATTENTIONROW_H
