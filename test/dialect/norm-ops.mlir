// Round trip of the normalisations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s
// RUN: tfc-opt %s --mlir-print-op-generic | tfc-opt | FileCheck %s

// CHECK-LABEL: @layer_norm
// CHECK-SAME: %[[X:.*]]: tensor<?x104xf32>, %[[WEIGHT:.*]]: tensor<104xf32>, %[[BIAS:.*]]: tensor<104xf32>
func.func @layer_norm(%x: tensor<?x104xf32>, %weight: tensor<104xf32>,
                      %bias: tensor<104xf32>) {
  // CHECK: transformer.layer_norm %[[X]], %[[WEIGHT]] {eps = 1.000000e-05 : f64} : tensor<?x104xf32>, tensor<104xf32>{{$}}
  %0 = transformer.layer_norm %x, %weight {eps = 1.0e-5 : f64}
         : tensor<?x104xf32>, tensor<104xf32>
  // CHECK: transformer.layer_norm %[[X]], %[[WEIGHT]] bias %[[BIAS]] {eps = 9.99{{[0-9]*}}E-13 : f64} : tensor<?x104xf32>, tensor<104xf32>, tensor<104xf32>
  %1 = transformer.layer_norm %x, %weight bias %bias {eps = 1.0e-12 : f64}
         : tensor<?x104xf32>, tensor<104xf32>, tensor<104xf32>
  // CHECK: transformer.layer_norm %[[X]] {eps = 1.000000e-05 : f64} : tensor<?x104xf32>{{$}}
  %2 = transformer.layer_norm %x {eps = 1.0e-5 : f64} : tensor<?x104xf32>
  // CHECK: transformer.layer_norm %[[X]] {eps = 1.000000e-05 : f64, unbiased_std} : tensor<?x104xf32>{{$}}
  %3 = transformer.layer_norm %x {eps = 1.0e-5 : f64, unbiased_std}
         : tensor<?x104xf32>
  return
}

// CHECK-LABEL: @norms_of_parts
// CHECK-SAME: %[[X:.*]]: tensor<?x104xf32>, %[[WEIGHT:.*]]: tensor<26xf32>, %[[BIAS:.*]]: tensor<26xf32>
func.func @norms_of_parts(%x: tensor<?x104xf32>, %weight: tensor<26xf32>,
                          %bias: tensor<26xf32>) {
  // CHECK: transformer.layer_norm %[[X]], %[[WEIGHT]] bias %[[BIAS]] parts 4 {eps = 1.000000e-05 : f64, offset = 1.000000e+00 : f64} :
  %0 = transformer.layer_norm %x, %weight bias %bias parts 4
         {eps = 1.0e-5 : f64, offset = 1.0 : f64}
         : tensor<?x104xf32>, tensor<26xf32>, tensor<26xf32>
  // CHECK: transformer.rms_norm %[[X]], %[[WEIGHT]] parts 4 {eps = 1.000000e-05 : f64, offset = 1.000000e+00 : f64} :
  %1 = transformer.rms_norm %x, %weight parts 4
         {eps = 1.0e-5 : f64, offset = 1.0 : f64}
         : tensor<?x104xf32>, tensor<26xf32>
  // CHECK: transformer.rms_norm %[[X]] {eps = 1.000000e-05 : f64} : tensor<?x104xf32>{{$}}
  %2 = transformer.rms_norm %x {eps = 1.0e-5 : f64} : tensor<?x104xf32>
  return
}

// CHECK-LABEL: @rms_norm
// CHECK-SAME: %[[X:.*]]: tensor<?x104xf32>, %[[WEIGHT:.*]]: tensor<104xf32>
func.func @rms_norm(%x: tensor<?x104xf32>, %weight: tensor<104xf32>) {
  // CHECK: transformer.rms_norm %[[X]], %[[WEIGHT]] {eps = 9.9999999999999995E-7 : f64} : tensor<?x104xf32>, tensor<104xf32>
  %0 = transformer.rms_norm %x, %weight {eps = 1.0e-6 : f64}
         : tensor<?x104xf32>, tensor<104xf32>
  // CHECK: transformer.rms_norm %[[X]], %[[WEIGHT]] parts 8 {eps = 9.9999999999999995E-7 : f64} : tensor<?x104xf32>, tensor<104xf32>
  %1 = transformer.rms_norm %x, %weight parts 8 {eps = 1.0e-6 : f64}
         : tensor<?x104xf32>, tensor<104xf32>
  return
}

// CHECK-LABEL: @l2_normalize
// CHECK-SAME: %[[X:.*]]: tensor<?x104xf32>
func.func @l2_normalize(%x: tensor<?x104xf32>) {
  // CHECK: transformer.l2_normalize %[[X]] {eps = 9.9999999999999998E-13 : f64} : tensor<?x104xf32>
  %0 = transformer.l2_normalize %x {eps = 1.0e-12 : f64} : tensor<?x104xf32>
  return
}

// CHECK-LABEL: @a_weight_for_each_part
// CHECK-SAME: %[[X:.*]]: tensor<?x104xf32>, %[[WEIGHT:.*]]: tensor<4x26xf32>
func.func @a_weight_for_each_part(%x: tensor<?x104xf32>,
                                  %weight: tensor<4x26xf32>) {
  // CHECK: transformer.layer_norm %[[X]], %[[WEIGHT]] parts 4 {eps = 1.000000e-05 : f64} : tensor<?x104xf32>, tensor<4x26xf32>
  %0 = transformer.layer_norm %x, %weight parts 4 {eps = 1.0e-5 : f64}
         : tensor<?x104xf32>, tensor<4x26xf32>
  // CHECK: transformer.rms_norm %[[X]], %[[WEIGHT]] parts 4 {eps = 1.000000e-05 : f64} : tensor<?x104xf32>, tensor<4x26xf32>
  %1 = transformer.rms_norm %x, %weight parts 4 {eps = 1.0e-5 : f64}
         : tensor<?x104xf32>, tensor<4x26xf32>
  return
}

// CHECK-LABEL: @cut_rows
// CHECK-SAME: %[[X:.*]]: tensor<?x104xf32>
func.func @cut_rows(%x: tensor<?x104xf32>) {
  // CHECK: transformer.cut_rows %[[X]] {deviations = -1.500000e+00 : f64} : tensor<?x104xf32>
  %0 = transformer.cut_rows %x {deviations = -1.5 : f64} : tensor<?x104xf32>
  return
}
