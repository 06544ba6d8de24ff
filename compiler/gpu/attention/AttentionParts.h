// Attention of few queries over many positions is done in parts, by blocks of
// their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_ATTENTIONPARTS_H
#define TFC_COMPILER_GPU_ATTENTION_ATTENTIONPARTS_H

#include "compiler/gpu/attention/AttentionBlock.h"

namespace tfc {

/// How an item of few queries is cut, and where its parts leave what they have.
/// A part is the same number of stretches of positions, which lie at multiples
/// of kStretch, as few as make at most kMost parts. So the cut follows from
/// what the item sees alone, and memory from the number of sequences, of which
/// each has one such item: its last.
class AttentionParts {
public:
  static constexpr int64_t kMost = 16;
  static constexpr int64_t kStretch = 256;
  /// Blocks that share out parts, in all, where items are few: about two or
  /// three times as many as the largest devices run at once.
  static constexpr int64_t kBlocks = 1024;

  /// `scratch` is what allocate() gave for the same op.
  AttentionParts(AttentionBlock &block, mlir::Value scratch)
      : block(block), k(block.k), b(block.b), scratch(scratch) {}

  /// Memory for the parts of a step, in f32: of each sequence, head of keys,
  /// part and row the sums of values, and behind them the greatest score and
  /// the total.
  static mlir::Value allocate(AttentionBlock &block, mlir::Value step);
  /// How many blocks share out the parts of an item and a head, for the host to
  /// say: up to kMost, fewer where there are many of these. Which block does a
  /// part makes no difference to it.
  static mlir::Value countBlocks(AttentionBlock &block, mlir::Value step);

  /// `item` sees [begin, end): what follows is of it.
  void cut(const WorkItem &item, mlir::Value kvHead, mlir::Value begin,
           mlir::Value end);
  /// Whether there is one part.
  mlir::Value isAlone();
  /// Whether there is something for part `number`; for the first there is.
  mlir::Value isSome(mlir::Value number);
  /// Where part `number` begins; its end is where the next one does.
  mlir::Value beginOf(mlir::Value number);

  /// Sums of row `row` in part `number`, a vector, from `column` on.
  void storeSums(mlir::Value sums, mlir::Value number, mlir::Value row,
                 mlir::Value column);
  mlir::Value loadSums(int64_t count, mlir::Value number, mlir::Value row,
                       mlir::Value column);
  /// The greatest score and the total, a vector.
  void storeNumbers(mlir::Value numbers, mlir::Value number, mlir::Value row) {
    storeSums(numbers, number, row, k.constant(block.cache.valueDim));
  }
  mlir::Value loadNumbers(mlir::Value number, mlir::Value row) {
    return loadSums(2, number, row, k.constant(block.cache.valueDim));
  }

private:
  AttentionBlock &block;
  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  mlir::Value scratch;
  mlir::Value sequence, kvHead;
  mlir::Value firstStretch, stretches, perPart;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_ATTENTIONPARTS_H
