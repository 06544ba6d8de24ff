// Registers hold something: with no lanes a tile would have no end of pieces.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-split-tiles{lanes=0}))" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-split-tiles{lanes=-8}))" 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// NONE: error: option lanes of tfc-split-tiles: expected at least 1, got 0
// NEGATIVE: error: option lanes of tfc-split-tiles: expected at least 1, got -8
func.func @tile(%x: memref<2x8xf32>) {
  return
}
