// An op that the stage `buffer` does not allow is named.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not tfc-opt %s --tfc-convert-to-llvm 2>&1 | FileCheck %s

// CHECK: error: failed to legalize operation 'vector.gather'
func.func @gather(%rows: memref<?x8xf32>, %places: vector<4x4xindex>,
                  %mask: vector<4x4xi1>, %old: vector<4x4xf32>)
    -> vector<4x4xf32> {
  %c0 = arith.constant 0 : index
  %0 = vector.gather %rows[%c0, %c0] [%places], %mask, %old
    : memref<?x8xf32>, vector<4x4xindex>, vector<4x4xi1>, vector<4x4xf32>
      into vector<4x4xf32>
  return %0 : vector<4x4xf32>
}
