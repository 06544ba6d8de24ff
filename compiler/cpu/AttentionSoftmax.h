// The softmax of vector attention: scores of a stretch, biased and capped where
// that is asked for, become weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_ATTENTIONSOFTMAX_H
#define TFC_COMPILER_CPU_ATTENTIONSOFTMAX_H

#include "compiler/cpu/AmxAttention.h"

namespace tfc {

/// Emits the softmax of a row in two steps, each for all rows of the item
/// before the next: what a row waits for, the folding of its vectors, is then
/// hidden behind other rows. Its sums have one order, whatever the row's tile
/// and the number of lanes.
class AttentionSoftmax {
public:
  /// With `products` scores have no scale yet, and weights are stored as these
  /// read them.
  AttentionSoftmax(KernelBuilder &k, AttentionScratch &scratch,
                   AttentionTiles &tiles, AttentionScore &score, int64_t lanes,
                   AmxAttention *products);

  /// Adjusts the scores of the stretch that the row sees, updates the row's
  /// maximum, and says how much what was before decays.
  void emitMaximum(const AttentionHead &head, const Stretch &stretch,
                   mlir::Value row);
  /// Makes these scores weights, exp(score - maximum), and updates the row's
  /// total.
  void emitWeights(const AttentionHead &head, const Stretch &stretch,
                   mlir::Value row);
  /// The j of the stretch that a row sees.
  AmxAttention::Range rangeOf(const AttentionHead &head, const Stretch &stretch,
                              mlir::Value row);

private:
  using Values = KernelBuilder::Values;

  /// The scores of a stretch that a row sees.
  struct Visible {
    mlir::Value place; // in the scratch memory, of position 0
    mlir::Value begin; // null where all see from 0 on
    mlir::Value end;
  };
  Visible visibleOf(const AttentionHead &head, const Stretch &stretch,
                    mlir::Value row);
  /// body(column, carried, masks) for each chunk, a vector carried for each of
  /// its vectors; without masks where the chunk is whole. Chunks lie at fixed
  /// positions, as stretches do.
  Values inChunks(
      const Visible &visible, mlir::Value init,
      llvm::function_ref<Values(mlir::Value, mlir::ValueRange, const Values &)>
          body);

  /// The vectors of the scores at `place`, a chunk.
  Values loadScores(mlir::Value place);
  /// Which of the positions from `column` on the row sees: a vector each.
  Values maskScores(mlir::Value column, const Visible &visible);
  /// One value of a chunk's, halving: the same order for every number of lanes.
  mlir::Value
  fold(Values vectors,
       llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  mlir::Value broadcast(mlir::Value number);
  /// What the row's scores are multiplied by, or null.
  mlir::Value scaleOf(const AttentionHead &head, mlir::Value row);
  mlir::Value larger(mlir::Value x, mlir::Value y);

  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  AttentionScratch &scratch;
  AttentionTiles &tiles;
  AttentionScore &score;
  int64_t lanes;
  AmxAttention *products; // or null
  int64_t numVectors;     // of a chunk of scores
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_ATTENTIONSOFTMAX_H
