// Round trip of what layers differ in.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s
// RUN: tfc-opt %s --mlir-print-op-generic | tfc-opt | FileCheck %s

// CHECK-LABEL: @per_layer
// CHECK-SAME: %[[LAYER:.*]]: index
func.func @per_layer(%layer: index) -> (index, f32) {
  // CHECK: transformer.per_layer index [8, 2147483647, -1][%[[LAYER]]]
  %0 = transformer.per_layer index [8, 2147483647, -1][%layer]
  // All digits.
  // CHECK: transformer.per_layer f32 [0.17782793939113617, -2.000000e+00][%[[LAYER]]]
  %1 = transformer.per_layer f32 [0.17782793939113617, -2.0][%layer]
  return %0, %1 : index, f32
}
