// What the pass cannot expand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-expand-cpu-kernels --split-input-file --verify-diagnostics
// RUN: not tfc-opt %s --tfc-expand-cpu-kernels=kernels=fast 2>&1 | FileCheck %s
// RUN: not tfc-opt %s --tfc-expand-cpu-kernels="kernels=vector lanes=4" 2>&1 | FileCheck %s --check-prefix=LANES

// CHECK: error: expected kernels=scalar or kernels=vector, got "fast"
// LANES: error: expected lanes=16 or lanes=8, got 4

transformer.parameter @w : tensor<4xf32> from <["w"], stored_rows = 4>

func.func @weight_without_a_place(%batch: !transformer.batch,
                                  %y: memref<4xf32>) {
  // expected-error @+1 {{expected a parameter with an offset (placed by tfc-pack-weights)}}
  %w = transformer.weight @w : memref<4xf32>
  memref.copy %w, %y : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func @product_without_a_tile(
    %x: memref<?x64xf32>, %w: memref<2x64x16xf32>, %y: memref<?x32xf32>,
    %batch: !transformer.batch) {
  // expected-error @below {{expected a tile (chosen by tfc-select-strategy), got none}}
  transformer.product %x, %w outs(%y)
      : memref<?x64xf32>, memref<2x64x16xf32>, memref<?x32xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}
