// Ops that the stage `buffer` does not allow are named.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics --tfc-convert-to-llvm

func.func @gather(%rows: memref<?x8xf32>, %places: vector<4x4xindex>,
                  %mask: vector<4x4xi1>, %old: vector<4x4xf32>)
    -> vector<4x4xf32> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{failed to legalize operation 'vector.gather'}}
  %0 = vector.gather %rows[%c0, %c0] [%places], %mask, %old
    : memref<?x8xf32>, vector<4x4xindex>, vector<4x4xi1>, vector<4x4xf32>
      into vector<4x4xf32>
  return %0 : vector<4x4xf32>
}

// -----

func.func @product(%x: memref<?x8xf32>, %panels: memref<1x8x16xf32>,
                   %y: memref<?x16xf32>) {
  // expected-error @+1 {{failed to legalize operation 'transformer.product'}}
  transformer.product %x, %panels outs(%y)
      : memref<?x8xf32>, memref<1x8x16xf32>, memref<?x16xf32> {
  ^bb0(%sum: f32):
    %twice = arith.addf %sum, %sum : f32
    transformer.yield %twice : f32
  }
  return
}
