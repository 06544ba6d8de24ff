// A weight becomes a view of the packed weights: no allocation, no copy.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s

transformer.parameter @w : tensor<8x4xf32> layers 2
  from <["w.{i}"], stored_rows = 8>
transformer.parameter @b : tensor<4xf32> from <["b"], stored_rows = 4>

// CHECK-LABEL: @weight
// CHECK-SAME: %[[LAYER:.*]]: index, %[[I:.*]]: index
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
func.func @weight(%layer: index, %i: index) -> (f32, f32) {
  // CHECK: %[[W:.*]] = transformer.weight @w[%[[LAYER]]] : memref<8x4xf32>
  // CHECK: memref.load %[[W]][%[[I]], %[[I]]] : memref<8x4xf32>
  %w = transformer.weight @w[%layer] : tensor<8x4xf32>
  %0 = tensor.extract %w[%i, %i] : tensor<8x4xf32>
  // CHECK: %[[B:.*]] = transformer.weight @b : memref<4xf32>
  // CHECK: memref.load %[[B]][%[[I]]]
  %b = transformer.weight @b : tensor<4xf32>
  %1 = tensor.extract %b[%i] : tensor<4xf32>
  return %0, %1 : f32, f32
}

// Nobody may write a weight: who wants to gets a copy.
// CHECK-LABEL: @written
func.func @written(%x: f32, %i: index) -> f32 {
  // CHECK: %[[B:.*]] = transformer.weight @b : memref<4xf32>
  // CHECK: %[[COPY:.*]] = memref.alloc
  // CHECK: memref.copy %[[B]], %[[COPY]]
  // CHECK: memref.store %{{.*}}, %[[COPY]]
  %b = transformer.weight @b : tensor<4xf32>
  %0 = tensor.insert %x into %b[%i] : tensor<4xf32>
  %1 = tensor.extract %0[%i] : tensor<4xf32>
  return %1 : f32
}
