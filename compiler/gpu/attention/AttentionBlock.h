// What the threads of a block know of an item of attention by tensor cores: who
// they are, and which queries are rows of whose fragments.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_ATTENTIONBLOCK_H
#define TFC_COMPILER_GPU_ATTENTION_ATTENTIONBLOCK_H

#include "compiler/gpu/attention/DeviceCache.h"
#include "compiler/gpu/attention/KeyTiles.h"
#include "compiler/gpu/thread/WarpBuilder.h"
#include "compiler/kernel/AttentionScore.h"

#include <algorithm>

namespace tfc {

/// Softmax goes by powers of two: scores are multiplied by this.
constexpr double kLog2E = 1.4426950408889634;

/// A row of a fragment: a query of a head. Rows beyond the item's repeat one of
/// it and are not written.
struct FragmentRow : ScoreRow {
  mlir::Value isOwn, token;
};

/// Four warps do the queries of a head, 16 a warp; or, with `isShared`, all of
/// them the same rows, queries of all heads that share keys, and share out the
/// positions of a tile: 16 rows of one fragment, or, with `isWide`, as many as
/// WideAttention has.
class AttentionBlock {
public:
  /// Rows of a fragment, and positions of a tile that warps share out.
  static constexpr int64_t kRows = 16;
  static constexpr int64_t kWarps = KeyTiles::kThreads / WarpBuilder::kLanes;

  /// `step` is the pointer to the step.
  /// `isGroup`: the four warps multiply together (WarpgroupTiles).
  AttentionBlock(transformer::PagedAttentionOp op, const DeviceCache &cache,
                 mlir::Value step, bool isShared, bool isGroup,
                 mlir::OpBuilder &builder, bool isWide = false)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()),
        score(k, op, kLog2E), cache(cache), lanes(k), isShared(isShared),
        isGroup(isGroup), isWide(isWide),
        group(op.getNumHeads() / op.getCache().getType().getKvHeads()) {}

  /// Queries of an item, at most, whose rows are one fragment: the items of
  /// blocks with `isShared`. None where the heads of a group are too many; with
  /// `isWide` there is one.
  int64_t fewQueries() const {
    return std::max<int64_t>(kRows / group, isWide);
  }
  /// The rows that these fill.
  int64_t fewRows() const { return fewQueries() * group; }
  mlir::Value isFew(const WorkItem &item) {
    return k.isLess(item.rows, k.constant(fewQueries() + 1));
  }
  /// The first position and the end of what each of the queries of `item` sees:
  /// later queries see further, and not from earlier on. The end may lie before
  /// the beginning.
  std::pair<mlir::Value, mlir::Value> seenByAll(const WorkItem &item);
  mlir::Value lastQuery(const WorkItem &item) {
    return k.subtract(item.rows, k.constant(1));
  }

  /// Says which thread of the block this is.
  void beginThread(mlir::Value number);
  /// What the thread's rows are in `item`: of `head`, with `isShared` a head of
  /// keys.
  void beginRows(const WorkItem &item, mlir::Value head);
  /// Row `number` of the block.
  FragmentRow makeRow(const WorkItem &item, mlir::Value head,
                      mlir::Value number);

  /// Positions of a tile that a warp takes, eight at a time, and the warp's
  /// `position`-th of them.
  int64_t numEights() const {
    return (isShared ? KeyTiles::kPositions / kWarps : KeyTiles::kPositions) /
           8;
  }
  mlir::Value inTile(int64_t position) {
    return isShared ? k.add(k.scale(warp, kRows), position)
                    : k.constant(position);
  }

  /// Writes columns of the result, a vector, from `column` of the row's head
  /// on, a multiple of as many.
  void storeColumns(mlir::Value columns, const FragmentRow &row,
                    mlir::Value column);

  /// NaN where one of them is.
  mlir::Value larger(mlir::Value x, mlir::Value y);
  mlir::Value isEqual(mlir::Value x, int64_t y);
  /// The score of what a row does not see.
  mlir::Value lowest();

  transformer::PagedAttentionOp op;
  KernelBuilder k;
  mlir::ImplicitLocOpBuilder &b;
  AttentionScore score;
  const DeviceCache &cache;
  WarpBuilder lanes;
  bool isShared, isGroup, isWide;
  int64_t group; // heads that share keys

  mlir::Value thread, warp, pair; // pair: of columns in a fragment
  mlir::Value eighth;             // the thread's first row in a fragment
  mlir::Value kvHead;
  mlir::Value part;                // of the item, where it is cut; else null
  std::array<FragmentRow, 2> rows; // of the thread
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_ATTENTIONBLOCK_H
