// Weights without a place, weights before bufferization, and entries that are bound already.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --split-input-file --verify-diagnostics

transformer.parameter @w : tensor<4xf32> from <["w"], stored_rows = 4>

func.func @weight_without_a_place(%batch: !transformer.batch,
                                  %y: memref<4xf32>) {
  // expected-error @+1 {{expected a parameter with an offset (placed by tfc-pack-weights)}}
  %w = transformer.weight @w : memref<4xf32>
  memref.copy %w, %y : memref<4xf32> to memref<4xf32>
  return
}

// -----

// expected-error @+1 {{expected no argument marked as 'transformer.step' (the pass adds it), got one}}
func.func @bound_already(%batch: !transformer.batch,
                         %step: !llvm.ptr {transformer.step}) {
  return
}

// -----

transformer.parameter @w : tensor<4xf32> from <["w"], stored_rows = 4> at 0

func.func @weight_that_is_a_tensor(%batch: !transformer.batch)
    -> tensor<4xf32> {
  // expected-error @+1 {{expected a weight in memory (the pass runs behind bufferization), got 'tensor<4xf32>'}}
  %w = transformer.weight @w : tensor<4xf32>
  return %w : tensor<4xf32>
}
