// What is rounded where it is computed is written so, and read so: no loop of its
// own, and the place of what is read last.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @add
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xbf16>, %[[Y:[a-z0-9]*]]: tensor<?x8xbf16>
// CHECK: linalg.generic {{.*}} ins(%[[Y]] : tensor<?x8xbf16>) outs(%[[X]] : tensor<?x8xbf16>)
// CHECK: %[[A:.*]] = arith.extf {{.*}} : bf16 to f32
// CHECK: %[[B:.*]] = arith.extf {{.*}} : bf16 to f32
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK: %[[R:.*]] = arith.truncf %[[S]] : f32 to bf16
// CHECK: linalg.yield %[[R]]
// CHECK-NOT: linalg.generic
func.func @add(%x: tensor<?x8xbf16>, %y: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %wx = arith.extf %x : tensor<?x8xbf16> to tensor<?x8xf32>
  %wy = arith.extf %y : tensor<?x8xbf16> to tensor<?x8xf32>
  %s = transformer.add %wx, %wy : tensor<?x8xf32>, tensor<?x8xf32>
  %k = arith.truncf %s : tensor<?x8xf32> to tensor<?x8xbf16>
  return %k : tensor<?x8xbf16>
}

// The sums of a product are f32, and bias and residual are added before the one
// rounding.
// CHECK-LABEL: @linear
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%{{.*}}, %{{.*}} : tensor<?x8xbf16>, tensor<4x8xbf16>) outs(%{{.*}} : tensor<?x4xf32>)
// CHECK: linalg.generic
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.addf {{.*}} : f32
// CHECK-NEXT: arith.truncf {{.*}} : f32 to bf16
// CHECK-NOT: linalg.generic
func.func @linear(%x: tensor<?x8xbf16>, %w: tensor<4x8xbf16>, %b: tensor<4xf32>, %r: tensor<?x4xbf16>) -> tensor<?x4xbf16> {
  %wx = arith.extf %x : tensor<?x8xbf16> to tensor<?x8xf32>
  %wr = arith.extf %r : tensor<?x4xbf16> to tensor<?x4xf32>
  %y = transformer.linear %wx, %w bias %b residual %wr
    : tensor<?x8xf32>, tensor<4x8xbf16>, tensor<4xf32>, tensor<?x4xf32>
  %k = arith.truncf %y : tensor<?x4xf32> to tensor<?x4xbf16>
  return %k : tensor<?x4xbf16>
}

// The sum of a norm is f32; its result may not overwrite rows of another type.
// CHECK-LABEL: @norm
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%{{.*}} : tensor<?x8xf32>) outs(%{{.*}} : tensor<?xf32>)
// CHECK: %[[NEW:.*]] = tensor.empty({{.*}}) : tensor<?x8xf16>
// CHECK: linalg.generic {{.*}} outs(%[[NEW]] : tensor<?x8xf16>)
func.func @norm(%x: tensor<?x8xf32>, %w: tensor<8xf32>) -> tensor<?x8xf16> {
  %y = transformer.rms_norm %x, %w {eps = 1.0 : f64} : tensor<?x8xf32>, tensor<8xf32>
  %k = arith.truncf %y : tensor<?x8xf32> to tensor<?x8xf16>
  return %k : tensor<?x8xf16>
}

// An output of rows that are kept in 16 bits is widened.
// CHECK-LABEL: @widened
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x8xbf16>) outs(%{{.*}} : tensor<?x8xf32>)
// CHECK: arith.extf
func.func @widened(%x: tensor<?x8xbf16>) -> tensor<?x8xf32> {
  %wx = arith.extf %x : tensor<?x8xbf16> to tensor<?x8xf32>
  return %wx : tensor<?x8xf32>
}
