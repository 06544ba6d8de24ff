// Numbers of a layer: elements of constants.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg | FileCheck %s

// CHECK-LABEL: @loads_the_layers_number
// CHECK-SAME: %[[LAYER:.*]]: index
func.func @loads_the_layers_number(%layer: index) -> (index, f32) {
  // CHECK: %[[TABLE:.*]] = arith.constant dense<[8, 2147483647]> : tensor<2xi64>
  // CHECK: %[[NUMBER:.*]] = tensor.extract %[[TABLE]][%[[LAYER]]] : tensor<2xi64>
  // CHECK: %[[INDEX:.*]] = arith.index_cast %[[NUMBER]] : i64 to index
  %0 = transformer.per_layer index [8, 2147483647][%layer]
  // CHECK: %[[FACTORS:.*]] = arith.constant dense<[2.500000e-01, 5.000000e-01]> : tensor<2xf32>
  // CHECK: %[[FACTOR:.*]] = tensor.extract %[[FACTORS]][%[[LAYER]]] : tensor<2xf32>
  %1 = transformer.per_layer f32 [0.25, 0.5][%layer]
  // CHECK: return %[[INDEX]], %[[FACTOR]]
  return %0, %1 : index, f32
}
