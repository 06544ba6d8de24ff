// A tile of keys and one of values in shared memory, for tensor cores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/KeyTiles.h"

#include "compiler/kernel/StepFields.h"

using namespace mlir;
using namespace tfc;

Value KeyTiles::values() {
  return buildAddress(k.builder(), memory,
                      kPositions * rowBytesOf(cache.headDim));
}

void KeyTiles::copy(Value to, Value source, Value from, Value end) {
  copyPositions(k, cache, thread, {to, rowBytesOf(cache.headDim)}, source, from,
                end);
}

LeftFragment KeyTiles::loadKeys(Value position, int64_t column) {
  ImplicitLocOpBuilder &b = k.builder();
  // Lanes name rows 0 to 7 of two tiles beside each other, then 8 to 15.
  Value row = k.add(k.remainder(lane, 8), k.scale(k.divide(lane, 16), 8));
  Value half = k.remainder(k.divide(lane, 8), 2);
  Value address =
      buildAddress(b, memory, k.add(position, row), rowBytesOf(cache.headDim));
  return loadTiles(b, buildAddress(b, address, half, 16, 2 * column));
}

LeftFragment KeyTiles::loadValues(Value position, int64_t column) {
  ImplicitLocOpBuilder &b = k.builder();
  // Rows 0 to 15 of a tile, then of the one beside it.
  Value row = k.remainder(lane, 16), half = k.divide(lane, 16);
  Value address = buildAddress(b, values(), k.add(position, row),
                               rowBytesOf(cache.headDim));
  return loadTiles(b, buildAddress(b, address, half, 16, 2 * column),
                   /*isTransposed=*/true);
}
