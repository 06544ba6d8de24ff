// The strategy table: tile sizes by target, a pure function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/tiling/Strategy.h"

using namespace tfc;

// prefetchRows: an Intel Xeon (family 6, model 207) decodes 4 sequences of
// GPT-2 124M in 30 ms with 2 and in 42 ms with 7; one row is at the read
// bandwidth without, and full tiles do not mind.
Strategy tfc::chooseStrategy(llvm::StringRef program) {
  if (program == "x86-64-v4") {
    // 8 x 48: 24 accumulators, 3 vectors of weights and a broadcast in 32
    // registers; each of the 3 loads serves 8 multiplications. 12 x 32 and
    // 14 x 32 would load less, but LLVM spills them (12 to 68 accesses of the
    // stack in four steps).
    return {16, 48, 8, 64, 4, 8, 64, 2, 768 << 10};
  }
  // 6 x 16 in 16 registers of 8 floats: 12 accumulators, 2 vectors, 1
  // broadcast.
  return {8, 16, 6, 60, 4, 8, 192, 2, 256 << 10};
}
