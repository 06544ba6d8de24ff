// Round trip of the table look-ups.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s
// RUN: tfc-opt %s --mlir-print-op-generic | tfc-opt | FileCheck %s

// CHECK-LABEL: @embedding
// CHECK-SAME: %[[IDS:.*]]: tensor<?xi32>, %[[TABLE:.*]]: tensor<97x104xf32>
func.func @embedding(%ids: tensor<?xi32>, %table: tensor<97x104xf32>) {
  // CHECK: transformer.embedding %[[IDS]], %[[TABLE]] : tensor<?xi32>, tensor<97x104xf32>
  %0 = transformer.embedding %ids, %table
         : tensor<?xi32>, tensor<97x104xf32>
  // CHECK: transformer.embedding %[[IDS]], %[[TABLE]] {offset = 2 : i64} : tensor
  %1 = transformer.embedding %ids, %table {offset = 2 : i64}
         : tensor<?xi32>, tensor<97x104xf32>
  // CHECK: transformer.embedding %[[IDS]], %[[TABLE]] optional : tensor
  %2 = transformer.embedding %ids, %table optional
         : tensor<?xi32>, tensor<97x104xf32>
  return
}

// CHECK-LABEL: @a_row_in_the_place_of_some
// CHECK-SAME: %[[WHICH:[a-z0-9]*]]: tensor<?xi32>, %[[ROW:[a-z0-9]*]]: tensor<1x104xf32>, %[[X:[a-z0-9]*]]: tensor<?x104xf32>
func.func @a_row_in_the_place_of_some(%which: tensor<?xi32>,
                                      %row: tensor<1x104xf32>,
                                      %x: tensor<?x104xf32>)
    -> tensor<?x104xf32> {
  // CHECK: transformer.embedding %[[WHICH]], %[[ROW]] given %[[X]] of tensor<?x104xf32> from 1 : tensor<?xi32>, tensor<1x104xf32>
  %0 = transformer.embedding %which, %row given %x of tensor<?x104xf32> from 1
         : tensor<?xi32>, tensor<1x104xf32>
  return %0 : tensor<?x104xf32>
}

// CHECK-LABEL: @rows_that_are_given
// CHECK-SAME: %[[IDS:[a-z0-9]+]]: tensor<?xi32>, %[[PATCHES:[a-z0-9]+]]: tensor<?x104xf32>
func.func @rows_that_are_given(%ids: tensor<?xi32>, %patches: tensor<?x104xf32>,
                               %table: tensor<2x104xf32>) {
  // CHECK: %[[GIVEN:.*]] = transformer.given_rows %[[IDS]], %[[PATCHES]] : tensor<?xi32>, tensor<?x104xf32>
  %given = transformer.given_rows %ids, %patches
             : tensor<?xi32>, tensor<?x104xf32>
  // CHECK: transformer.embedding %[[IDS]], %{{.*}} given %[[GIVEN]] of tensor<?x104xf32> : tensor<?xi32>, tensor<2x104xf32>
  %0 = transformer.embedding %ids, %table given %given of tensor<?x104xf32>
         : tensor<?xi32>, tensor<2x104xf32>
  return
}

// CHECK-LABEL: @rotary
// CHECK-SAME: %[[POSITIONS:.*]]: tensor<?xi32>, %[[X:.*]]: tensor<?x104xf32>
func.func @rotary(%positions: tensor<?xi32>, %x: tensor<?x104xf32>) {
  // CHECK: %[[ANGLES:.*]] = transformer.rotary_angles %[[POSITIONS]] times [1.000000e+00, 0.17782793939113617] factors [1.000000e+00] : tensor<?xi32>
  %angles = transformer.rotary_angles %positions times [1.0, 0.17782793939113617]
              factors [1.0] : tensor<?xi32>
  // CHECK: transformer.rotary half %[[X]], %[[ANGLES]] heads 4 : tensor<?x104xf32>, tensor<?x4xf32>
  %0 = transformer.rotary half %x, %angles heads 4
         : tensor<?x104xf32>, tensor<?x4xf32>
  // CHECK: transformer.rotary interleaved %[[X]], %[[ANGLES]] heads 26 : tensor<?x104xf32>, tensor<?x4xf32>
  %1 = transformer.rotary interleaved %x, %angles heads 26
         : tensor<?x104xf32>, tensor<?x4xf32>
  return
}

// CHECK-LABEL: @kinds_of_rotation
// CHECK-SAME: %[[KIND:[a-z0-9]+]]: index
func.func @kinds_of_rotation(%positions: tensor<?xi32>, %x: tensor<?x104xf32>,
                             %kind: index) {
  // CHECK: %[[ANGLES:.*]] = transformer.rotary_angles %{{.*}} times [1.000000e+00, 1.000000e-01] factors [1.000000e+00, 5.000000e-01] : tensor<?xi32>
  %angles = transformer.rotary_angles %positions times [1.0, 0.1]
              factors [1.0, 0.5] : tensor<?xi32>
  // CHECK: transformer.rotary half %{{.*}}, %[[ANGLES]] kind %[[KIND]] of 2 heads 4 : tensor<?x104xf32>, tensor<?x4xf32>
  %0 = transformer.rotary half %x, %angles kind %kind of 2 heads 4
         : tensor<?x104xf32>, tensor<?x4xf32>
  return
}

// CHECK-LABEL: @distance_bias
// CHECK-SAME: %[[TABLE:.*]]: tensor<32x8xf32>
func.func @distance_bias(%table: tensor<32x8xf32>) {
  // CHECK: transformer.distance_bias %[[TABLE]] bidirectional max_distance 128 : tensor<32x8xf32>
  %0 = transformer.distance_bias %table bidirectional max_distance 128
         : tensor<32x8xf32>
  // CHECK: transformer.distance_bias %[[TABLE]] causal max_distance 17 : tensor<32x8xf32>
  %1 = transformer.distance_bias %table causal max_distance 17
         : tensor<32x8xf32>
  return
}

// CHECK-LABEL: @sinusoid
// CHECK-SAME: %[[POSITIONS:.*]]: tensor<?xi32>
func.func @sinusoid(%positions: tensor<?xi32>) {
  // CHECK: transformer.sinusoid half %[[POSITIONS]] times [1.000000e+00, 1.000000e-02] {offset = 2 : i64, zero_row = 1 : i64} : tensor<?xi32>
  %0 = transformer.sinusoid half %positions times [1.0, 0.01]
         {offset = 2, zero_row = 1} : tensor<?xi32>
  // CHECK: transformer.sinusoid interleaved %[[POSITIONS]] times [1.000000e+00] : tensor<?xi32>
  %1 = transformer.sinusoid interleaved %positions times [1.0] : tensor<?xi32>
  return
}

// CHECK-LABEL: @ids_beyond
func.func @ids_beyond(%ids: tensor<?xi32>, %table: tensor<2x8xf32>) {
  // CHECK: transformer.embedding %{{.*}}, %{{.*}} beyond 1 : tensor<?xi32>, tensor<2x8xf32>
  %0 = transformer.embedding %ids, %table beyond 1
         : tensor<?xi32>, tensor<2x8xf32>
  return
}

// CHECK-LABEL: @ids_in_turns
func.func @ids_in_turns(%ids: tensor<?xi32>, %table: tensor<2x8xf32>) {
  // CHECK: transformer.embedding %{{.*}}, %{{.*}} every 5 : tensor<?xi32>, tensor<2x8xf32>
  %0 = transformer.embedding %ids, %table every 5
         : tensor<?xi32>, tensor<2x8xf32>
  return
}
