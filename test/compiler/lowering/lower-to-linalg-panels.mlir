// Products with packed panels: the epilogue writes into rows, the last panel is
// cut, and nothing is in place that vectors could not see through.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg=panel=48 --canonicalize | FileCheck %s

// CHECK-DAG: #[[$BY_ROW:.*]] = affine_map<(d0, d1, d2) -> (d1, d0 * 48 + d2)>
// CHECK-DAG: #[[$ALONE:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0 * 48 + d2)>

// CHECK: transformer.parameter @w : tensor<96x8xf32> from{{.*}} panel 48
transformer.parameter @w : tensor<96x8xf32> from <["w"], stored_rows = 96>
// CHECK: transformer.parameter @tail : tensor<73x8xf32> from{{.*}} panel 48
transformer.parameter @tail : tensor<73x8xf32> from <["t"], stored_rows = 73>

// CHECK-LABEL: @writes_into_rows
func.func @writes_into_rows(%x: tensor<?x8xf32>, %b: tensor<96xf32>)
    -> tensor<?x96xf32> {
  // CHECK: %[[W:.*]] = transformer.weight @w : tensor<2x8x48xf32>
  // CHECK: %[[Y:.*]] = bufferization.alloc_tensor
  // CHECK: %[[ROWS:.*]] = tensor.extract_slice %[[Y]]
  // CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[W]] :
  // CHECK: linalg.generic {{.*}}#[[$BY_ROW]]{{.*}} ins(%[[SUMS]], %{{.*}} outs(%[[ROWS]]
  %w = transformer.weight @w : tensor<96x8xf32>
  %y = transformer.linear %x, %w bias %b
         : tensor<?x8xf32>, tensor<96x8xf32>, tensor<96xf32>
  return %y : tensor<?x96xf32>
}

// CHECK-LABEL: @product_alone_writes_into_rows
func.func @product_alone_writes_into_rows(%x: tensor<?x8xf32>)
    -> tensor<?x96xf32> {
  // CHECK: linalg.fill
  // CHECK: linalg.generic {{.*}}#[[$ALONE]]
  // CHECK-NOT: linalg.generic
  // CHECK: return
  %w = transformer.weight @w : tensor<96x8xf32>
  %y = transformer.linear %x, %w : tensor<?x8xf32>, tensor<96x8xf32>
  return %y : tensor<?x96xf32>
}

// 73 columns: a panel of 48, and 25 more.
// CHECK-LABEL: @cuts_the_last_panel
func.func @cuts_the_last_panel(%x: tensor<?x8xf32>) -> tensor<?x73xf32> {
  // CHECK: tensor.extract_slice %{{.*}}[0, 0, 0] [1, 8, 48]
  // CHECK: tensor.extract_slice %{{.*}}[1, 0, 0] [1, 8, 25]
  %w = transformer.weight @tail : tensor<73x8xf32>
  %y = transformer.linear %x, %w : tensor<?x8xf32>, tensor<73x8xf32>
  return %y : tensor<?x73xf32>
}

// A table that a product shares is looked up in its panels.
// CHECK-LABEL: @looks_up_in_panels
func.func @looks_up_in_panels(%ids: tensor<?xi32>) -> tensor<?x8xf32> {
  // CHECK: %[[TABLE:.*]] = transformer.weight @w : tensor<2x8x48xf32>
  // CHECK: %[[PANEL:.*]] = arith.divui %[[ROW:.*]], %c48
  // CHECK: %[[PLACE:.*]] = arith.remui %[[ROW]], %c48
  // CHECK: tensor.extract %[[TABLE]][%[[PANEL]], %{{.*}}, %[[PLACE]]]
  %w = transformer.weight @w : tensor<96x8xf32>
  %y = transformer.embedding %ids, %w : tensor<?xi32>, tensor<96x8xf32>
  return %y : tensor<?x8xf32>
}

transformer.parameter @square : tensor<48x48xf32> from <["s"], stored_rows = 48>

// The carried value is dead when the last product runs: it takes its place. The
// residual is an input like any other.
// CHECK-LABEL: @takes_the_place_of_the_carried_value
func.func @takes_the_place_of_the_carried_value(
    %x: tensor<?x48xf32>, %n: index) -> tensor<?x48xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = transformer.weight @square : tensor<48x48xf32>
  // CHECK: scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x)
      -> (tensor<?x48xf32>) {
    // CHECK: %[[FIRST:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}
    %f = transformer.linear %h, %w residual %h
           : tensor<?x48xf32>, tensor<48x48xf32>, tensor<?x48xf32>
    // CHECK: %[[RESIDUAL:.*]] = tensor.extract_slice %[[FIRST]]
    // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[RESIDUAL]] :
    // CHECK: %[[SECOND:.*]] = tensor.insert_slice %{{.*}} into %[[CARRIED]]
    %g = transformer.linear %f, %w residual %f
           : tensor<?x48xf32>, tensor<48x48xf32>, tensor<?x48xf32>
    // CHECK-NOT: linalg.copy
    // CHECK: scf.yield %[[SECOND]]
    scf.yield %g : tensor<?x48xf32>
  }
  return %y : tensor<?x48xf32>
}

// Where it is still needed, a copy carries the value on.
// CHECK-LABEL: @copies_what_cannot_take_the_place
func.func @copies_what_cannot_take_the_place(
    %x: tensor<?x48xf32>, %n: index) -> tensor<?x48xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = transformer.weight @square : tensor<48x48xf32>
  // CHECK: scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x)
      -> (tensor<?x48xf32>) {
    // CHECK: linalg.copy ins(%{{.*}}) outs(%[[CARRIED]]
    %g = transformer.linear %h, %w residual %h
           : tensor<?x48xf32>, tensor<48x48xf32>, tensor<?x48xf32>
    scf.yield %g : tensor<?x48xf32>
  }
  return %y : tensor<?x48xf32>
}
