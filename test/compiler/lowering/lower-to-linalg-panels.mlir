// Products with packed panels: what is done to their sums is their body, and
// nothing is in place that vectors could not see through.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg=panel=48 --canonicalize | FileCheck %s

// CHECK: transformer.parameter @w : tensor<96x8xf32> from{{.*}} packed<panel = 48>
transformer.parameter @w : tensor<96x8xf32> from <["w"], stored_rows = 96>
// CHECK: transformer.parameter @tail : tensor<73x8xf32> from{{.*}} packed<panel = 48>
transformer.parameter @tail : tensor<73x8xf32> from <["t"], stored_rows = 73>

// CHECK-LABEL: @epilogue_is_the_body
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x8xf32>, %[[B:[a-z0-9]+]]: tensor<96xf32>, %[[R:[a-z0-9]+]]: tensor<?x96xf32>
func.func @epilogue_is_the_body(%x: tensor<?x8xf32>, %b: tensor<96xf32>,
                                %r: tensor<?x96xf32>) -> tensor<?x96xf32> {
  // CHECK-DAG: %[[W:.*]] = transformer.weight @w : tensor<2x8x48xf32>
  // CHECK-DAG: %[[Y:.*]] = bufferization.alloc_tensor
  // CHECK: transformer.product %[[X]], %[[W]] columns(%[[B]]) rows(%[[R]]) outs(%[[Y]])
  // CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[BIAS:.*]]: f32, %[[RESIDUAL:.*]]: f32):
  // CHECK-NEXT: %[[BIASED:.*]] = arith.addf %[[SUM]], %[[BIAS]] : f32
  // CHECK-NEXT: %[[ACTIVE:.*]] = math.tanh %[[BIASED]] : f32
  // CHECK-NEXT: %[[ALL:.*]] = arith.addf %[[ACTIVE]], %[[RESIDUAL]] : f32
  // CHECK-NEXT: transformer.yield %[[ALL]] : f32
  %w = transformer.weight @w : tensor<96x8xf32>
  %y = transformer.linear %x, %w bias %b residual %r act tanh
         : tensor<?x8xf32>, tensor<96x8xf32>, tensor<96xf32>, tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// 73 columns: a panel of 48, and 25 of another.
// CHECK-LABEL: @last_panel_is_whole
func.func @last_panel_is_whole(%x: tensor<?x8xf32>) -> tensor<?x73xf32> {
  // CHECK: %[[W:.*]] = transformer.weight @tail : tensor<2x8x48xf32>
  // CHECK: transformer.product %{{.*}}, %[[W]] outs(%{{.*}}) : {{.*}} -> tensor<?x73xf32>
  // CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32):
  // CHECK-NEXT: transformer.yield %[[SUM]] : f32
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
    // CHECK: %[[FIRST:.*]] = transformer.product
    %f = transformer.linear %h, %w residual %h
           : tensor<?x48xf32>, tensor<48x48xf32>, tensor<?x48xf32>
    // CHECK: %[[SECOND:.*]] = transformer.product %[[FIRST]], %{{.*}} rows(%[[FIRST]]) outs(%[[CARRIED]])
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
