// What the pass cannot expand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-emit-cpu-kernels --split-input-file --verify-diagnostics
// RUN: not tfc-opt %s --tfc-emit-cpu-kernels=kernels=fast 2>&1 | FileCheck %s

// CHECK: error: expected kernels=scalar, got "fast"

transformer.parameter @w : tensor<4xf32> from <["w"], stored_rows = 4>

func.func @weight_without_a_place(%batch: !transformer.batch,
                                  %y: memref<4xf32>) {
  // expected-error @+1 {{expected a parameter with an offset (placed by tfc-pack-weights)}}
  %w = transformer.weight @w : memref<4xf32>
  memref.copy %w, %y : memref<4xf32> to memref<4xf32>
  return
}
