// The softmax of vector attention: scores of a stretch, biased where there is a
// bias, become weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_ATTENTIONSOFTMAX_H
#define TFC_COMPILER_CPU_ATTENTIONSOFTMAX_H

#include "compiler/cpu/AttentionTiles.h"

namespace tfc {

/// Emits the softmax of one row at a time. Its sums have one order, whatever
/// the row's tile and the number of lanes.
class AttentionSoftmax {
public:
  AttentionSoftmax(KernelBuilder &k, AttentionScratch &scratch,
                   AttentionTiles &tiles, transformer::PagedAttentionOp op,
                   int64_t lanes);

  /// Puts the biases of head `number` into the scratch memory, with margins.
  void loadBias(mlir::Value number);

  /// scores[row][j] = exp(scores[row][j] + bias - maximum) for the j of the
  /// stretch that the row sees; updates the row's maximum and total, and says
  /// how much what was before decays.
  void emit(const AttentionHead &head, const Stretch &stretch, mlir::Value row);

private:
  using Values = KernelBuilder::Values;

  /// The biases of `lanes` positions from `column` of the stretch on.
  mlir::Value biasAt(const AttentionHead &head, const Stretch &stretch,
                     mlir::Value row, mlir::Value column);
  /// The vectors of the scores at `place`, a chunk.
  Values loadScores(mlir::Value place);
  /// Which of the positions from `column` on are at or beyond `begin`, unless
  /// that is null, and before `end`: a vector each.
  Values maskScores(mlir::Value column, mlir::Value begin, mlir::Value end);
  /// One value of a chunk's, halving: the same order for every number of lanes.
  mlir::Value
  fold(Values vectors,
       llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  mlir::Value broadcast(mlir::Value number);
  mlir::Value larger(mlir::Value x, mlir::Value y);

  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  AttentionScratch &scratch;
  AttentionTiles &tiles;
  transformer::PagedAttentionOp op;
  int64_t lanes;
  int64_t numVectors; // of a chunk of scores
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_ATTENTIONSOFTMAX_H
