// Streams of rows: weights become numbers of rows, and all else maps and sums.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg --canonicalize | FileCheck %s

// CHECK-DAG: #[[$NUMBER:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[$ELEMENT:.*]] = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: @mix_rows
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>, %[[Z:[a-z0-9]*]]: tensor<?x8xf32>, %[[W:[a-z0-9]*]]: tensor<?x4xf32>
func.func @mix_rows(%x: tensor<?x8xf32>, %z: tensor<?x8xf32>,
                    %w: tensor<?x4xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
  // CHECK-DAG: %[[SECOND:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[THIRD:.*]] = arith.constant 3 : index
  // CHECK: %[[OWN:.*]]:2 = linalg.generic {indexing_maps = [#[[$NUMBER]], #[[$NUMBER]]], iterator_types = ["parallel"]} outs
  // CHECK: %[[ROW:.*]] = linalg.index 0
  // CHECK-DAG: tensor.extract %[[W]][%[[ROW]], %[[SECOND]]]
  // CHECK-DAG: tensor.extract %[[W]][%[[ROW]], %[[THIRD]]]
  // CHECK: linalg.generic {indexing_maps = [#[[$ELEMENT]], #[[$ELEMENT]], #[[$ELEMENT]], #[[$ROW]], #[[$ROW]], #[[$ELEMENT]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[X]], %[[Z]], %[[OWN]]#0, %[[OWN]]#1
  // CHECK: ^bb0(%[[A:.*]]: f32, %[[T:.*]]: f32, %[[U:.*]]: f32, %[[P:.*]]: f32, %[[Q:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[PLUS:.*]] = arith.addf %[[P]], %[[ONE]]
  // CHECK: %[[TERM:.*]] = arith.mulf %[[T]], %[[PLUS]]
  // CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[TERM]]
  // CHECK: %[[MORE:.*]] = arith.addf %[[Q]], %[[ONE]]
  // CHECK: %[[OTHER:.*]] = arith.mulf %[[U]], %[[MORE]]
  // CHECK: arith.addf %[[SUM]], %[[OTHER]]
  %0 = transformer.mix_rows %x plus %x, %z by %w[2] {offset = 1.0 : f64}
         : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x4xf32>)
           -> tensor<?x8xf32>
  // At its last use the input is overwritten.
  // CHECK: linalg.generic {{.*}} outs(%[[X]] :
  %1 = transformer.mix_rows %x plus %z by %w[0]
         : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x4xf32>)
           -> tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: @match_magnitude
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>, %[[Z:[a-z0-9]*]]: tensor<?x8xbf16>
func.func @match_magnitude(%x: tensor<?x8xf32>, %z: tensor<?x8xbf16>)
    -> tensor<?x8xf32> {
  // CHECK-DAG: %[[WIDTH:.*]] = arith.constant 8.000000e+00 : f32
  // CHECK-DAG: %[[FLOOR:.*]] = arith.constant 2.500000e-01 : f32
  // CHECK: %[[OWN:.*]] = linalg.generic {indexing_maps = [#[[$ELEMENT]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]]
  // CHECK: %[[LIKE:.*]] = linalg.generic {indexing_maps = [#[[$ELEMENT]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[Z]]
  // CHECK: linalg.generic {{.*}} ins(%[[OWN]], %[[LIKE]] : {{.*}}) outs(%[[X]]
  // CHECK: ^bb0(%[[S:.*]]: f32, %[[L:.*]]: f32, %[[OLD:.*]]: f32):
  // CHECK: %[[MEAN:.*]] = arith.divf %[[S]], %[[WIDTH]]
  // CHECK: %[[OTHER:.*]] = arith.divf %[[L]], %[[WIDTH]]
  // CHECK: %[[LEAST:.*]] = arith.maximumf %[[MEAN]], %[[FLOOR]]
  // CHECK: %[[FACTOR:.*]] = arith.divf
  // CHECK: arith.mulf %[[OLD]], %[[FACTOR]]
  %0 = transformer.match_magnitude %x to %z {floor = 0.25 : f64}
         : tensor<?x8xf32>, tensor<?x8xbf16>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @join_columns
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>, %[[Z:[a-z0-9]*]]: tensor<?x3xbf16>
func.func @join_columns(%x: tensor<?x8xf32>, %z: tensor<?x3xbf16>)
    -> tensor<?x11xf32> {
  // CHECK-DAG: %[[FIRST:.*]] = arith.constant 8 : index
  // CHECK-DAG: %[[LAST:.*]] = arith.constant 7 : index
  // CHECK: linalg.generic {indexing_maps = [#[[$ELEMENT]]], iterator_types = ["parallel", "parallel"]} outs
  // CHECK: %[[ROW:.*]] = linalg.index 0
  // CHECK: %[[COLUMN:.*]] = linalg.index 1
  // CHECK: arith.minsi %{{.*}}, %[[LAST]]
  // CHECK: %[[A:.*]] = tensor.extract %[[X]][%[[ROW]],
  // CHECK: arith.subi %[[COLUMN]], %[[FIRST]]
  // CHECK: %[[B:.*]] = tensor.extract %[[Z]][%[[ROW]],
  // CHECK: %[[WIDE:.*]] = arith.extf %[[B]]
  // CHECK: %[[OWN:.*]] = arith.cmpi sge, %[[COLUMN]], %[[FIRST]]
  // CHECK: arith.select %[[OWN]], %[[WIDE]], %[[A]]
  %0 = transformer.join_columns %x, %z
         : (tensor<?x8xf32>, tensor<?x3xbf16>) -> tensor<?x11xf32>
  return %0 : tensor<?x11xf32>
}
