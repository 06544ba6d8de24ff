// Rows with their neighbours: a few columns of a sequence are an item, which
// goes from token to token.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandUnfold.h"

#include "compiler/kernel/ColumnTile.h"
#include "compiler/kernel/NewRows.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

static void emitRow(KernelBuilder &k, transformer::RaggedUnfoldOp op,
                    const NewRows &rows, Value row, ColumnTile &tile) {
  auto taps = static_cast<int64_t>(op.getTaps());
  Value before = k.constant((taps - 1) / 2);
  Value last = k.subtract(rows.count, k.constant(1));
  Values zeros = tile.zeros();
  for (int64_t tap = 0; tap < taps; ++tap) {
    // Counted from so many rows before the first, none is negative.
    Value place = k.add(row, tap);
    Value isSeen =
        arith::AndIOp::create(k.builder(), k.isAtMost(before, place),
                              k.isLess(place, k.add(rows.visible, before)));
    Value other = k.min(k.subtract(k.max(place, before), before), last);
    Values values =
        tile.loadRow(op.getInput(), k.add(rows.first, other), k.constant(0));
    tile.storeSpread(tile.select(isSeen, values, zeros), op.getInit(),
                     k.add(rows.first, row), taps, tap);
  }
}

void tfc::expandUnfold(transformer::RaggedUnfoldOp op, Value step,
                       int64_t lanes, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  KernelBuilder k(op.getLoc(), rewriter, step);
  forEachColumnTile(
      k, step, {}, transformer::widthOf(op.getInput()), lanes, /*vectors=*/1,
      [&](Value sequence, ValueRange, ColumnTile &tile) {
        NewRows rows = loadNewRows(k, step, sequence);
        k.loop(rows.count, [&](Value row) { emitRow(k, op, rows, row, tile); });
      });
  rewriter.eraseOp(op);
}
