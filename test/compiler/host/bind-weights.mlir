// What entries get of the host, and where their weights are in it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --canonicalize --cse | FileCheck %s

transformer.parameter @w : tensor<8x4xf32> layers 3
  from <["w.{i}"], stored_rows = 8> at 64 stride 128
transformer.parameter @b : tensor<4xf32> from <["b"], stored_rows = 4> at 448

// CHECK-LABEL: @takes_what_the_host_lends
// CHECK-SAME: (%{{.*}}: memref<?xi32>, %{{.*}}: !transformer.batch, %{{.*}}: !llvm.ptr {transformer.step}, %{{.*}}: memref<?xi8> {transformer.weights}, %{{.*}}: index {transformer.workers}) {
func.func @takes_what_the_host_lends(%ids: memref<?xi32>,
                                     %batch: !transformer.batch) {
  return
}

// CHECK-LABEL: @leaves_functions_without_a_batch_alone
// CHECK-SAME: (%{{[a-z0-9]*}}: memref<?xi32>) {
func.func @leaves_functions_without_a_batch_alone(%x: memref<?xi32>) {
  return
}

// CHECK-LABEL: @views_weights_in_the_packed_area
// CHECK-SAME: %[[LAYER:[a-z0-9]*]]: index
// CHECK-SAME: %[[PACKED:[a-z0-9]*]]: memref<?xi8> {transformer.weights}
func.func @views_weights_in_the_packed_area(%layer: index,
                                            %batch: !transformer.batch,
                                            %x: memref<8x4xf32>,
                                            %y: memref<4xf32>) {
  // CHECK-DAG: %[[BIAS_OFFSET:.*]] = arith.constant 448
  // CHECK-DAG: %[[STRIDE:.*]] = arith.constant 128
  // CHECK-DAG: %[[OFFSET:.*]] = arith.constant 64
  // CHECK: %[[DISTANCE:.*]] = arith.muli %[[LAYER]], %[[STRIDE]]
  // CHECK: %[[PLACE:.*]] = arith.addi %[[DISTANCE]], %[[OFFSET]]
  // CHECK: memref.view %[[PACKED]][%[[PLACE]]][] : memref<?xi8> to memref<8x4xf32>
  // CHECK: memref.view %[[PACKED]][%[[BIAS_OFFSET]]][] : memref<?xi8> to memref<4xf32>
  %w = transformer.weight @w[%layer] : memref<8x4xf32>
  %b = transformer.weight @b : memref<4xf32>
  memref.copy %w, %x : memref<8x4xf32> to memref<8x4xf32>
  memref.copy %b, %y : memref<4xf32> to memref<4xf32>
  return
}
