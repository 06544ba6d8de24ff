// A row of a sequence asks: the others beside it, and their sum by weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandPairs.h"

#include "compiler/kernel/ColumnTile.h"
#include "compiler/kernel/NewRows.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

/// The row that asks; of spectators alone the first one.
static Value queryRow(KernelBuilder &k, const NewRows &rows,
                      transformer::QueryPlace place) {
  if (place == transformer::QueryPlace::First) {
    return rows.first;
  }
  Value one = k.constant(1);
  return k.add(rows.first, k.subtract(k.max(rows.visible, one), one));
}

void tfc::expandPairs(transformer::RaggedPairsOp op, Value step, int64_t lanes,
                      RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  KernelBuilder k(op.getLoc(), rewriter, step);
  int64_t width = transformer::widthOf(op.getInput());
  forEachColumnTile(k, step, {}, width, lanes, /*vectors=*/1,
                    [&](Value sequence, ValueRange, ColumnTile &tile) {
                      NewRows rows = loadNewRows(k, step, sequence);
                      Value zero = k.constant(0);
                      Values query =
                          tile.loadRow(op.getInput(),
                                       queryRow(k, rows, op.getQuery()), zero);
                      k.loop(rows.count, [&](Value number) {
                        Value row = k.add(rows.first, number);
                        Values own = tile.loadRow(op.getInput(), row, zero);
                        Values parts[] = {query, own, tile.subtract(query, own),
                                          tile.multiply(query, own)};
                        for (auto [part, values] : llvm::enumerate(parts)) {
                          tile.storeRow(values, op.getInit(), row,
                                        k.constant(int64_t(part) * width));
                        }
                      });
                    });
  rewriter.eraseOp(op);
}

/// The columns of `tile` of wanted row `row`.
static void emitSum(KernelBuilder &k, transformer::RaggedWeightsOp op,
                    const NewRows &rows, Value row, ColumnTile &tile) {
  Value zero = k.constant(0), one = k.constant(1);
  bool isFirst = op.getQuery() == transformer::QueryPlace::First;
  Value begin = isFirst ? one : zero;
  Value end = isFirst ? rows.visible : k.subtract(rows.visible, one);
  Values sums =
      k.loop(begin, end, 1, tile.zeros(), [&](Value number, ValueRange sums) {
        Value token = k.add(rows.first, number);
        Value weight = k.loadFloat(op.getWeights(), ValueRange{token, zero});
        return tile.fma(tile.broadcast(weight),
                        tile.loadRow(op.getInput(), token, zero), sums);
      });
  tile.storeRow(sums, op.getInit(), row, zero);
  Values query =
      tile.loadRow(op.getInput(), queryRow(k, rows, op.getQuery()), zero);
  tile.storeRow(query, op.getInit(), row,
                k.constant(transformer::widthOf(op.getInput())));
}

void tfc::expandWeights(transformer::RaggedWeightsOp op, Value step,
                        int64_t lanes, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  KernelBuilder k(op.getLoc(), rewriter, step);
  ImplicitLocOpBuilder &b = k.builder();
  int64_t width = transformer::widthOf(op.getInput());
  Value zero = k.constant(0), one = k.constant(1);
  Values upper = {memref::DimOp::create(b, op.getInit(), 0)};
  if (lanes == 1) {
    upper.push_back(k.constant(width));
  }
  auto loop = scf::ParallelOp::create(b, Values(upper.size(), zero), upper,
                                      Values(upper.size(), one));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVars()[0];
    Value token = arith::IndexCastOp::create(
        b, b.getIndexType(), memref::LoadOp::create(b, op.getRows(), row));
    NewRows rows = findNewRows(k, step, token);
    auto emit = [&](Value column, const ColumnPiece &piece) {
      ColumnTile tile(k, column, piece);
      emitSum(k, op, rows, row, tile);
    };
    if (lanes == 1) {
      emit(loop.getInductionVars()[1], {0, 1});
    } else {
      int64_t whole = width / lanes * lanes;
      k.loop(zero, k.constant(whole), lanes,
             [&](Value column) { emit(column, {0, lanes}); });
      for (const ColumnPiece &piece : cutColumns(width - whole, lanes)) {
        emit(k.constant(whole), piece);
      }
    }
  }
  rewriter.eraseOp(op);
}
