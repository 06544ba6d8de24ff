// Matrices that all readers widen are kept in 16 bits, with their parts and other
// names; the rest stays f32.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-choose-precision=weights=bf16 | FileCheck %s
// RUN: tfc-opt %s '--tfc-choose-precision=weights=f16 rounds=true' | FileCheck %s --check-prefix=HALF
// RUN: tfc-opt %s --tfc-choose-precision | FileCheck %s --check-prefix=SAME

// CHECK: @token : tensor<9x8xbf16> from{{.*}}stored_rows = 9>{{$}}
// HALF: @token : tensor<9x8xf16> from{{.*}} rounds
// SAME-NOT: bf16
transformer.parameter @token : tensor<9x8xf32> from <["t"], stored_rows = 9>
// CHECK: @head : tensor<9x8xbf16> from{{.*}} tied_to = "token"
// HALF: @head : tensor<9x8xf16> from{{.*}} rounds
transformer.parameter @head : tensor<9x8xf32> from <["h"], stored_rows = 9, tied_to = "token">
// CHECK: @k : tensor<8x8xbf16>
// CHECK: @v : tensor<8x8xbf16>
// CHECK: @k_v : tensor<16x8xbf16> parts [@k, @v]
transformer.parameter @k : tensor<8x8xf32> from <["k"], stored_rows = 8>
transformer.parameter @v : tensor<8x8xf32> from <["v"], stored_rows = 8>
transformer.parameter @k_v : tensor<16x8xf32> parts [@k, @v]
// Whose elements are added to scores.
// CHECK: @distances : tensor<6x2xf32>
// HALF: @distances : tensor<6x2xf32> from{{.*}}stored_rows = 6>{{$}}
transformer.parameter @distances : tensor<6x2xf32> from <["d"], stored_rows = 6>
// CHECK: @bias : tensor<16xf32>
transformer.parameter @bias : tensor<16xf32> from <["b"], stored_rows = 16>

func.func @entry(%ids: tensor<?xi32>) -> (tensor<?x16xf32>, tensor<2x17xf32>) {
  // CHECK: transformer.weight @token : tensor<9x8xbf16>
  %token = transformer.weight @token : tensor<9x8xf32>
  // CHECK: transformer.embedding %{{.*}} : tensor<?xi32>, tensor<9x8xbf16>
  %x = transformer.embedding %ids, %token : tensor<?xi32>, tensor<9x8xf32>
  %w = transformer.weight @k_v : tensor<16x8xf32>
  %b = transformer.weight @bias : tensor<16xf32>
  // CHECK: transformer.linear %{{.*}} : tensor<?x8xf32>, tensor<16x8xbf16>, tensor<16xf32>
  %y = transformer.linear %x, %w bias %b : tensor<?x8xf32>, tensor<16x8xf32>, tensor<16xf32>
  %d = transformer.weight @distances : tensor<6x2xf32>
  %z = transformer.distance_bias %d causal max_distance 8 : tensor<6x2xf32>
  return %y, %z : tensor<?x16xf32>, tensor<2x17xf32>
}
