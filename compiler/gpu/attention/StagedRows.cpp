// Rows of 16 bits in shared memory, which warps multiply fragments of.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/StagedRows.h"

#include "compiler/kernel/StepFields.h"

using namespace mlir;
using namespace tfc;

Value StagedRows::addressOf(Value row, Value column) {
  ImplicitLocOpBuilder &b = k.builder();
  return buildAddress(b, buildAddress(b, memory, row, rowBytes), column, 2);
}

/// Lanes name rows 0 to 15 of a tile's first columns, then of the others.
LeftFragment StagedRows::loadLeft(Value row, Value column) {
  Value own = k.add(row, k.remainder(lane, 16));
  Value half = k.scale(k.divide(lane, 16), 8);
  return loadTiles(k.builder(), addressOf(own, k.add(column, half)));
}

/// Lanes name rows 0 to 7 of two tiles beside each other, then 8 to 15.
LeftFragment StagedRows::loadRows(Value row, Value column) {
  Value own = k.add(k.remainder(lane, 8), k.scale(k.divide(lane, 16), 8));
  Value half = k.scale(k.remainder(k.divide(lane, 8), 2), 8);
  return loadTiles(k.builder(),
                   addressOf(k.add(row, own), k.add(column, half)));
}

LeftFragment StagedRows::loadColumns(Value row, Value column) {
  Value own = k.add(row, k.remainder(lane, 16));
  Value half = k.scale(k.divide(lane, 16), 8);
  return loadTiles(k.builder(), addressOf(own, k.add(column, half)),
                   /*isTransposed=*/true);
}
