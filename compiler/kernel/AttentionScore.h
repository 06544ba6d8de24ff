// The scores of paged attention, one description for the kernels of all
// targets: which keys a query sees, what its products with them become, and
// what softmax starts from. A further term of a score is written here.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_ATTENTIONSCORE_H
#define TFC_COMPILER_KERNEL_ATTENTIONSCORE_H

#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// A query of a head: it is at `position` of its sequence, sees [first, end),
/// and its products are multiplied by `scale`. `first` is null where queries
/// see from 0 on; it may lie behind `end`: such a query sees none.
struct ScoreRow {
  mlir::Value head, position, first, end, scale;
  /// Of block-sparse attention, null without: the block of the query, which is
  /// 0 where it sees all and there are random ones, and the last block.
  mlir::Value block, lastBlock;
  /// Where rows of the step are looked at by keys, null without: the row of
  /// position 0.
  mlir::Value keyRow;
  /// Of segments, null without: the query's type, and what its scores get of
  /// keys of the same and of another type.
  mlir::Value type, same, other;
};

/// Floats of the running worker from `begin` on in `memory`, [workers, size].
struct ScoreTable {
  mlir::Value memory, worker;
  int64_t begin;
};

/// Emits unit * cap(scale * q . k + bias + slope + sparse + segment), or what
/// no score is below where the key is unseen, of which a kernel asks for one
/// score at a time, or for what vectors of them need beside the scale.
class AttentionScore {
public:
  /// Kernels whose softmax goes by powers of another base than e have a `unit`.
  AttentionScore(KernelBuilder &k, transformer::PagedAttentionOp op,
                 double unit = 1)
      : k(k), b(k.builder()), op(op), unit(unit) {}

  /// Whether queries do not see all from 0 on.
  bool hasFirst() { return op.getLeft() || isLocalCausal(op); }
  /// Whether queries of an item see to different ends.
  bool hasOwnEnds();
  /// The beginning, which is there with `hasFirst`, and the end of what query
  /// `row` of the item sees.
  mlir::Value first(const WorkItem &item, mlir::Value row);
  mlir::Value end(const WorkItem &item, mlir::Value row);
  /// The first position and the end of what the queries of the item see
  /// together, or those from `row` to `last` of it.
  std::pair<mlir::Value, mlir::Value> seenBy(const WorkItem &item);
  std::pair<mlir::Value, mlir::Value> seenBy(const WorkItem &item,
                                             mlir::Value row, mlir::Value last);
  /// What the products of query `row` of the item are multiplied by.
  mlir::Value scale(const WorkItem &item, mlir::Value row);
  ScoreRow rowOf(const WorkItem &item, mlir::Value row, mlir::Value head);
  /// Fills what `own`, the row of query `row` of the item, has of the step's
  /// rows: of segments, and of rows that are unseen. Its head, where it has
  /// none, is that of `beginHead`.
  void beginRows(const WorkItem &item, mlir::Value row, ScoreRow &own);

  /// Whether queries have something added where they are multiplied with rows
  /// of the key table that they have not where they are with keys.
  bool hasRelativeBias() { return op.getQueryBias() || op.getRelativeBias(); }
  /// Query `token`'s number in `column` of all heads as products with keys have
  /// it, and as those with rows of the key table have it.
  mlir::Value keyQuery(mlir::Value token, mlir::Value column);
  mlir::Value tableQuery(mlir::Value token, mlir::Value column);
  /// What products with keys add to queries; null for nothing.
  mlir::Value queryBias() { return op.getQueryBias(); }

  /// Whether a query of the item sees a position of [begin, begin + count), for
  /// block-sparse attention: what no query sees may be left out, which changes
  /// no bit. Null without.
  mlir::Value seesStretch(const WorkItem &item, mlir::Value begin,
                          int64_t count);

