// What is kept is computed in the packed weights, of as many rows as are known
// at run time, like all rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg=panel=4 | FileCheck %s

transformer.parameter @r : tensor<16x8xf32> from <["r"], stored_rows = 16>
transformer.parameter @w : tensor<8x8xf32> layers 3 from <["w.{i}"], stored_rows = 8>
transformer.parameter @a : tensor<16x8xf32> layers 3 prepared
transformer.parameter @b : tensor<16x8xf32> prepared

// CHECK-LABEL: func.func @prepare
func.func @prepare(%rows: tensor<?xi32> {transformer.rows},
                   %batch: !transformer.batch) attributes {transformer.prepare} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // CHECK: scf.for %[[I:.*]] = %
  scf.for %i = %c0 to %c3 step %c1 {
    // CHECK-NEXT: %[[PLACE:.*]] = transformer.weight @a[%[[I]]] : memref<16x8xf32>
    // CHECK-NEXT: %[[ROWS:.*]] = memref.cast %[[PLACE]] : memref<16x8xf32> to memref<?x8xf32>
    // CHECK: %[[COUNT:.*]] = arith.minsi
    // CHECK: tensor.extract_slice %{{.*}}[0, 0] [%[[COUNT]], 8] [1, 1] : tensor<16x8xf32> to tensor<?x8xf32>
    // CHECK: %[[OUT:.*]] = bufferization.to_tensor %[[ROWS]] restrict writable
    // CHECK: %[[Y:.*]] = transformer.product {{.*}} outs(%[[OUT]])
    // CHECK: bufferization.materialize_in_destination %[[Y]] in restrict writable %[[ROWS]]
    %r = transformer.weight @r : tensor<16x8xf32>
    %w = transformer.weight @w[%i] : tensor<8x8xf32>
    %y = transformer.linear %r, %w : tensor<16x8xf32>, tensor<8x8xf32>
    transformer.keep %y, @a[%i] : tensor<16x8xf32>
  }
  // Of one layer the index is a constant.
  // CHECK: %[[ONE:.*]] = transformer.weight @a[%{{.*}}] : memref<16x8xf32>
  // CHECK: %[[ROWS:.*]] = memref.cast %[[ONE]]
  // CHECK: bufferization.to_tensor %[[ROWS]] restrict writable
  %r = transformer.weight @r : tensor<16x8xf32>
  %c2 = arith.constant 2 : index
  %w = transformer.weight @w[%c2] : tensor<8x8xf32>
  %y = transformer.linear %r, %w : tensor<16x8xf32>, tensor<8x8xf32>
  transformer.keep %y, @a[%c2] : tensor<16x8xf32>
  return
}

// What is stored is copied.
// CHECK-LABEL: func.func @copies
// CHECK: %[[B:.*]] = transformer.weight @b : memref<16x8xf32>
// CHECK: %[[ROWS:.*]] = memref.cast %[[B]]
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[ROWS]]
func.func @copies(%rows: tensor<?xi32> {transformer.rows},
                  %batch: !transformer.batch) attributes {transformer.prepare} {
  %r = transformer.weight @r : tensor<16x8xf32>
  transformer.keep %r, @b : tensor<16x8xf32>
  return
}
