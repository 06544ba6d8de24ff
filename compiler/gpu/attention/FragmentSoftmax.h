// The softmax of scores in fragments, and the sums of values that go with it,
// tile by tile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_FRAGMENTSOFTMAX_H
#define TFC_COMPILER_GPU_ATTENTION_FRAGMENTSOFTMAX_H

#include "compiler/gpu/attention/AttentionBlock.h"

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

  /// Before the first tile.
  RowState begin();
  /// Adds the values of the warp's positions of a tile, with the weights that
  /// follow from their scores.
  void addTile(RowState &state, llvm::SmallVectorImpl<SumFragment> &scores,
               KeyTiles &tiles);
  /// Behind the last tile: the totals of the warp's positions.
  void finish(RowState &state);

private:
  /// Makes weights of the scores.
  void update(RowState &state, llvm::SmallVectorImpl<SumFragment> &scores);
  void addValues(RowState &state, llvm::ArrayRef<SumFragment> weights,
                 KeyTiles &tiles);
  mlir::Value pairOf(mlir::Value x, mlir::Value y);

  AttentionBlock &block;
  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_FRAGMENTSOFTMAX_H