  /// Whether there are terms of distances: products of queries with rows of the
  /// key table, and of keys with rows of the query table, and rows of the value
  /// table beside values. Some may be null.
  static bool isRelative(transformer::PagedAttentionOp op) {
    return bool(op.getDistanceRows());
  }
  /// Whether a score follows from the product of query and key, from their
  /// places and from nothing else of the row.
  static bool isOfProduct(transformer::PagedAttentionOp op) {
    return !isRelative(op) && !op.getQueryBias() && !op.getSegments() &&
           !op.getUnseen() && !hasSparseTerm(op) && !op.getRoundedSlopes();
  }
  mlir::Value keyTable() { return op.getRelativeKeys(); }
  mlir::Value queryTable() { return op.getRelativeQueries(); }
  mlir::Value valueTable() { return op.getRelativeValues(); }
  /// Where a head's columns of the table begin, `column` being where those of
  /// queries do: there, or at 0 in a table of all heads.
  mlir::Value tableColumn(mlir::Value table, mlir::Value column);
  /// Their row for a key `distance` before the query.
  mlir::Value tableRow(mlir::Value distance);
  /// A query's product with the key at `position` and, where there are tables,
  /// its terms of the distance. The functions give a column of each, of
  /// `width`.
  mlir::Value addRelative(mlir::Value dot, const ScoreRow &row,
                          mlir::Value position, int64_t width,
                          llvm::function_ref<mlir::Value(mlir::Value)> queryAt,
                          llvm::function_ref<mlir::Value(mlir::Value)> keyAt);
  /// The score of the key at `position`, whose product with the query is `dot`,
  /// terms of distances included.
  mlir::Value score(mlir::Value dot, const ScoreRow &row, mlir::Value position);
  /// A score without a value that query `token` of the head has seen before any
  /// position, with the weight 1; null where there is none.
  mlir::Value sink(mlir::Value token, mlir::Value head);

  /// Whether both products multiply bf16.
  static bool hasFactors(transformer::PagedAttentionOp op) {
    return op.getFactors().has_value();
  }
  /// Whether there is more to a score than the scaled product.
  bool isAdjusted() {
    return op.getBias() || op.getSlopes() || op.getCap() || hasSparseTerm(op) ||
           op.getSegments() || op.getUnseen();
  }
  /// Floats that vectors of scores have at hand for a head.
  int64_t tableSize();
  /// Fills the table for vectors of `lanes` scores of `head`.
  void beginHead(mlir::Value head, ScoreTable table, int64_t lanes);
  /// What scaled products of consecutive positions from `position` on become,
  /// for a query of the head.
  mlir::Value adjust(mlir::Value scores, const ScoreRow &row,
                     mlir::Value position);

private:
  /// Whether a query sees the blocks before its own as far as some position:
  /// where it begins says all of its blocks.
  static bool isLocalCausal(transformer::PagedAttentionOp op) {
    return op.getBlocksBefore() && op.getMask() == transformer::Mask::Causal;
  }
  /// Whether blocks are told apart by something that is added to scores.
  static bool hasSparseTerm(transformer::PagedAttentionOp op) {
    return op.getSparseBlock() && !isLocalCausal(op);
  }
  int64_t numDistances(); // of a bias, [-M, M]
  void fillBiases(mlir::Value head, int64_t lanes);
  /// Of the distance, and of consecutive ones from it on.
  mlir::Value loadBias(mlir::Value head, mlir::Value distance);
  mlir::Value loadBiases(mlir::Value distance);
  mlir::Value addSlope(mlir::Value score, mlir::Value head,
                       mlir::Value distance);
  mlir::Value addSlopes(mlir::Value scores, mlir::Value distance);
  /// r(r(slope) r(position)) times the scale of the query.
  mlir::Value roundedSlope(mlir::Value slope, mlir::Value position,
                           mlir::Value scale);
  /// What block-sparse attention adds for the keys at these positions, an i32
  /// or a vector of them.
  mlir::Value sparseTerm(const ScoreRow &row, mlir::Value positions);
  /// The same of blocks in a circle.
  mlir::Value circleTerm(const ScoreRow &row, mlir::Value positions);
  /// A query's number, and what `bias` adds to it there.
  mlir::Value biasedQuery(mlir::Value bias, mlir::Value token,
                          mlir::Value column);
  /// What a key of this type, or a vector of them, gets.
  mlir::Value segmentTerm(const ScoreRow &row, mlir::Value types);
  /// A score, or a vector of them, unless the key's number says it is unseen.
  mlir::Value unlessUnseen(mlir::Value scores, mlir::Value numbers);
  /// The numbers of the rows of consecutive positions, of those that the row
  /// sees.
  mlir::Value loadNumbers(mlir::Value numbers, const ScoreRow &row,
                          mlir::Value position);
  /// Consecutive i32 from `first` on.
  mlir::Value countFrom(mlir::Value first);
  mlir::Value cap(mlir::Value score);
  mlir::Value toFloat(mlir::Value index);
  mlir::Value inUnits(mlir::Value score);

  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  transformer::PagedAttentionOp op;
  double unit;

  // Of vectors.
  ScoreTable table;
  mlir::VectorType vectors;
  mlir::Value head, slope; // its
};

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_ATTENTIONSCORE_H
