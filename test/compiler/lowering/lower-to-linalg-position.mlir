// Rotary angles, rotations and distance biases: maps over strided parts of one
// tensor, and a gather.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @angles_are_cosines_then_sines
// CHECK-SAME: %[[POSITIONS:[a-z0-9]*]]: tensor<?xi32>
func.func @angles_are_cosines_then_sines(%positions: tensor<?xi32>)
    -> tensor<?x4xf32> {
  // CHECK-DAG: %[[FACTOR:.*]] = arith.constant 5.000000e-01 : f32
  // CHECK-DAG: %[[TABLE:.*]] = arith.constant dense<[1.000000e+00, 1.000000e-01]> : tensor<2xf32>
  // CHECK: %[[Y:.*]] = bufferization.alloc_tensor(%{{.*}}) : tensor<?x4xf32>
  // CHECK: %[[LEFT:.*]] = tensor.extract_slice %[[Y]][0, 0] [%{{.*}}, 2] [1, 1]
  // CHECK: %[[COSINES:.*]] = linalg.generic {{.*}} ins(%[[POSITIONS]], %[[TABLE]] : {{.*}}) outs(%[[LEFT]]
  // CHECK: %[[POSITION:.*]] = arith.sitofp
  // CHECK: %[[ANGLE:.*]] = arith.mulf %[[POSITION]]
  // CHECK: %[[COSINE:.*]] = math.cos %[[ANGLE]]
  // CHECK: arith.mulf %[[COSINE]], %[[FACTOR]]
  // CHECK: %[[HALF:.*]] = tensor.insert_slice %[[COSINES]] into %[[Y]]
  // CHECK: tensor.extract_slice %[[HALF]][0, 2] [%{{.*}}, 2] [1, 1]
  // CHECK: math.sin
  %0 = transformer.rotary_angles %positions times [1.0, 0.1]
         factors [0.5] : tensor<?xi32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: @a_factor_of_one_is_left_out
func.func @a_factor_of_one_is_left_out(%positions: tensor<?xi32>)
    -> tensor<?x2xf32> {
  // CHECK: %[[COSINE:.*]] = math.cos
  // CHECK-NEXT: linalg.yield %[[COSINE]]
  %0 = transformer.rotary_angles %positions times [1.0] factors [1.0]
         : tensor<?xi32>
  return %0 : tensor<?x2xf32>
}

// CHECK-LABEL: @a_factor_for_each_frequency
func.func @a_factor_for_each_frequency(%positions: tensor<?xi32>)
    -> tensor<?x4xf32> {
  // CHECK-DAG: %[[FACTORS:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %[[FACTORS]] : tensor<?xi32>, tensor<2xf32>, tensor<2xf32>)
  // CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: f32, %[[OWN:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[COSINE:.*]] = math.cos
  // CHECK: arith.mulf %[[COSINE]], %[[OWN]]
  %0 = transformer.rotary_angles %positions times [1.0, 0.1] factors [1.0, 2.0]
         : tensor<?xi32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: @turns_by_the_angles_of_a_kind
// CHECK-SAME: %[[ANGLES:[a-z0-9]*]]: tensor<?x12xf32>, %[[KIND:[a-z0-9]*]]: index
func.func @turns_by_the_angles_of_a_kind(%x: tensor<?x16xf32>,
                                         %angles: tensor<?x12xf32>,
                                         %kind: index) -> tensor<?x16xf32> {
  // CHECK-DAG: %[[SIX:.*]] = arith.constant 6 : index
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK: %[[FIRST:.*]] = arith.muli %[[KIND]], %[[TWO]]
  // CHECK: tensor.extract_slice %[[ANGLES]][0, %[[FIRST]]] [%{{.*}}, 2] [1, 1]
  // CHECK: %[[SECOND:.*]] = arith.addi %{{.*}}, %[[SIX]]
  // CHECK: tensor.extract_slice %[[ANGLES]][0, %[[SECOND]]] [%{{.*}}, 2] [1, 1]
  %0 = transformer.rotary half %x, %angles kind %kind of 3 heads 2
         : tensor<?x16xf32>, tensor<?x12xf32>
  return %0 : tensor<?x16xf32>
}

// CHECK-LABEL: @turns_the_halves_of_each_head
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x16xf32>, %[[ANGLES:[a-z0-9]*]]: tensor<?x8xf32>
func.func @turns_the_halves_of_each_head(%x: tensor<?x16xf32>,
                                         %angles: tensor<?x8xf32>)
    -> tensor<?x16xf32> {
  // CHECK: %[[HEADS:.*]] = tensor.expand_shape %[[X]] {{\[}}[0], [1, 2]] {{.*}} : tensor<?x16xf32> into tensor<?x2x8xf32>
  // CHECK: %[[COSINES:.*]] = tensor.extract_slice %[[ANGLES]][0, 0]
  // CHECK: %[[SINES:.*]] = tensor.extract_slice %[[ANGLES]][0, 4]
  // CHECK: %[[FIRST:.*]] = tensor.extract_slice %[[HEADS]][0, 0, 0] [%{{.*}}, 2, 4] [1, 1, 1]
  // CHECK: %[[SECOND:.*]] = tensor.extract_slice %[[HEADS]][0, 0, 4] [%{{.*}}, 2, 4] [1, 1, 1]
  // CHECK: linalg.generic {{.*}} ins(%[[FIRST]], %[[SECOND]], %[[COSINES]], %[[SINES]]
  // CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %[[S:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[KEPT:.*]] = arith.mulf %[[A]], %[[C]]
  // CHECK: %[[TURNED:.*]] = arith.mulf %[[B]], %[[S]]
  // CHECK: arith.subf %[[KEPT]], %[[TURNED]]
  // CHECK: linalg.generic
  // CHECK: arith.addf
  // CHECK: tensor.collapse_shape {{.*}} : tensor<?x2x8xf32> into tensor<?x16xf32>
  %0 = transformer.rotary half %x, %angles heads 2
         : tensor<?x16xf32>, tensor<?x8xf32>
  return %0 : tensor<?x16xf32>
}

// CHECK-LABEL: @turns_neighbours_and_leaves_the_rest
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x16xf32>
func.func @turns_neighbours_and_leaves_the_rest(%x: tensor<?x16xf32>,
                                                %angles: tensor<?x4xf32>)
    -> tensor<?x16xf32> {
  // CHECK: %[[HEADS:.*]] = tensor.expand_shape %[[X]]
  // CHECK: tensor.extract_slice %[[HEADS]][0, 0, 0] [%{{.*}}, 2, 2] [1, 1, 2]
  // CHECK: tensor.extract_slice %[[HEADS]][0, 0, 1] [%{{.*}}, 2, 2] [1, 1, 2]
  // CHECK: arith.subf
  // CHECK: arith.addf
  // No map of nothing: it would become a copy with strides.
  // CHECK: tensor.extract %[[HEADS]]
  %0 = transformer.rotary interleaved %x, %angles heads 2
         : tensor<?x16xf32>, tensor<?x4xf32>
  return %0 : tensor<?x16xf32>
}

// Whoever takes the rotated rows counts those before the reshape: that is what
// tfc-plan-workspace knows.
// CHECK-LABEL: @counts_rows_before_the_reshape
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x16xf32>
func.func @counts_rows_before_the_reshape(
    %x: tensor<?x16xf32>, %angles: tensor<?x8xf32>, %batch: !transformer.batch,
    %cache: !transformer.cache<cross, layers = 1, kv_heads = 2, head_dim = 8>,
    %layer: index) -> tensor<?x16xf32> {
  // CHECK: tensor.dim %[[X]]
  // CHECK: %[[ROWS:.*]] = tensor.dim %[[X]]
  // CHECK: tensor.empty(%[[ROWS]])
  // CHECK: transformer.paged_attention
  %0 = transformer.rotary half %x, %angles heads 2
         : tensor<?x16xf32>, tensor<?x8xf32>
  %1 = transformer.cross_attention %0, %cache[%layer], %batch heads 2
         {scale = 1.0 : f64} : tensor<?x16xf32>,
         !transformer.cache<cross, layers = 1, kv_heads = 2, head_dim = 8>
  return %1 : tensor<?x16xf32>
}

// CHECK-LABEL: @distances_pick_rows_of_the_table
// CHECK-SAME: %[[TABLE:[a-z0-9]*]]: tensor<8x2xf32>
func.func @distances_pick_rows_of_the_table(%table: tensor<8x2xf32>)
    -> (tensor<2x9xf32>, tensor<2x11xf32>) {
  // CHECK-DAG: %[[BOTH:.*]] = arith.constant dense<[3, 3, 2, 1, 0, 5, 6, 7, 7]> : tensor<9xi32>
  // CHECK-DAG: %[[BEFORE:.*]] = arith.constant dense<[7, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0]> : tensor<11xi32>
  // CHECK: linalg.generic {{.*}} ins(%[[BOTH]] : tensor<9xi32>)
  // CHECK: %[[HEAD:.*]] = linalg.index 0
  // CHECK: tensor.extract %[[TABLE]][%{{.*}}, %[[HEAD]]]
  // CHECK: linalg.generic {{.*}} ins(%[[BEFORE]] : tensor<11xi32>)
  %0 = transformer.distance_bias %table bidirectional max_distance 4
         : tensor<8x2xf32>
  %1 = transformer.distance_bias %table causal max_distance 5
         : tensor<8x2xf32>
  return %0, %1 : tensor<2x9xf32>, tensor<2x11xf32>
}
