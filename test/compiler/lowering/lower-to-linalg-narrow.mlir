// Kernels that take matrices as they are do products of rows and a matrix of the
// same 16 or 32 bits that their multiple divides; others say so.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg=kernel-rows=8 --canonicalize 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=NOTE < %t
// NOTE: remark: expected rows of f32 or of 16 bits, a multiple of 16 bytes long, and a matrix like them, got 'tensor<?x12xbf16>': a plain loop does this product, and 2 more
// NOTE-NOT: remark

// CHECK: transformer.parameter @w : tensor<6x16xbf16> {{.*}}packed<panel = 1>
transformer.parameter @w : tensor<6x16xbf16> from <["w"], stored_rows = 6>
// CHECK: transformer.parameter @odd : tensor<6x12xbf16> from
// CHECK-NOT: packed
transformer.parameter @odd : tensor<6x12xbf16> from <["o"], stored_rows = 6>
// CHECK: transformer.parameter @wide_rows : tensor<6x12xf32> {{.*}}packed<panel = 1>
transformer.parameter @wide_rows : tensor<6x12xf32> from <["wide"], stored_rows = 6>
// CHECK: transformer.parameter @both : tensor<6x16xbf16> from
transformer.parameter @both : tensor<6x16xbf16> from <["b"], stored_rows = 6>

// CHECK-LABEL: @narrow
// CHECK-SAME: %[[X:.*]]: tensor<?x16xbf16>
func.func @narrow(%x: tensor<?x16xbf16>) -> tensor<?x6xbf16> {
  // CHECK: %[[W:.*]] = transformer.weight @w : tensor<6x16x1xbf16>
  // CHECK: %[[Y:.*]] = bufferization.alloc_tensor
  // CHECK: transformer.product %[[X]], %[[W]] outs(%[[Y]]) : tensor<?x16xbf16>, tensor<6x16x1xbf16>, tensor<?x6xbf16> -> tensor<?x6xbf16>
  %w = transformer.weight @w : tensor<6x16xbf16>
  %y = transformer.linear %x, %w : tensor<?x16xbf16>, tensor<6x16xbf16> -> tensor<?x6xbf16>
  return %y : tensor<?x6xbf16>
}

// CHECK-LABEL: @odd_width
func.func @odd_width(%x: tensor<?x12xbf16>) -> tensor<?x6xf32> {
  // CHECK-NOT: transformer.product
  // CHECK: linalg.generic
  %w = transformer.weight @odd : tensor<6x12xbf16>
  %y = transformer.linear %x, %w : tensor<?x12xbf16>, tensor<6x12xbf16>
  return %y : tensor<?x6xf32>
}

// Of f32 half as many elements are as long.
// CHECK-LABEL: @wide
func.func @wide(%x: tensor<?x12xf32>) -> tensor<?x6xf32> {
  // CHECK: transformer.product %{{.*}} : tensor<?x12xf32>, tensor<6x12x1xf32>, tensor<?x6xf32> -> tensor<?x6xf32>
  %w = transformer.weight @wide_rows : tensor<6x12xf32>
  %y = transformer.linear %x, %w : tensor<?x12xf32>, tensor<6x12xf32>
  return %y : tensor<?x6xf32>
}

// A matrix of two products is packed once: rows of f32 are none of its 16 bits.
// CHECK-LABEL: @one_of_two
func.func @one_of_two(%x: tensor<?x16xbf16>, %wide: tensor<?x16xf32>)
    -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  // CHECK-NOT: transformer.product
  %w = transformer.weight @both : tensor<6x16xbf16>
  %y = transformer.linear %x, %w : tensor<?x16xbf16>, tensor<6x16xbf16>
  %z = transformer.linear %wide, %w : tensor<?x16xf32>, tensor<6x16xbf16>
  return %y, %z : tensor<?x6xf32>, tensor<?x6xf32>
}
