// Functions of layers compute in the place of what they are given.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg=panel=16 | FileCheck %s

transformer.parameter @w : tensor<8x8xf32> from <["w"], stored_rows = 8>

// CHECK-LABEL: func.func private @adds_in_place
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
func.func private @adds_in_place(%x: tensor<?x8xf32> {transformer.tokens})
    -> tensor<?x8xf32> attributes {transformer.layers_of = @step} {
  // CHECK: transformer.product %[[X]],
  // CHECK: transformer.product {{.*}} outs(%[[X]]) :
  // CHECK-NOT: linalg.copy
  // CHECK: return
  %w = transformer.weight @w : tensor<8x8xf32>
  %h = transformer.linear %x, %w residual %x
    : tensor<?x8xf32>, tensor<8x8xf32>, tensor<?x8xf32>
  %y = transformer.linear %h, %w residual %h
    : tensor<?x8xf32>, tensor<8x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// Whose argument is read to the end has a place of its own, and copies.
// CHECK-LABEL: func.func private @copies
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
func.func private @copies(%x: tensor<?x8xf32> {transformer.tokens})
    -> tensor<?x8xf32> attributes {transformer.layers_of = @step} {
  // CHECK: %[[Y:.*]] = transformer.product %[[X]],
  // CHECK: %[[PLACED:.*]] = linalg.copy ins(%[[Y]] : tensor<?x8xf32>) outs(%[[X]] : tensor<?x8xf32>)
  // CHECK: return %[[PLACED]]
  %w = transformer.weight @w : tensor<8x8xf32>
  %y = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  transformer.tap "x" %x : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// A loop that begins with the argument ends in its place.
// CHECK-LABEL: func.func private @carries
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
func.func private @carries(%x: tensor<?x8xf32> {transformer.tokens})
    -> tensor<?x8xf32> attributes {transformer.layers_of = @step} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK: %[[Y:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[X]])
  // CHECK: scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[Y]]
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%h = %x)
      -> tensor<?x8xf32> {
    %next = transformer.add %h, %h : tensor<?x8xf32>, tensor<?x8xf32>
    scf.yield %next : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @any_other_function
func.func @any_other_function(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-NOT: linalg.copy
  // CHECK: return
  %w = transformer.weight @w : tensor<8x8xf32>
  %y = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  return %y : tensor<?x8xf32>
}
