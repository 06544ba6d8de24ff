// layer_norm: mean, variance around the mean, and a map over the rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg --canonicalize | FileCheck %s

// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[$ELEMENT:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: @subtracts_the_mean_before_it_squares
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>, %[[W:[a-z0-9]*]]: tensor<8xf32>, %[[B:[a-z0-9]*]]: tensor<8xf32>
func.func @subtracts_the_mean_before_it_squares(
    %x: tensor<?x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>)
    -> tensor<?x8xf32> {
  // CHECK-DAG: %[[WIDTH:.*]] = arith.constant 8.000000e+00 : f32
  // CHECK-DAG: %[[EPS:.*]] = arith.constant 2.500000e-01 : f32
  // CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[$ELEMENT]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]]
  // CHECK: %[[SQUARES:.*]] = linalg.generic {indexing_maps = [#[[$ELEMENT]], #[[$ROW]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[SUM]]
  // CHECK: ^bb0(%[[ELEM:.*]]: f32, %[[TOTAL:.*]]: f32, %[[SOFAR:.*]]: f32):
  // CHECK: %[[MEAN:.*]] = arith.divf %[[TOTAL]], %[[WIDTH]]
  // CHECK: %[[DELTA:.*]] = arith.subf %[[ELEM]], %[[MEAN]]
  // CHECK: %[[SQUARE:.*]] = arith.mulf %[[DELTA]], %[[DELTA]]
  // CHECK: arith.addf %[[SOFAR]], %[[SQUARE]]
  // x is the last argument of the body: its rows are overwritten.
  // CHECK: linalg.generic {indexing_maps = [#[[$ROW]], #[[$ROW]], #[[$COLUMN]], #[[$COLUMN]], #[[$ELEMENT]]], iterator_types = ["parallel", "parallel"]} ins(%[[SUM]], %[[SQUARES]], %[[W]], %[[B]] : {{.*}}) outs(%[[X]]
  // CHECK: ^bb0(%[[S:.*]]: f32, %[[Q:.*]]: f32, %[[WEIGHT:.*]]: f32, %[[BIAS:.*]]: f32, %[[OLD:.*]]: f32):
  // CHECK: arith.subf %[[OLD]]
  // CHECK: %[[VARIANCE:.*]] = arith.divf %[[Q]], %[[WIDTH]]
  // CHECK: %[[INSIDE:.*]] = arith.addf %[[VARIANCE]], %[[EPS]]
  // CHECK: %[[ROOT:.*]] = math.sqrt %[[INSIDE]]
  // CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[ROOT]]
  // CHECK: %[[UNIT:.*]] = arith.mulf %{{.*}}, %[[INVERSE]]
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[UNIT]], %[[WEIGHT]]
  // CHECK: arith.addf %[[SCALED]], %[[BIAS]]
  %0 = transformer.layer_norm %x, %w bias %b {eps = 0.25 : f64}
         : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @norms_without_bias
