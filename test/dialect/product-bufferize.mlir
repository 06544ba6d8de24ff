// A product writes its init's buffer, and reads what it takes in place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s

// CHECK-LABEL: @into_a_new_tensor
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x8xf32{{.*}}, %[[W:[a-z0-9]+]]: memref<2x8x48xf32{{.*}}, %[[R:[a-z0-9]+]]: memref<?x96xf32
func.func @into_a_new_tensor(%x: tensor<?x8xf32>, %w: tensor<2x8x48xf32>,
                             %r: tensor<?x96xf32>, %tokens: index)
    -> tensor<?x96xf32> {
  // CHECK: %[[Y:.*]] = memref.alloc
  // CHECK-NOT: memref.copy
  // CHECK: transformer.product %[[X]], %[[W]] rows(%[[R]]) outs(%[[Y]]) : {{.*}} {
  // CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %[[E:.*]]: f32):
  // CHECK-NEXT: %[[Z:.*]] = arith.addf %[[S]], %[[E]] : f32
  // CHECK-NEXT: transformer.yield %[[Z]] : f32
  // CHECK-NOT: memref.copy
  // CHECK: return %[[Y]]
  %y = tensor.empty(%tokens) : tensor<?x96xf32>
  %0 = transformer.product %x, %w rows(%r) outs(%y)
      : tensor<?x8xf32>, tensor<2x8x48xf32>, tensor<?x96xf32>,
        tensor<?x96xf32> -> tensor<?x96xf32> {
  ^bb0(%s: f32, %e: f32):
    %z = arith.addf %s, %e : f32
    transformer.yield %z : f32
  }
  return %0 : tensor<?x96xf32>
}

// What it adds may not be overwritten while it is read.
// CHECK-LABEL: @not_onto_what_it_adds
// CHECK-SAME: %[[R:[a-z0-9]+]]: memref<?x96xf32
func.func @not_onto_what_it_adds(%r: tensor<?x96xf32>, %x: tensor<?x8xf32>,
                                 %w: tensor<2x8x48xf32>) -> tensor<?x96xf32> {
  // CHECK: %[[Y:.*]] = memref.alloc
  // CHECK: transformer.product {{.*}} rows(%[[R]]) outs(%[[Y]])
  %0 = transformer.product %x, %w rows(%r) outs(%r)
      : tensor<?x8xf32>, tensor<2x8x48xf32>, tensor<?x96xf32>,
        tensor<?x96xf32> -> tensor<?x96xf32> {
  ^bb0(%s: f32, %e: f32):
    %z = arith.addf %s, %e : f32
    transformer.yield %z : f32
  }
  return %0 : tensor<?x96xf32>
}
