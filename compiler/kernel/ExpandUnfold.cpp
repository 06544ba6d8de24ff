// Rows of neighbouring frames: a few columns of a sequence are an item, which
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
  transformer::FrameWindow window = transformer::windowOf(op);
  // The first tap has the first row of all.
  int64_t least = std::min<int64_t>(window.placeOf(0).rows, 0);
  Value before = k.constant(-least);
  Value last = k.subtract(rows.count, k.constant(1));
  Values zeros = tile.zeros();
  for (int64_t tap = 0; tap < window.taps; ++tap) {
    transformer::FrameWindow::Place from = window.placeOf(tap);
    // Counted from so many rows before the first, none is negative.
    Value place = k.add(row, from.rows - least);
    Value isSeen =
        arith::AndIOp::create(k.builder(), k.isAtMost(before, place),
                              k.isLess(place, k.add(rows.visible, before)));
    Value other = k.min(k.subtract(k.max(place, before), before), last);
    Values values =
        tile.loadRow(op.getInputs()[static_cast<size_t>(from.input)],
                     k.add(rows.first, other), k.constant(from.column));
    tile.storeSpread(tile.select(isSeen, values, zeros), op.getInit(),
                     k.add(rows.first, row), window.taps, tap);
  }
}

void tfc::expandUnfold(transformer::RaggedUnfoldOp op, Value step,
                       int64_t lanes, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  KernelBuilder k(op.getLoc(), rewriter, step);
  forEachColumnTile(
      k, step, {}, transformer::windowOf(op).width, lanes, /*vectors=*/1,
      [&](Value sequence, ValueRange, ColumnTile &tile) {
        NewRows rows = loadNewRows(k, step, sequence);
        k.loop(rows.count, [&](Value row) { emitRow(k, op, rows, row, tile); });
      });
  rewriter.eraseOp(op);
}
