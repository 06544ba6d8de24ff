// Of a matrix of integers that rows of 16 bits are multiplied with, the scale of a
// row is in the product's body, those of groups are the product's; it lies as
// fragments have it. Where no kernel reads it, plain loops widen it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg=kernel-rows=8 --canonicalize 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=NOTE < %t
// NOTE: remark: expected rows of f32 or of 16 bits, a multiple of 16 bytes long, and a matrix like them, got 'tensor<?x12xbf16>': a plain loop does this product, and 1 more

// CHECK: @w : tensor<6x72xi8> {{.*}}packed<panel = 1, word = 64>
transformer.parameter @w : tensor<6x72xi8> from <["w"], stored_rows = 6>
// CHECK: @w.scales : tensor<6xf32> companion<scales of @w>{{$}}
transformer.parameter @w.scales : tensor<6xf32> companion<scales of @w>
// CHECK: @f : tensor<6x96xi4> {{.*}}packed<panel = 1, word = 64>
transformer.parameter @f : tensor<6x96xi4> from <["f"], stored_rows = 6>
// CHECK: @f.scales : tensor<6x3xf32> companion<scales of @f> packed<panel = 8>
transformer.parameter @f.scales : tensor<6x3xf32> companion<scales of @f>
// CHECK: @f.zeros : tensor<6x3xi8> companion<zeros of @f> packed<panel = 8>
transformer.parameter @f.zeros : tensor<6x3xi8> companion<zeros of @f>
// CHECK: @odd : tensor<6x12xi8> from
// CHECK-NOT: packed
transformer.parameter @odd : tensor<6x12xi8> from <["o"], stored_rows = 6>
transformer.parameter @odd.scales : tensor<6xf32> companion<scales of @odd>
// CHECK: @wide : tensor<6x32xi4> {{.*}}packed<panel = 1, word = 2>
transformer.parameter @wide : tensor<6x32xi4> from <["f"], stored_rows = 6>
transformer.parameter @wide.scales : tensor<6x1xf32> companion<scales of @wide>

// CHECK-LABEL: @bytes
func.func @bytes(%x: tensor<?x72xbf16>, %b: tensor<6xf32>) -> tensor<?x6xbf16> {
  // CHECK-DAG: %[[W:.*]] = transformer.weight @w : tensor<6x2x1x64xi8>
  // CHECK-DAG: %[[S:.*]] = transformer.weight @w.scales : tensor<6xf32>
  // CHECK: transformer.product %{{.*}}, %[[W]] columns(%[[S]], %{{.*}}) outs
  // CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[SCALE:.*]]: f32, %[[BIAS:.*]]: f32):
  // CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[SUM]], %[[SCALE]] : f32
  // CHECK-NEXT: arith.addf %[[SCALED]], %[[BIAS]] : f32
  %w = transformer.weight @w : tensor<6x72xi8>
  %s = transformer.weight @w.scales : tensor<6xf32>
  %y = transformer.linear %x, %w scales %s bias %b : tensor<?x72xbf16>, tensor<6x72xi8>, tensor<6xf32>, tensor<6xf32> -> tensor<?x6xbf16>
  return %y : tensor<?x6xbf16>
}

// CHECK-LABEL: @fours
func.func @fours(%x: tensor<?x96xbf16>) -> tensor<?x6xf32> {
  // CHECK: transformer.product %{{.*}}, %{{.*}} groups(%{{.*}}) zeros(%{{.*}}) outs(%{{.*}}) : tensor<?x96xbf16>, tensor<6x2x1x32xi8>, tensor<1x3x8xf32>, tensor<1x3x8xi8>, tensor<?x6xf32>
  // CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32):
  // CHECK-NEXT: transformer.yield %[[SUM]] : f32
  %w = transformer.weight @f : tensor<6x96xi4>
  %s = transformer.weight @f.scales : tensor<6x3xf32>
  %z = transformer.weight @f.zeros : tensor<6x3xi8>
  %y = transformer.linear %x, %w scales %s zeros %z : tensor<?x96xbf16>, tensor<6x96xi4>, tensor<6x3xf32>, tensor<6x3xi8>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: @odd_width
func.func @odd_width(%x: tensor<?x12xbf16>) -> tensor<?x6xf32> {
  // CHECK-NOT: transformer.product
  // CHECK: arith.sitofp %{{.*}} : i8 to f32
  // CHECK: arith.mulf
  // CHECK: arith.mulf
  %w = transformer.weight @odd : tensor<6x12xi8>
  %s = transformer.weight @odd.scales : tensor<6xf32>
  %y = transformer.linear %x, %w scales %s : tensor<?x12xbf16>, tensor<6x12xi8>, tensor<6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: @wide_rows
func.func @wide_rows(%x: tensor<?x32xf32>) -> tensor<?x6xf32> {
  // CHECK-NOT: transformer.product
  // CHECK: arith.andi
  // CHECK: arith.sitofp %{{.*}} : i32 to f32
  // CHECK: math.fma
  %w = transformer.weight @wide : tensor<6x32xi4>
  %s = transformer.weight @wide.scales : tensor<6x1xf32>
  %y = transformer.linear %x, %w scales %s : tensor<?x32xf32>, tensor<6x32xi4>, tensor<6x1xf32>
  return %y : tensor<?x6xf32>
}
