// Paged attention over heads of so many columns that the warps of a block share
// them out, by tensor cores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_WIDEATTENTION_H
#define TFC_COMPILER_GPU_ATTENTION_WIDEATTENTION_H

#include "compiler/gpu/attention/AttentionParts.h"
#include "compiler/gpu/attention/FragmentSoftmax.h"

namespace tfc {

/// How a block does wide heads.
struct WideForm {
  /// The largest that `sharedBytes` of a block have room for, with `fragments`
  /// of 16 rows at most; none where there is none. Keys are a multiple of 16
  /// columns, values of 64 up to 512, and elements of 16 bits.
  static std::optional<WideForm> find(transformer::CacheType type,
                                      int64_t sharedBytes, int64_t fragments);

  int64_t rows() const { return 16 * fragments; }
  /// Where the queries, the weights and the exchanged numbers lie, behind the
  /// tiles; and where the memory ends.
  int64_t queriesAt, weightsAt, numbersAt, bytes;
  int64_t fragments;
  /// Tiles of latents, which are keys and values: one is computed with while
  /// the other comes, or there is one.
  int64_t stages;
};

/// A block has rows: queries of all heads that share keys. Its four warps share
/// out the 64 positions of a tile where scores are made, tell each other the
/// greatest ones, and leave weights in shared memory; then they share out the
/// columns of values. So a warp has a quarter of the sums of all rows in
/// registers, and reads a tile once.
class WideAttention {
public:
  /// Items are cut where there are `parts`, which `numBlocks` share out.
  /// `isFew` says whose items these are; see AttentionBlock.
  WideAttention(AttentionBlock &block, const WideForm &form, bool isFew,
                AttentionParts *parts = nullptr,
                mlir::Value numBlocks = mlir::Value())
      : block(block), form(form), isFew(isFew), parts(parts),
        numBlocks(numBlocks), k(block.k), b(block.b), softmax(block) {}

  /// A parallel loop over items, heads of keys, blocks of parts, tiles of rows
  /// and threads.
  void emit();

private:
  using States = llvm::SmallVector<RowState>;

  mlir::Value countTiles();
  mlir::Value isOwnTile(const WorkItem &item);
  void emitParts(const WorkItem &item, mlir::Value first);
  void beginTile(const WorkItem &item, mlir::Value head);
  void storeQueries(const WorkItem &item, mlir::Value head);
  States addPositions(const WorkItem &item);
  States addTile(const WorkItem &item, mlir::Value first, States states);
  llvm::SmallVector<llvm::SmallVector<SumFragment>>
  multiplyQueries(mlir::Value keys);
  void exchangeHighest(llvm::MutableArrayRef<std::array<mlir::Value, 2>> own);
  void addTotals(States &states);
  void storeWeights(int64_t fragment, llvm::ArrayRef<SumFragment> weights);
  void addValues(States &states, mlir::Value values);
  void askFor(const WorkItem &item, mlir::Value first, bool areKeys);
  void waitForTile();
  void storeRows(const States &states);
  void storePart(const States &states);

  mlir::Value address(int64_t place);
  /// Where the keys of the tile at `first` lie, and its values.
  mlir::Value keysAt(mlir::Value first);
  mlir::Value valuesAt(mlir::Value first);
  StagedRows rowsAt(mlir::Value memory, int64_t columns) {
    return StagedRows(k, memory, block.lanes.lane, columns);
  }
  /// The thread's row of a fragment, of those of the block.
  mlir::Value rowOf(int64_t fragment, int64_t half) {
    return k.add(block.eighth, 16 * fragment + 8 * half);
  }
  /// Of the values that the warp sums.
  int64_t numColumns() const {
    return block.cache.valueDim / AttentionBlock::kWarps;
  }
  mlir::Value columnOf(size_t eight);
  mlir::Value numberAt(mlir::Value warp, mlir::Value row);

  AttentionBlock &block;
  const WideForm &form;
  bool isFew;
  AttentionParts *parts;
  mlir::Value numBlocks;
  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  FragmentSoftmax softmax;

  mlir::Value memory;   // shared
  mlir::Value firstRow; // of the block, of all rows of the item
  mlir::Value begin, end;
  llvm::SmallVector<std::array<FragmentRow, 2>> rows; // of the thread
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_WIDEATTENTION_H
