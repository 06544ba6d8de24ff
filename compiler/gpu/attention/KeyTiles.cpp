// A tile of keys and one of values in shared memory, for tensor cores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/KeyTiles.h"

#include "compiler/kernel/StepFields.h"

using namespace mlir;
using namespace tfc;

Value KeyTiles::values() {
  return buildAddress(k.builder(), memory,
                      StagedRows::bytesOf(kPositions, cache.headDim));
}

void KeyTiles::copy(Value to, Value source, Value from, Value end) {
  copyPositions(k, cache, thread, {to, StagedRows::rowBytesOf(cache.headDim)},
                source, from, end);
}