func.func @norms_without_bias(%x: tensor<?x8xf32>, %w: tensor<8xf32>)
    -> tensor<?x8xf32> {
  // CHECK: math.sqrt
  // CHECK-NEXT: arith.divf
  // CHECK-NEXT: arith.mulf
  // CHECK-NEXT: %[[SCALED:.*]] = arith.mulf
  // CHECK-NEXT: linalg.yield %[[SCALED]]
  %0 = transformer.layer_norm %x, %w {eps = 1.0 : f64}
         : tensor<?x8xf32>, tensor<8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @divides_by_the_deviation_of_a_sample
func.func @divides_by_the_deviation_of_a_sample(%x: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  // CHECK-DAG: %[[LESS:.*]] = arith.constant 7.000000e+00 : f32
  // CHECK-DAG: %[[EPS:.*]] = arith.constant 2.500000e-01 : f32
  // CHECK: %[[VARIANCE:.*]] = arith.divf %{{.*}}, %[[LESS]]
  // CHECK-NEXT: %[[ROOT:.*]] = math.sqrt %[[VARIANCE]]
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[ROOT]], %[[EPS]]
  // CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[SUM]]
  // CHECK-NEXT: arith.mulf %{{.*}}, %[[INVERSE]]
  %0 = transformer.layer_norm %x {eps = 0.25 : f64, unbiased_std}
         : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @keeps_rows_that_are_needed_afterwards
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
func.func @keeps_rows_that_are_needed_afterwards(%x: tensor<?x8xf32>,
                                                 %w: tensor<8xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK-COUNT-2: iterator_types = ["parallel", "reduction"]
  // CHECK: %[[NEW:.*]] = tensor.empty({{.*}}) : tensor<?x8xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[X]], {{.*}} outs(%[[NEW]]
  %0 = transformer.layer_norm %x, %w {eps = 1.0 : f64}
         : tensor<?x8xf32>, tensor<8xf32>
  return %0, %x : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: @divides_by_the_root_mean_square
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>, %[[W:[a-z0-9]*]]: tensor<8xf32>
func.func @divides_by_the_root_mean_square(%x: tensor<?x8xf32>,
                                           %w: tensor<8xf32>)
    -> tensor<?x8xf32> {
  // CHECK: %[[SQUARES:.*]] = linalg.generic {indexing_maps = [#[[$ELEMENT]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]]
  // CHECK: linalg.generic {indexing_maps = [#[[$ROW]], #[[$COLUMN]], #[[$ELEMENT]]], iterator_types = ["parallel", "parallel"]} ins(%[[SQUARES]], %[[W]] : {{.*}}) outs(%[[X]]
  // CHECK: ^bb0(%[[Q:.*]]: f32, %[[WEIGHT:.*]]: f32, %[[OLD:.*]]: f32):
  // CHECK: %[[MEAN:.*]] = arith.divf %[[Q]]
  // CHECK: %[[INSIDE:.*]] = arith.addf %[[MEAN]]
  // CHECK: %[[ROOT:.*]] = math.sqrt %[[INSIDE]]
  // CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[ROOT]]
  // CHECK: %[[UNIT:.*]] = arith.mulf %[[OLD]], %[[INVERSE]]
  // CHECK: arith.mulf %[[UNIT]], %[[WEIGHT]]
  %0 = transformer.rms_norm %x, %w {eps = 0.25 : f64}
         : tensor<?x8xf32>, tensor<8xf32>
  return %0 : tensor<?x8xf32>
}

// A part is a row of its own; what is new is allocated as whole rows.
// CHECK-LABEL: @norms_parts_as_rows
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x12xf32>, %[[W:[a-z0-9]*]]: tensor<4xf32>
func.func @norms_parts_as_rows(%x: tensor<?x12xf32>, %w: tensor<4xf32>)
    -> tensor<?x12xf32> {
  // CHECK: %[[ROWS:.*]] = tensor.dim %[[X]]
  // CHECK: tensor.expand_shape %[[X]] {{.*}} into tensor<?x3x4xf32>
  // CHECK: %[[PARTS:.*]] = tensor.collapse_shape %{{.*}} : tensor<?x3x4xf32> into tensor<?x4xf32>
  // CHECK: bufferization.alloc_tensor(%{{.*}}) : tensor<?x3xf32>
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[PARTS]] : tensor<?x4xf32>)
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} {{.*}}outs(%[[PARTS]]
  // The weight and its offset, then the product.
  // CHECK: ^bb0(%{{.*}}: f32, %[[WEIGHT:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[WHOLE:.*]] = arith.addf %[[WEIGHT]], %{{.*}} : f32
  // CHECK: arith.mulf %{{.*}}, %[[WHOLE]]
  // CHECK: tensor.expand_shape {{.*}} : tensor<?x4xf32> into tensor<?x3x4xf32>
  // CHECK: tensor.collapse_shape {{.*}} : tensor<?x3x4xf32> into tensor<?x12xf32>
  %0 = transformer.rms_norm %x, %w parts 3 {eps = 1.0 : f64, offset = 1.0 : f64}
         : tensor<?x12xf32>, tensor<4xf32>
  return %0 : tensor<?x12xf32>
}

// CHECK-LABEL: @norms_without_weight
func.func @norms_without_weight(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: math.sqrt
  // CHECK-NEXT: arith.divf
  // CHECK-NEXT: %[[UNIT:.*]] = arith.mulf
  // CHECK-NEXT: linalg.yield %[[UNIT]]
  %0 = transformer.layer_norm %x {eps = 1.0 : f64} : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @cut_rows
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
func.func @cut_rows(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-DAG: %[[TIMES:.*]] = arith.constant 1.500000e+00 : f32
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[$ELEMENT]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]]
  // CHECK: %[[SQUARES:.*]] = linalg.generic {indexing_maps = [#[[$ELEMENT]], #[[$ROW]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[SUM]]
  // CHECK: linalg.generic {{.*}} ins(%[[SUM]], %[[SQUARES]] : {{.*}}) outs(%[[X]]
  // CHECK: %[[STD:.*]] = math.sqrt
  // CHECK: %[[ABOVE:.*]] = arith.mulf %[[STD]], %[[TIMES]]
  // CHECK: %[[CUT:.*]] = arith.addf %{{.*}}, %[[ABOVE]]
  // CHECK: %[[REST:.*]] = arith.subf %{{.*}}, %[[CUT]]
  // CHECK: arith.maximumf %[[REST]], %[[ZERO]]
  %0 = transformer.cut_rows %x {deviations = 1.5 : f64} : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
