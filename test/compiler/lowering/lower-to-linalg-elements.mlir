// Rows are read and written in the elements of their types; no conversion is a
// loop of its own, and the place of what is read last is taken where it has them.
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
  %s = transformer.add %x, %y : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  return %s : tensor<?x8xbf16>
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
  %y = transformer.linear %x, %w bias %b residual %r
    : tensor<?x8xbf16>, tensor<4x8xbf16>, tensor<4xf32>, tensor<?x4xbf16> -> tensor<?x4xbf16>
  return %y : tensor<?x4xbf16>
}

// The sum of a norm is f32; its result may not overwrite rows of another type.
// CHECK-LABEL: @norm
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%{{.*}} : tensor<?x8xf32>) outs(%{{.*}} : tensor<?xf32>)
// CHECK: %[[NEW:.*]] = tensor.empty({{.*}}) : tensor<?x8xf16>
// CHECK: linalg.generic {{.*}} outs(%[[NEW]] : tensor<?x8xf16>)
func.func @norm(%x: tensor<?x8xf32>, %w: tensor<8xf32>) -> tensor<?x8xf16> {
  %y = transformer.rms_norm %x, %w {eps = 1.0 : f64} : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf16>
  return %y : tensor<?x8xf16>
}

// Rows in other elements are a map.
// CHECK-LABEL: @widened
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x8xbf16>) outs(%{{.*}} : tensor<?x8xf32>)
// CHECK: arith.extf
func.func @widened(%x: tensor<?x8xbf16>) -> tensor<?x8xf32> {
  %y = transformer.activation identity %x : tensor<?x8xbf16>
  return %y : tensor<?x8xf32>
}

// Columns are a view for those that read rows with gaps, unless their elements
// change on the way.
// CHECK-LABEL: @columns
// CHECK: %[[K:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x4xf32>)
// CHECK-NOT: linalg.generic
// CHECK: %[[V:.*]] = tensor.extract_slice %{{.*}}[0, 4] [%{{.*}}, 4] [1, 1] : tensor<?x8xbf16> to tensor<?x4xbf16>
// CHECK: transformer.cache_write %[[K]], %[[V]]
func.func @columns(%x: tensor<?x8xbf16>, %batch: !transformer.batch, %layer: index,
                   %cache: !transformer.cache<cross, layers = 1, kv_heads = 1, head_dim = 4>) {
  %k = transformer.slice_columns %x[0, 4] : tensor<?x8xbf16>
  %v = transformer.slice_columns %x[4, 4] : tensor<?x8xbf16> -> tensor<?x4xbf16>
  transformer.cache_write %k, %v into %cache[%layer], %batch
    : tensor<?x4xf32>, tensor<?x4xbf16>, !transformer.cache<cross, layers = 1, kv_heads = 1, head_dim = 4>
  return
}

// A loop's place is taken by what has its type alone: the product is rounded
// behind it.
// CHECK-LABEL: @carried
// CHECK: scf.for {{.*}} iter_args(%[[H:.*]] =
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x8xf32>) outs(%{{.*}} : tensor<?x8xbf16>)
func.func @carried(%x: tensor<?x8xbf16>, %w: tensor<8x8xbf16>, %n: index) -> tensor<?x8xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> (tensor<?x8xbf16>) {
    %p = transformer.linear %h, %w act relu : tensor<?x8xbf16>, tensor<8x8xbf16>
    %z = transformer.activation identity %p : tensor<?x8xf32> -> tensor<?x8xbf16>
    scf.yield %z : tensor<?x8xbf16>
  }
  return %y : tensor<?x8xbf16>
}
