// The activation functions, each as its formula.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @gelu_is_the_erf_form
func.func @gelu_is_the_erf_form(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-DAG: %[[ROOT_HALF:.*]] = arith.constant 0.707106769 : f32
  // CHECK-DAG: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
  // CHECK: ^bb0(%[[X:.*]]: f32):
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[X]], %[[ROOT_HALF]]
  // CHECK: %[[ERF:.*]] = math.erf %[[SCALED]]
  // CHECK: %[[HALF_X:.*]] = arith.mulf %[[X]], %[[HALF]]
  // CHECK: %[[SUM:.*]] = arith.addf %[[ERF]], %[[ONE]]
  // CHECK: %[[Y:.*]] = arith.mulf %[[HALF_X]], %[[SUM]]
  // CHECK: linalg.yield %[[Y]]
  %0 = transformer.activation gelu %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @gelu_new_is_the_tanh_form
func.func @gelu_new_is_the_tanh_form(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-DAG: %[[CUBIC:.*]] = arith.constant 4.471500e-02 : f32
  // CHECK-DAG: %[[ROOT:.*]] = arith.constant 0.797884583 : f32
  // CHECK: ^bb0(%[[X:.*]]: f32):
  // CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]]
  // CHECK: %[[CUBE:.*]] = arith.mulf %[[SQUARE]], %[[X]]
  // CHECK: %[[SMALL:.*]] = arith.mulf %[[CUBE]], %[[CUBIC]]
  // CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[SMALL]]
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[SUM]], %[[ROOT]]
  // CHECK: math.tanh %[[SCALED]]
  %0 = transformer.activation gelu_new %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// maximum, not maxnum: a NaN stays one.
// CHECK-LABEL: @relu_keeps_nan
func.func @relu_keeps_nan(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: arith.maximumf %{{.*}}, %[[ZERO]]
  %0 = transformer.activation relu %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @silu_divides_by_one_plus_exp
func.func @silu_divides_by_one_plus_exp(%x: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  // CHECK: ^bb0(%[[X:.*]]: f32):
  // CHECK: %[[MINUS:.*]] = arith.negf %[[X]]
  // CHECK: %[[EXP:.*]] = math.exp %[[MINUS]]
  // CHECK: %[[SUM:.*]] = arith.addf %[[EXP]]
  // CHECK: arith.divf %[[X]], %[[SUM]]
  %0 = transformer.activation silu %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @tanh_is_tanh
func.func @tanh_is_tanh(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: math.tanh
  %0 = transformer.activation tanh %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @identity_computes_nothing
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @identity_computes_nothing(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-NOT: arith.
  // CHECK: return %[[X]]
  %0 = transformer.activation identity %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @overwrites_rows_of_which_it_is_the_last_user
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @overwrites_rows_of_which_it_is_the_last_user(%x: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  // CHECK-NOT: tensor.empty
  // CHECK: linalg.generic {{.*}} outs(%[[X]]
  %0 = transformer.activation relu %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @keeps_rows_with_a_later_user
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @keeps_rows_with_a_later_user(%x: tensor<?x8xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: %[[NEW:.*]] = tensor.empty
  // CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[NEW]]
  // CHECK: linalg.generic {{.*}} outs(%[[X]]
  %0 = transformer.activation relu %x : tensor<?x8xf32>
  %1 = transformer.activation tanh %x : tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: @relu2_squares_what_is_positive
func.func @relu2_squares_what_is_positive(%x: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  // CHECK: %[[POSITIVE:.*]] = arith.maximumf
  // CHECK: arith.mulf %[[POSITIVE]], %[[POSITIVE]]
  %0 = transformer.activation relu2 %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
