// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s

// CHECK-LABEL: @mix_rows
// CHECK-SAME: %[[X:.*]]: tensor<?x26xf32>, %[[Z:.*]]: tensor<?x26xbf16>, %[[W:.*]]: tensor<?x4xf32>
func.func @mix_rows(%x: tensor<?x26xf32>, %z: tensor<?x26xbf16>,
                    %w: tensor<?x4xf32>) {
  // CHECK: transformer.mix_rows %[[X]] plus %[[X]], %[[Z]] by %[[W]][2] : (tensor<?x26xf32>, tensor<?x26xf32>, tensor<?x26xbf16>, tensor<?x4xf32>) -> tensor<?x26xf32>
  %0 = transformer.mix_rows %x plus %x, %z by %w[2]
         : (tensor<?x26xf32>, tensor<?x26xf32>, tensor<?x26xbf16>,
            tensor<?x4xf32>) -> tensor<?x26xf32>
  // CHECK: transformer.mix_rows %[[Z]] plus %[[X]] by %[[W]][0] {offset = 1.000000e+00 : f64} : (tensor<?x26xbf16>, tensor<?x26xf32>, tensor<?x4xf32>) -> tensor<?x26xbf16>
  %1 = transformer.mix_rows %z plus %x by %w[0] {offset = 1.0 : f64}
         : (tensor<?x26xbf16>, tensor<?x26xf32>, tensor<?x4xf32>)
           -> tensor<?x26xbf16>
  return
}

// CHECK-LABEL: @match_magnitude
// CHECK-SAME: %[[X:.*]]: tensor<?x26xf32>, %[[Z:.*]]: tensor<?x26xbf16>
func.func @match_magnitude(%x: tensor<?x26xf32>, %z: tensor<?x26xbf16>) {
  // CHECK: transformer.match_magnitude %[[X]] to %[[Z]] {floor = 1.000000e-05 : f64} : tensor<?x26xf32>, tensor<?x26xbf16>
  %0 = transformer.match_magnitude %x to %z {floor = 1.0e-05 : f64}
         : tensor<?x26xf32>, tensor<?x26xbf16>
  // CHECK: transformer.match_magnitude %[[Z]] to %[[X]] {floor = 1.000000e-05 : f64} : tensor<?x26xbf16>, tensor<?x26xf32> -> tensor<?x26xbf16>
  %1 = transformer.match_magnitude %z to %x {floor = 1.0e-05 : f64}
         : tensor<?x26xbf16>, tensor<?x26xf32> -> tensor<?x26xbf16>
  return
}

// CHECK-LABEL: @join_columns
// CHECK-SAME: %[[X:.*]]: tensor<?x26xf32>, %[[Z:.*]]: tensor<?x10xbf16>
func.func @join_columns(%x: tensor<?x26xf32>, %z: tensor<?x10xbf16>) {
  // CHECK: transformer.join_columns %[[X]], %[[Z]] : (tensor<?x26xf32>, tensor<?x10xbf16>) -> tensor<?x36xf32>
  %0 = transformer.join_columns %x, %z
         : (tensor<?x26xf32>, tensor<?x10xbf16>) -> tensor<?x36xf32>
  // CHECK: transformer.join_columns %[[Z]], %[[X]], %[[Z]] : (tensor<?x10xbf16>, tensor<?x26xf32>, tensor<?x10xbf16>) -> tensor<?x46xbf16>
  %1 = transformer.join_columns %z, %x, %z
         : (tensor<?x10xbf16>, tensor<?x26xf32>, tensor<?x10xbf16>)
           -> tensor<?x46xbf16>
  return
}
