// Scores of queries in fragments against a tile of keys.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_FRAGMENTSCORES_H
#define TFC_COMPILER_GPU_ATTENTION_FRAGMENTSCORES_H

#include "compiler/gpu/attention/AttentionBlock.h"

namespace tfc {

/// The warp's queries, in registers.
class FragmentScores {
public:
  explicit FragmentScores(AttentionBlock &block)
      : block(block), k(block.k), b(block.b) {}

  /// Loads the block's rows of the queries.
  void loadQueries();
  /// The products of the rows with the warp's keys of a tile, for each eight of
  /// them.
  llvm::SmallVector<SumFragment> multiply(KeyTiles &tiles);
  /// Makes them scores, in powers of two: of the tile whose first position is
  /// `first`, all of which every row sees; or, with `isMasked`, the lowest
  /// number where a row does not see.
  void build(llvm::SmallVectorImpl<SumFragment> &products, mlir::Value first,
             bool isMasked);

private:
  AttentionBlock &block;
  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  llvm::SmallVector<LeftFragment> queries;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_FRAGMENTSCORES_H
