// Outputs: conditional regions that write to arguments of the entry. The groups
// of ops have files of their own beside this one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg | FileCheck %s

// CHECK-LABEL: @computes_an_output_only_when_it_is_given
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
// CHECK-SAME: %[[OUT:[a-z0-9]*]]: memref<?x5xf32> {transformer.output = #transformer.output_port<"y", rows = tokens, take = all, width = 5>}
func.func @computes_an_output_only_when_it_is_given(%x: tensor<?x8xf32>,
                                                    %w: tensor<5x8xf32>) {
  // CHECK-NOT: linalg.
  // CHECK: %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[OUT]]
  // CHECK: %[[NULL:.*]] = arith.constant 0 : index
  // CHECK: %[[GIVEN:.*]] = arith.cmpi ne, %[[ADDRESS]], %[[NULL]]
  // CHECK: scf.if %[[GIVEN]] {
  // The caller's memory is the destination from the start.
  // CHECK: %[[DESTINATION:.*]] = bufferization.to_tensor %[[OUT]] restrict writable
  // CHECK: %[[ZERO:.*]] = linalg.fill ins({{.*}}) outs(%[[DESTINATION]]
  // CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs(%[[ZERO]]
  // CHECK: bufferization.materialize_in_destination %[[Y]] in restrict writable %[[OUT]]
  // CHECK: }
  // CHECK-NEXT: return
  transformer.output "y" tokens take all {
    %y = transformer.linear %x, %w : tensor<?x8xf32>, tensor<5x8xf32>
    transformer.yield %y : tensor<?x5xf32>
  }
  return
}

// Its memory exists only where it is given, so it cannot be the home of a value
// that others need: that one is stored, and nothing else is redirected.
// CHECK-LABEL: @stores_a_value_from_outside
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
// CHECK-SAME: %[[OUT:[a-z0-9]*]]: memref<?x8xf32>
func.func @stores_a_value_from_outside(%x: tensor<?x8xf32>) {
  // CHECK: scf.if
  // CHECK-NEXT: bufferization.materialize_in_destination %[[X]] in restrict writable %[[OUT]]
  // CHECK-NEXT: }
  transformer.output "y" tokens take all {
    transformer.yield %x : tensor<?x8xf32>
  }
  return
}

// Parts are copied to their columns of one port, which stands where the entry's
// own output of that name does.
// CHECK-LABEL: @gives_parts_of_an_output_one_argument
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
// CHECK-SAME: %[[OUT:[a-z0-9]*]]: memref<?x24xf32> {transformer.output = #transformer.output_port<"parts", rows = tokens, take = all, width = 24>}
func.func @gives_parts_of_an_output_one_argument(%x: tensor<?x8xf32>,
                                                 %n: index) {
  // CHECK: scf.for %[[I:.*]] =
  // CHECK-NEXT: memref.extract_aligned_pointer_as_index %[[OUT]]
  // CHECK: scf.if
  // CHECK: %[[FIRST:.*]] = arith.muli %[[I]], %{{.*}} : index
  // CHECK: %[[COLUMNS:.*]] = memref.subview %[[OUT]][0, %[[FIRST]]] [%{{.*}}, 8] [1, 1]
  // CHECK: %[[TO:.*]] = bufferization.to_tensor %[[COLUMNS]]
  // CHECK: %[[COPIED:.*]] = linalg.copy ins(%[[X]] : {{.*}}) outs(%[[TO]] :
  // CHECK: bufferization.materialize_in_destination %[[COPIED]] in restrict writable %[[COLUMNS]]
  scf.for %i = %n to %n step %n {
    transformer.output "parts" tokens take all part %i of 3 {
      transformer.yield %x : tensor<?x8xf32>
    }
  }
  // CHECK: scf.if
  transformer.output "parts" tokens take all part %n of 3 {
    transformer.yield %x : tensor<?x8xf32>
  }
  return
}

// CHECK-LABEL: @gives_each_output_an_argument_in_their_order
// CHECK-SAME: %[[FIRST:[a-z0-9]*]]: memref<?x8xf32> {transformer.output = #transformer.output_port<"first", rows = wanted, take = last_nonpad
// CHECK-SAME: %[[SECOND:[a-z0-9]*]]: memref<?x1xf32> {transformer.output = #transformer.output_port<"second", rows = wanted, take = first, squeezed = true, width = 1
func.func @gives_each_output_an_argument_in_their_order(
    %x: tensor<?x8xf32>, %rows: tensor<?xi32> {transformer.rows}) {
  // CHECK: memref.extract_aligned_pointer_as_index %[[FIRST]]
  // CHECK: memref.extract_aligned_pointer_as_index %[[SECOND]]
  transformer.output "first" wanted take last_nonpad {
    %r = transformer.gather_rows %x, %rows : tensor<?x8xf32>, tensor<?xi32>
    transformer.yield %r : tensor<?x8xf32>
  }
  transformer.output "second" wanted take first squeezed {
    %r = transformer.gather_rows %x, %rows : tensor<?x8xf32>, tensor<?xi32>
    %y = transformer.slice_columns %r[3, 1] : tensor<?x8xf32>
    transformer.yield %y : tensor<?x1xf32>
  }
  return
}

// The destination of a value at the end of a chain is found at its beginning.
// CHECK-LABEL: @follows_the_chain_of_destinations
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
// CHECK-SAME: %[[OUT:[a-z0-9]*]]: memref<?x8xf32>
func.func @follows_the_chain_of_destinations(%x: tensor<?x8xf32>,
                                             %w: tensor<8x8xf32>,
                                             %b: tensor<8xf32>) {
  // CHECK: scf.if
  // CHECK-NOT: tensor.empty
  // CHECK: %[[DESTINATION:.*]] = bufferization.to_tensor %[[OUT]]
  // CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[DESTINATION]]
  // CHECK: %[[PRODUCT:.*]] = linalg.generic {{.*}} outs(%[[ZERO]]
  // CHECK: %[[SUM:.*]] = linalg.generic {{.*}} outs(%[[PRODUCT]]
  // CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs(%[[SUM]]
  // CHECK: materialize_in_destination %[[Y]]
  transformer.output "y" tokens take all {
    %0 = transformer.linear %x, %w bias %b
           : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8xf32>
    %1 = transformer.activation tanh %0 : tensor<?x8xf32>
    transformer.yield %1 : tensor<?x8xf32>
  }
  return
}

transformer.parameter @p : tensor<8xf32> from <["p"], stored_rows = 8>

// CHECK-LABEL: @leaves_weights_taps_and_other_dialects_alone
func.func @leaves_weights_taps_and_other_dialects_alone(%x: tensor<?x8xf32>)
    -> (tensor<8xf32>, tensor<?x8xf32>) {
  // CHECK-NEXT: transformer.weight @p
  // CHECK-NEXT: transformer.tap "x"
  // CHECK-NEXT: %[[NEGATED:.*]] = arith.negf
  // CHECK-NEXT: return
  %0 = transformer.weight @p : tensor<8xf32>
  transformer.tap "x" %x : tensor<?x8xf32>
  %1 = arith.negf %x : tensor<?x8xf32>
  return %0, %1 : tensor<8xf32>, tensor<?x8xf32>
}
