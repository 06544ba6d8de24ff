// Activations and residuals join the product before them, if it is theirs alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-fuse-epilogues | FileCheck %s
// RUN: tfc-opt %s --tfc-fuse-epilogues --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOCATION

// CHECK-LABEL: @residual_joins_the_product
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>, %[[W:[a-z0-9]*]]: tensor<8x8xf32>, %[[B:[a-z0-9]*]]: tensor<8xf32>
func.func @residual_joins_the_product(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>,
                                      %b: tensor<8xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[Y:.*]] = transformer.linear %[[X]], %[[W]] bias %[[B]] residual %[[X]]
  // CHECK-NEXT: return %[[Y]]
  %p = transformer.linear %x, %w bias %b
         : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8xf32>
  %y = transformer.add %x, %p : tensor<?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @activation_comes_before_the_residual
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
func.func @activation_comes_before_the_residual(
    %x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[Y:.*]] = transformer.linear %[[X]], %{{.*}} residual %[[X]] act tanh
  // CHECK-NEXT: return %[[Y]]
  %p = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %a = transformer.activation tanh %p : tensor<?x8xf32>
  %y = transformer.add %a, %x : tensor<?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// What is multiplied is activated before, and added to afterwards.
// CHECK-LABEL: @leaves_an_activation_after_a_factor
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
func.func @leaves_an_activation_after_a_factor(
    %x: tensor<?x8xf32>, %w: tensor<8x8xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: transformer.linear %[[X]], %{{.*}} factor %[[X]] :
  // CHECK: transformer.activation relu
  %p = transformer.linear %x, %w factor %x
         : tensor<?x8xf32>, tensor<8x8xf32>, tensor<?x8xf32>
  %y = transformer.activation relu %p : tensor<?x8xf32>
  // CHECK: transformer.linear %[[X]], %{{.*}} factor %[[X]] residual %[[X]]
  %q = transformer.linear %x, %w factor %x
         : tensor<?x8xf32>, tensor<8x8xf32>, tensor<?x8xf32>
  %z = transformer.add %x, %q : tensor<?x8xf32>, tensor<?x8xf32>
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: @leaves_an_activation_after_a_residual
func.func @leaves_an_activation_after_a_residual(
    %x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  // CHECK: transformer.linear {{.*}} residual
  // CHECK-NOT: act
  // CHECK: transformer.activation relu
  %p = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %s = transformer.add %x, %p : tensor<?x8xf32>, tensor<?x8xf32>
  %y = transformer.activation relu %s : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @leaves_a_product_with_another_user
func.func @leaves_a_product_with_another_user(
    %x: tensor<?x8xf32>, %w: tensor<8x8xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: transformer.linear
  // CHECK: transformer.add
  %p = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %y = transformer.add %x, %p : tensor<?x8xf32>, tensor<?x8xf32>
  return %y, %p : tensor<?x8xf32>, tensor<?x8xf32>
}

// The product is where all of its parts came from.
// LOCATION-LABEL: @keeps_the_locations
func.func @keeps_the_locations(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>)
    -> tensor<?x8xf32> {
  // LOCATION: transformer.linear {{.*}} loc(fused["attn.o", "act", "attn"])
  %p = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
         loc("attn.o")
  %a = transformer.activation tanh %p : tensor<?x8xf32> loc("act")
  %y = transformer.add %a, %x : tensor<?x8xf32>, tensor<?x8xf32> loc("attn")
  return %y : tensor<?x8xf32>
}

// What is added to rows of 16 bits is added after they were rounded; what joins
// says what the product is rounded to.
// CHECK-LABEL: @leaves_a_rounded_product
func.func @leaves_a_rounded_product(%x: tensor<?x8xbf16>, %w: tensor<8x8xf32>)
    -> (tensor<?x8xbf16>, tensor<?x8xbf16>) {
  // CHECK: transformer.linear {{.*}} -> tensor<?x8xbf16>
  // CHECK: transformer.activation tanh {{.*}} -> tensor<?x8xbf16>
  // CHECK: transformer.linear {{.*}} -> tensor<?x8xbf16>
  // CHECK: transformer.add {{.*}} -> tensor<?x8xbf16>
  %p = transformer.linear %x, %w : tensor<?x8xbf16>, tensor<8x8xf32> -> tensor<?x8xbf16>
  %y = transformer.activation tanh %p : tensor<?x8xbf16> -> tensor<?x8xbf16>
  %q = transformer.linear %y, %w : tensor<?x8xbf16>, tensor<8x8xf32> -> tensor<?x8xbf16>
  %z = transformer.add %x, %q : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  return %y, %z : tensor<?x8xbf16>, tensor<?x8xbf16>
}

// CHECK-LABEL: @rounds_what_joins
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xbf16>
func.func @rounds_what_joins(%x: tensor<?x8xbf16>, %w: tensor<8x8xf32>)
    -> tensor<?x8xbf16> {
  // CHECK: %[[Y:.*]] = transformer.linear %[[X]], %{{.*}} residual %[[X]] act tanh : tensor<?x8xbf16>, tensor<8x8xf32>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  // CHECK-NEXT: return %[[Y]]
  %p = transformer.linear %x, %w : tensor<?x8xbf16>, tensor<8x8xf32>
  %a = transformer.activation tanh %p : tensor<?x8xf32>
  %y = transformer.add %a, %x : tensor<?x8xf32>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}
