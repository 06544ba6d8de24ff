// A tap reports the buffer it is given, before anyone writes it again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s

// CHECK-LABEL: @tap
// CHECK-SAME: %[[X:.*]]: memref<?x8xf32{{.*}}>, %[[LAYER:.*]]: index
// CHECK-NEXT: transformer.tap "a:b" layer %[[LAYER]] %[[X]] : memref<?x8xf32
// CHECK-NEXT: transformer.tap "outside" %[[X]] : memref<?x8xf32
// CHECK-NEXT: return
func.func @tap(%x: tensor<?x8xf32>, %layer: index) {
  transformer.tap "a:b" layer %layer %x : tensor<?x8xf32>
  transformer.tap "outside" %x : tensor<?x8xf32>
  return
}

// CHECK-LABEL: @then_written
func.func @then_written(%n: index, %i: index, %a: f32) -> tensor<?x8xf32> {
  // CHECK: %[[X:.*]] = memref.alloc
  // CHECK: linalg.fill {{.*}} outs(%[[X]]
  // CHECK-NEXT: transformer.tap "first" %[[X]]
  // CHECK-NEXT: memref.store %{{.*}}, %[[X]]
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %x = linalg.fill ins(%a : f32) outs(%empty : tensor<?x8xf32>)
         -> tensor<?x8xf32>
  transformer.tap "first" %x : tensor<?x8xf32>
  %y = tensor.insert %a into %x[%i, %i] : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
