// The softmax of scores in fragments, and the sums of values that go with it,
// tile by tile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_FRAGMENTSOFTMAX_H
#define TFC_COMPILER_GPU_ATTENTION_FRAGMENTSOFTMAX_H

#include "compiler/gpu/attention/WarpgroupTiles.h"

namespace tfc {

/// What a thread has of its two rows: the greatest score so far, in powers of
/// two, its part of the total of weights, and of the sums of values the pairs
/// of columns that a fragment of sums has.
struct RowState {
  std::array<mlir::Value, 2> highest, total;
  llvm::SmallVector<SumFragment> sums;

  static RowState unpack(mlir::ValueRange values);
  KernelBuilder::Values pack() const;
};

class FragmentSoftmax {
public:
  explicit FragmentSoftmax(AttentionBlock &block)
      : block(block), k(block.k), b(block.b) {}

  /// Before the first tile, with sums of so many columns.
  RowState begin(int64_t columns);
  /// Makes weights of the scores of the warp's positions of a tile, some of
  /// which are the lowest number with `isMasked`. What the sums before are to
  /// be multiplied by, of each row.
  std::array<mlir::Value, 2> weigh(RowState &state,
                                   llvm::SmallVectorImpl<SumFragment> &scores,
                                   bool isMasked) {
    return weighAgainst(state, highestOf(state, scores), scores, isMasked);
  }
  /// The same in two steps: the greatest score, of those before and the warp's
  /// positions of a tile; weights by it, or by one that is greater.
  std::array<mlir::Value, 2> highestOf(const RowState &state,
                                       llvm::ArrayRef<SumFragment> scores);
  std::array<mlir::Value, 2>
  weighAgainst(RowState &state, const std::array<mlir::Value, 2> &highest,
               llvm::SmallVectorImpl<SumFragment> &scores, bool isMasked);
  /// Adds the values of these positions with their weights to the sums before,
  /// times `decay`.
  void addValues(RowState &state, const std::array<mlir::Value, 2> &decay,
                 llvm::ArrayRef<SumFragment> weights, KeyTiles &tiles);
  /// The same of tiles that four warps multiply together.
  void addValues(RowState &state, const std::array<mlir::Value, 2> &decay,
                 llvm::ArrayRef<SumFragment> weights, WarpgroupTiles &tiles);
  /// Behind the last tile: the totals of the warp's positions.
  void finish(RowState &state);

  void scaleSums(RowState &state, const std::array<mlir::Value, 2> &decay);
  /// Two numbers as a pair of elements of the cache's type.
  mlir::Value pairOf(mlir::Value x, mlir::Value y);

private:
  /// Of 16 positions from the n-th eight of them on.
  LeftFragment leftOf(llvm::ArrayRef<SumFragment> weights, size_t n);

  AttentionBlock &block;
  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_FRAGMENTSOFTMAX_H
